/**
 * Turns a request into a spec: every launch goes through here. Pure: the machine's state comes in as facts. Throws
 * `AgentError` for what cannot run as requested.
 */
import { AgentError, quoted } from "../base/error.ts";
import { defined } from "../base/values.ts";
import { LAUNCH_TOOLS } from "../model/own-tools.ts";
import { ASK_TOOL } from "../model/question-text.ts";
import type { RunSpec } from "../model/runner.ts";
import type { Limits, WorktreeSetup } from "../model/schema/spec.ts";
import type { PresetFields, ResolveInput } from "./input.ts";
import { resolveFallbacks, resolveModel } from "./launch-model.ts";
import { type Layers, layersOf, withoutUntrusted } from "./layers.ts";
import { resolveMcp } from "./mcp.ts";
import { resolveCwd, resolveLauncher, resolveMachine, resolveRetry, resolveRunner } from "./place.ts";
import { isLoaded, resolveTools } from "./tools.ts";

/** Shown in lists and messages, where a few words are expected. */
const MAX_DESCRIPTION = 200;

const LIMITS = [
	"maxTurns",
	"graceTurns",
	"timeoutMs",
	"toolTimeoutMs",
	"idleTimeoutMs",
	"budgetTokens",
	"budgetCost",
	"wrapUpPercent",
	"stalledAfterMs",
] as const;

export function resolveSpec(given: ResolveInput): RunSpec {
	const { allowed, warnings, isUnverified } = withoutUntrusted(given);
	const input = { ...given, preset: { ...allowed, ...given.defaults.override } };
	const { request, preset, defaults, facts } = input;
	const task = request.task.trim();
	if (task === "") throw new AgentError("no_task", "The task is empty. Say what the agent should do.");
	if (!preset.enabled) {
		throw new AgentError(
			"disabled_preset",
			`Preset "${preset.name}" is switched off (\`enabled: false\` in ${defaults.override?.enabled === false ? "your settings" : preset.path}).`,
		);
	}
	const layers = layersOf(input, warnings);
	const model = resolveModel(input, layers);
	const thinking = layers.pick("thinking", model.thinking);
	const chosen = layers.pick("runner") ?? "session";
	const machine = resolveMachine(layers.pick("machine"), chosen, facts.machines ?? []);
	const retry = resolveRetry(machine, layers);
	const launcher = resolveLauncher(given, machine, layers);
	const execution = executionOf(preset);
	const { loaded = [], notLoaded = [] } = Object.groupBy(facts.tools, (tool) =>
		isLoaded(tool, execution) ? "loaded" : "notLoaded",
	);
	const { name, source } = preset;
	const isFromProject = source.inProject;
	const mcp = resolveMcp(
		{
			...preset,
			preset: name,
			isFromProject,
			isUntrusted: isFromProject && !facts.isProjectTrusted,
			isImported: source.kind === "import",
			isIsolated: preset.isolated === true,
		},
		facts.mcp,
	);
	warnings.push(...mcp.warnings);
	const others = resolveTools({ ...preset, ...mcp.others, preset: name, isFromProject, notLoaded }, loaded);
	const tools = [...others, ...mcp.tools];
	if (tools.length === 0 && !isNoneMeant(preset))
		warnings.push(
			`Preset "${name}" has no tools left: it can only answer from its task. See \`tools\` in ${preset.path}.`,
		);
	const withheld = withheldBy(preset.disallowedTools);
	const cwd = resolveCwd(facts.cwd, layers);
	const equipment = equipmentOf(input, layers, model.name);
	const placed = machine !== undefined ? "remote" : launcher !== undefined ? "process" : chosen;
	const runner = resolveRunner(placed, { cwd, tools, ...equipment }, facts.replacedTools, layers);
	if (runner !== "session" && preset.subagents !== undefined && preset.subagents.length > 0)
		warnings.push(
			`Preset "${preset.name}" may launch agents, but not with \`runner: ${runner}\`: it does all the work itself.`,
		);
	const override = defaults.override ?? {};
	layers.note("tools", override.tools ? "settings" : preset.tools ? "preset" : "default");
	layers.note("promptMode", override.promptMode ? "settings" : "preset");
	return {
		type: preset.name,
		description: request.description?.trim().slice(0, MAX_DESCRIPTION) || firstWords(task),
		task,
		cwd,
		runner,
		...defined({ machine, retry, launcher }),
		model: model.name,
		presetSource: preset.path,
		...defined({ requestedModel: request.model, thinking }),
		tools,
		...(withheld.length > 0 && { withheld }),
		...(mcp.mcp && { mcp: mcp.mcp }),
		...(preset.prompt.trim() === "" ? {} : { systemPrompt: { mode: preset.promptMode, text: preset.prompt } }),
		...execution,
		...equipment,
		...verifyOf(input, layers, { isUnverified }),
		limits: resolveLimits(layers),
		origins: layers.origins,
		warnings: layers.warnings,
	};
}

/** Which of our own tools a preset denies. */
function withheldBy(denied: readonly string[] = []): string[] {
	return [ASK_TOOL.name, ...LAUNCH_TOOLS].filter((name) => denied.includes("*") || denied.includes(name));
}

/** `tools: none` in the user's own file; in an imported one, all its tools may simply be missing here. */
function isNoneMeant({ tools, source }: PresetFields): boolean {
	return tools !== undefined && tools.length === 0 && source.kind !== "import";
}

/** In files and calls 0 means "no limit", so that a layer can lift what a weaker one sets. */
function resolveLimits(layers: Layers): Limits {
	const limits: Limits = {};
	for (const name of LIMITS) {
		const value = layers.pick(name);
		// Zero grace turns is a limit; zero turns is none.
		if (value !== undefined && (value > 0 || name === "graceTurns")) limits[name] = value;
	}
	return limits;
}

function executionOf({ isolated, extensions, excludeExtensions, skills, subagents }: PresetFields) {
	if (isolated) return { extensions: false, skills: false, ...defined({ subagents }) };
	return defined({ extensions, excludeExtensions, skills, subagents });
}

/** One mismatch is often only a slip. */
const DEFAULT_REPAIRS = 1;

/** What the agent gets besides its task, and what is required of its answer. */
function equipmentOf(input: ResolveInput, { choose, warnings }: Layers, model: string) {
	const { request, preset } = input;
	const schema = choose("outputSchema", request.outputSchema, preset.outputSchema);
	const isolation = choose("isolation", request.isolation, preset.isolation);
	// A call that wants the user's files left alone must not get an agent that edits them.
	if (request.isolation === "worktree" && isolation !== "worktree")
		throw new AgentError(
			"bad_request",
			`The call asks for \`isolation: worktree\`, but preset "${preset.name}" locks \`isolation\`, which is ${isolation ?? "not set"} there. Leave it out of the call, or change ${preset.path}.`,
		);
	const inheritsContext = choose("inheritContext", request.inheritContext, preset.inheritContext);
	const fallbackModels = resolveFallbacks(input, { model, warnings });
	return {
		...(schema === undefined ? {} : { output: { schema, repairs: preset.outputRepairs ?? DEFAULT_REPAIRS } }),
		...(isolation === "worktree" ? { isolation: { kind: isolation, base: baseOf(preset), ...setupOf(input) } } : {}),
		...(inheritsContext ? { inheritsContext } : {}),
		...defined({ memory: preset.memory }),
		...(fallbackModels.length > 0 ? { fallbackModels } : {}),
	};
}

/** Test suites take minutes; without any limit, one that hangs would never end. */
const DEFAULT_VERIFY_MS = 600_000;

function verifyOf(
	{ request, preset }: ResolveInput,
	{ choose }: Layers,
	{ isUnverified }: { isUnverified: boolean },
): Pick<RunSpec, "verify"> {
	const verify = choose("verify", request.verify, preset.verify);
	if (!verify) return isUnverified ? { verify: { skipped: "project not trusted" } } : {};
	const { command, timeoutMs = DEFAULT_VERIFY_MS, output, schema } = verify;
	if (output === "json" && choose("outputSchema", request.outputSchema, preset.outputSchema) !== undefined)
		throw new AgentError(
			"bad_request",
			`\`verify\` with \`output: json\` cannot go with \`output_schema\`: either the command or the answer of preset "${preset.name}" is the structured result.`,
		);
	const limit = timeoutMs > 0 ? { timeoutMs } : {};
	return {
		verify: { command, ...limit, ...defined({ output, schema }), repairs: preset.verifyRepairs ?? DEFAULT_REPAIRS },
	};
}

/** Installing dependencies takes minutes. */
const DEFAULT_SETUP_MS = 600_000;

/** A preset's field replaces the one of the settings. Files of the project count only where the project is trusted. */
function setupOf({ preset, defaults, facts }: ResolveInput): { setup?: WorktreeSetup } {
	const {
		dir = "",
		link = [],
		include = [],
		setup,
		setupTimeoutMs = DEFAULT_SETUP_MS,
	} = { ...defaults.worktree, ...defined(preset.worktree ?? {}) };
	const made: WorktreeSetup = {
		...(dir === "" ? {} : { dir }),
		...(link.length > 0 ? { link } : {}),
		...(include.length > 0 ? { include } : {}),
		...(facts.isProjectTrusted ? { readsIncludeFile: true } : {}),
		...(setup === undefined ? {} : { setup, ...(setupTimeoutMs > 0 ? { setupTimeoutMs } : {}) }),
	};
	return Object.keys(made).length > 0 ? { setup: made } : {};
}

function baseOf({ name, path, isolationBase = "head" }: PresetFields): "head" | "dirty" {
	const base = isolationBase.toLowerCase();
	if (base === "head" || base === "dirty") return base;
	throw new AgentError(
		"bad_request",
		`Preset "${name}" sets \`isolation_base: ${quoted(isolationBase)}\`; it is "head" (the last commit) or "dirty" (the working tree). Change it in ${path}.`,
	);
}

/** Fills a wide screen; who shows it cuts it to the width there is. */
const MAX_FIRST_WORDS = 120;

function firstWords(task: string): string {
	const line = task.split(/\s+/).join(" ");
	if (line.length <= MAX_FIRST_WORDS) return line;
	const start = line.slice(0, MAX_FIRST_WORDS);
	const space = start.lastIndexOf(" ");
	return `${(space > MAX_FIRST_WORDS / 2 ? start.slice(0, space) : start).trimEnd()}…`;
}
