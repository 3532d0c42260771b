/** What a preset would become if it were started now: every value, who decided it, and what it costs to begin. Pure. */
import type { Limits, ResolvedField, RunSpec, SpecOrigin } from "@pi-subagents/core";
import type { SessionPreview } from "@pi-subagents/core/session";
import type { Preset } from "@pi-subagents/presets";
import { formatCost, formatDuration, formatTokens, sanitize, sanitizeBlock } from "@pi-subagents/progress";

/** English text and JSON run at about this many characters a token. */
const CHARACTERS_PER_TOKEN = 4;

/** The long prompt first, so that the figures are what stays on the screen. */
export function explain(preset: Preset, spec: RunSpec, { systemPrompt, toolCharacters }: SessionPreview): string {
	const values = valuesOf(spec);
	const width = Math.max(...values.map(([field]) => spelled(field).length));
	const rows = values.map(([field, value]) => {
		return `  ${spelled(field).padEnd(width)}  ${sanitize(value)}  (${originOf(field, spec, preset)})`;
	});
	return [
		"System prompt:",
		sanitizeBlock(systemPrompt),
		"",
		`Preset ${preset.name}: ${preset.description}`,
		`  ${"source".padEnd(width)}  ${preset.source.kind}${preset.source.kind === "builtin" ? "" : `, ${sanitize(preset.path)}`}`,
		...rows,
		...spec.warnings.map((warning) => `  ! ${sanitize(warning)}`),
		`It begins with ${tokens(systemPrompt.length + toolCharacters)}: ${tokens(systemPrompt.length)} of prompt and ${tokens(toolCharacters)} of tools.`,
	].join("\n");
}

/** As preset files spell it. */
function spelled(field: ResolvedField): string {
	return field.replace(/Ms$/, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function tokens(characters: number): string {
	return `about ${formatTokens(Math.round(characters / CHARACTERS_PER_TOKEN))} tokens`;
}

function valuesOf(spec: RunSpec): [ResolvedField, string][] {
	return [
		["model", spec.model],
		...(spec.thinking === undefined ? [] : ([["thinking", spec.thinking]] as [ResolvedField, string][])),
		["tools", spec.tools.join(", ") || "none"],
		["promptMode", spec.systemPrompt?.mode ?? "nothing to add"],
		["runner", spec.runner],
		["cwd", spec.cwd],
		...limitsOf(spec.limits),
	];
}

function limitsOf(limits: Limits): [ResolvedField, string][] {
	return (Object.entries(limits) as [keyof Limits, number][]).map(([name, value]) => {
		if (name.endsWith("Ms")) return [name, formatDuration(value)];
		return [name, name === "budgetCost" ? formatCost(value) : formatTokens(value)];
	});
}

function originOf(field: ResolvedField, { origins }: RunSpec, preset: Preset): string {
	const origin: SpecOrigin = origins[field] ?? "default";
	if (origin !== "preset") return ORIGINS[origin];
	const written = (preset.origins as Record<string, Preset["origins"]["name"]>)[field];
	if (preset.source.kind === "builtin") return "the built-in";
	return typeof written === "object" ? `line ${written.line} of the file` : "default of such files";
}

const ORIGINS: Record<Exclude<SpecOrigin, "preset">, string> = {
	call: "the call",
	settings: "agentOverrides in your settings",
	parent: "this session",
	default: "default",
};
