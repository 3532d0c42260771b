/** Finds and parses markdown presets of sub-agents. No pi import: any tool may use it. */
export { type Catalogue, createCatalogue, type DiscoverOptions, discoverPresets } from "./catalogue.ts";
export type { Field } from "./field.ts";
export { fields } from "./fields.ts";
export { fieldsMarkdown } from "./fields-doc.ts";
export { type LintOptions, lint } from "./lint.ts";
export { knownTools, lintPreset } from "./lint-preset.ts";
export { findPresetRoot } from "./locate.ts";
export { findPreset } from "./merge.ts";
export { type Override, parseOverride } from "./override.ts";
export { parsePreset } from "./parse.ts";
export type {
	Draft,
	FieldKey,
	Flavour,
	ImportNote,
	KnownFile,
	Origin,
	ParseResult,
	Preset,
	PresetFields,
	PresetSource,
	Presets,
	Problem,
	Replaced,
	SourceKind,
	Thinking,
} from "./preset.ts";
export type { ParseContext } from "./reader.ts";
export {
	agentsDirs,
	allSources,
	builtins,
	claudeImport,
	directory,
	file,
	opencodeImport,
	packagePresets,
	type Source,
	subagentsDirs,
} from "./sources.ts";
export { findField } from "./spelling.ts";
export type { Kind } from "./values.ts";
