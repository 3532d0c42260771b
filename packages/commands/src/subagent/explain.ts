/** `/subagent explain`: the resolved spec of a preset: every value, its origin, and the initial context size. */
import type { Limits, ResolvedField, RunSpec, SpecOrigin } from "@pi-subagents/core";
import type { Preset } from "@pi-subagents/presets";
import { formatCost, formatCount, formatDuration, formatTokens } from "@pi-subagents/progress";
import { type Guards, previewSession, type SessionPreview } from "@pi-subagents/runners/session";
import { type Block, fields } from "@pi-subagents/widget/dialogs";
import type { CommandDeps, Subcommand } from "../subcommand.ts";
import { presetCompletions } from "./completions.ts";

/** A rough average for English text and JSON. */
const CHARACTERS_PER_TOKEN = 4;

/** Longer schemas are clipped; the file has the rest. */
const MAX_SCHEMA = 300;

export function explainCommand({ host, launcher }: CommandDeps): Subcommand {
	return {
		name: "explain",
		args: "<preset> [model]",
		about: "show a preset's resolved values and where they come from",
		completions: () => presetCompletions(launcher.known()),
		async run(rest, ctx) {
			const [wanted = "", model] = rest.split(/\s+/);
			if (wanted === "") throw new Error("Which preset? /subagent explain <preset> [model]");
			const asked = { preset: wanted, task: "(the task)", model, isTrial: true };
			const { preset, spec } = await launcher.resolve(asked, ctx);
			return explain(preset, spec, await previewSession(host, spec), await guardText(host.guards, spec));
		},
	};
}

/** The long prompt comes first, so that the figures stay on the screen. */
export function explain(
	preset: Preset,
	spec: RunSpec,
	{ systemPrompt, toolCharacters }: SessionPreview,
	guards: string,
): Block[] {
	const { kind } = preset.source;
	const values = valuesOf(spec).map(
		([field, value]) => [spelled(field), `${value}  (${originOf(field, spec, preset)})`] as const,
	);
	const [all, prompt, tools] = [systemPrompt.length + toolCharacters, systemPrompt.length, toolCharacters].map(tokens);
	return [
		{ text: "System prompt:", tone: "muted" },
		{ text: systemPrompt },
		{ text: `Preset ${preset.name}: ${preset.description}`, tone: "strong" },
		fields([
			["source", kind === "builtin" ? kind : `${kind}, ${preset.path}`],
			...values,
			["guards", guards],
			...givenTo(spec),
		]),
		...spec.warnings.map((text): Block => ({ text, tone: "warn" })),
		{ text: `It starts with ${all}: ${prompt} of prompt and ${tools} of tools.` },
	];
}

/** Which of the user's extensions hold in the agent, whatever its preset says. */
async function guardText(guards: Guards | undefined, { machine }: RunSpec): Promise<string> {
	if (machine !== undefined && machine !== "local") return `those of ${machine}, as its pi says`;
	const report = await guards?.report();
	if (report?.isOff) return "off  (settings)";
	const held = report?.guards.map(({ names, path }) => `${names[0]} (${path})`) ?? [];
	const exempt = report?.exempt.map(({ names }) => names[0]) ?? [];
	const not = exempt.length === 0 ? "" : `; not ${exempt.join(", ")}  (settings)`;
	return (held.join(", ") || "none") + not;
}

/** The spelling used in preset files. */
function spelled(field: ShownField): string {
	return field.replace(/Ms$/, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function tokens(characters: number): string {
	return `about ${formatTokens(Math.round(characters / CHARACTERS_PER_TOKEN))} tokens`;
}

type ShownField = ResolvedField | "isolation";

function valuesOf(spec: RunSpec): [ShownField, string][] {
	return [
		["model", spec.model],
		...(spec.thinking === undefined ? [] : ([["thinking", spec.thinking]] as [ShownField, string][])),
		["tools", spec.tools.join(", ") || "none"],
		["promptMode", spec.systemPrompt?.mode ?? "nothing to add"],
		["runner", spec.runner],
		["isolation", isolationText(spec)],
		["launcher", spec.launcher ?? "none"],
		["machine", spec.machine ?? "this one"],
		["cwd", spec.cwd],
		...limitsOf(spec.limits),
	];
}

/** Whether it edits the user's files. */
function isolationText({ isolation, machine }: RunSpec): string {
	if (!isolation && machine !== undefined) return "its own checkout there, made from the working tree";
	if (!isolation) return "off: it edits the files in its cwd";
	return `worktree: its own checkout, made from the ${isolation.base === "dirty" ? "working tree" : "last commit"}`;
}

/** Optional fields. */
function givenTo({
	output,
	verify,
	fallbackModels = [],
	memory,
	memoryDir,
	inheritsContext,
}: RunSpec): [string, string][] {
	return [
		...(memory ? [["memory", `${memory}, ${memoryDir ?? "none yet"}`] as const] : []),
		...(inheritsContext ? [["inherit_context", "this conversation"] as const] : []),
		...(output ? [["output_schema", `${schemaText(output.schema)}, ${repairsText(output.repairs)}`] as const] : []),
		...(verify ? [["verify", verifyText(verify)] as const] : []),
		...(fallbackModels.length > 0 ? [["fallback_models", fallbackModels.join(", ")] as const] : []),
	].map(([label, text]) => [label, text]);
}

function schemaText(schema: object): string {
	const text = JSON.stringify(schema);
	return text.length > MAX_SCHEMA ? `${text.slice(0, MAX_SCHEMA - 1)}…` : text;
}

function verifyText(verify: NonNullable<RunSpec["verify"]>): string {
	if ("skipped" in verify) return `not run: ${verify.skipped}`;
	const { command, timeoutMs, output, repairs } = verify;
	const shown = typeof command === "string" ? command : JSON.stringify(command);
	const limit = timeoutMs === undefined ? "no time limit" : `at most ${formatDuration(timeoutMs)}`;
	return [shown, limit, ...(output ? ["prints JSON"] : []), repairsText(repairs)].join(", ");
}

function repairsText(repairs: number): string {
	return repairs === 0 ? "no repair attempts" : `up to ${formatCount(repairs, "repair attempt")}`;
}

function limitsOf(limits: Limits): [ResolvedField, string][] {
	return (Object.entries(limits) as [keyof Limits, number][]).map(([name, value]) => {
		if (name.endsWith("Ms")) return [name, formatDuration(value)];
		return [name, name === "budgetCost" ? formatCost(value) : formatTokens(value)];
	});
}

function originOf(field: ShownField, { origins }: RunSpec, preset: Preset): string {
	const origin: SpecOrigin = field === "isolation" ? isolationOrigin(preset) : (origins[field] ?? "default");
	if (origin !== "preset") return ORIGINS[origin];
	const written = (preset.origins as Record<string, Preset["origins"]["name"]>)[field];
	if (preset.source.kind === "builtin") return "the built-in";
	if (preset.source.kind === "runtime") return "the extension that registered it";
	return typeof written === "object" ? `line ${written.line} of the file` : "default for such files";
}

/** Only a call or the preset decides it, and there is no call. */
function isolationOrigin({ isolation }: Preset): SpecOrigin {
	return isolation === undefined ? "default" : "preset";
}

const ORIGINS: Record<Exclude<SpecOrigin, "preset">, string> = {
	call: "the call",
	settings: "agentOverrides in your settings",
	parent: "this session",
	default: "default",
};
