/** Finds and parses markdown presets of sub-agents. Does not import pi, so any tool can use it. */
export { type Catalogue, createCatalogue, type DiscoverOptions, discoverPresets } from "./catalogue/catalogue.ts";
export { findPresetRoot } from "./catalogue/locate.ts";
export { findPreset } from "./catalogue/merge.ts";
export {
	agentsDirs,
	allSources,
	builtins,
	claudeImport,
	directory,
	file,
	opencodeImport,
	packagePresets,
	registered,
	type Source,
	subagentsDirs,
} from "./catalogue/sources.ts";
export { type Field, fields, fieldsMarkdown, type Joining } from "./fields/fields.ts";
export { findField } from "./fields/spelling.ts";
export type { Kind } from "./fields/values.ts";
export { type LintOptions, lint } from "./lint/lint.ts";
export { knownTools, lintPreset } from "./lint/lint-preset.ts";
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
	Verify,
	WorktreeFields,
} from "./model/preset.ts";
export type { ParseOptions } from "./parse/context.ts";
export { type JoinedOverride, joinOverrides, type OverrideSource } from "./parse/join-overrides.ts";
export { type Override, type OverrideFault, parseOverride } from "./parse/override.ts";
export { parseDefinition, parsePreset } from "./parse/parse.ts";
export type { ParseContext } from "./parse/reader.ts";
