/**
 * Turns a request into a spec: every launch goes through here. Pure: the machine's state comes in as facts. Throws
 * `AgentError` for what cannot run as requested.
 */
import { AgentError, quoted, quotedPath } from "../base/error.ts";
import { defined } from "../base/values.ts";
import type { Limits, ResolvedField, RunSpec, SpecOrigin, WorktreeSetup } from "../model/runner.ts";
import type { CwdFact, Defaults, Facts, PresetFields, ResolveInput, Tunable } from "./input.ts";
import { resolveMcp } from "./mcp.ts";
import { type ModelFact, matchModel, modelName } from "./models.ts";
import { matchPresetModel } from "./preset-model.ts";
import { isLoaded, resolveTools } from "./tools.ts";

/** Fields that decide what is executed: in a project's file they count only if the user trusts the project. */
const NEEDS_TRUST = ["runner", "machine", "extensions", "skills", "memory", "verify", "worktree"] as const;

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
	const runner = machine !== undefined ? "remote" : launcher !== undefined ? "process" : chosen;
	if (runner !== "session" && preset.subagents !== undefined && preset.subagents.length > 0)
		warnings.push(
			`Preset "${preset.name}" may launch agents, but not with \`runner: ${runner}\`: it does all the work itself.`,
		);
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
	const override = defaults.override ?? {};
	layers.note("tools", override.tools ? "settings" : preset.tools ? "preset" : "default");
	layers.note("promptMode", override.promptMode ? "settings" : "preset");
	return {
		type: preset.name,
		description: request.description?.trim().slice(0, MAX_DESCRIPTION) || firstWords(task),
		task,
		cwd: resolveCwd(facts.cwd, layers),
		runner,
		...defined({ machine, retry, launcher }),
		model: model.name,
		presetSource: preset.path,
		...defined({ requestedModel: request.model, thinking }),
		tools,
		...(mcp.mcp && { mcp: mcp.mcp }),
		...(preset.prompt.trim() === "" ? {} : { systemPrompt: { mode: preset.promptMode, text: preset.prompt } }),
		...execution,
		...equipmentOf(input, layers, model.name),
		...verifyOf(input, layers, { isUnverified }),
		limits: resolveLimits(layers),
		origins: layers.origins,
		warnings: layers.warnings,
	};
}

/** A worker on this machine, over a pipe: it needs no definition. */
const LOCAL = "local";

/** Undefined: it runs on this machine, without a worker. */
function resolveMachine(
	wanted: string | undefined,
	runner: RunSpec["runner"],
	known: readonly string[],
): string | undefined {
	const name = wanted?.trim() || (runner === "remote" ? LOCAL : "here");
	if (name === "here") return undefined;
	if (name === LOCAL || known.includes(name)) return name;
	const others = ["here", LOCAL, ...known].map(quoted).join(", ");
	throw new AgentError(
		"bad_request",
		`There is no machine ${quoted(name)}. There is ${others}. Machines are defined in your own settings (\`machines\`).`,
	);
}

/** Agents of other machines work in a checkout of their own, so what a lost one did counts for nothing. */
function resolveRetry(machine: string | undefined, { pick, origins, warnings }: Layers): RunSpec["retry"] {
	if (pick("retry") !== "lost") return undefined;
	if (machine !== undefined) return "lost";
	if (origins.retry === "call")
		warnings.push("`retry: lost` is for agents on other machines; this one runs here, so it was not used.");
	return undefined;
}

/**
 * Undefined: it runs inside no other program. One that cannot be had as asked is an error: without it the agent could do
 * more than the preset's author allowed.
 */
function resolveLauncher(
	{ preset, defaults, facts }: ResolveInput,
	machine: string | undefined,
	{ note }: Layers,
): string | undefined {
	const own = defaults.override?.launcher;
	const name = own ?? preset.launcher;
	if (name === undefined) return undefined;
	const wants = `Preset "${preset.name}" runs inside the launcher ${quoted(name)}`;
	// Another launcher than the user had in mind may allow more, or carry credentials.
	if (own === undefined && preset.source.inProject && !facts.isProjectTrusted)
		throw new AgentError(
			"bad_request",
			`${wants}, and a preset of a project may choose one only if you trust the project. Trust it, or set \`launcher\` for the preset in your own settings (\`agentOverrides\`).`,
		);
	const known = facts.launchers ?? [];
	if (!known.includes(name))
		throw new AgentError(
			"bad_request",
			`${wants}, which your settings do not define. There is ${known.map(quoted).join(", ") || "none"}. Launchers are defined in your own settings (\`launchers\`).`,
		);
	if (machine !== undefined)
		throw new AgentError(
			"bad_request",
			`${wants}, which is for agents on this machine, and it is to run on ${quoted(machine)}. Leave one of them out.`,
		);
	note("launcher", own === undefined ? "preset" : "settings");
	return name;
}

/** `tools: none` in the user's own file; in an imported one, all its tools may simply be missing here. */
function isNoneMeant({ tools, source }: PresetFields): boolean {
	return tools !== undefined && tools.length === 0 && source.kind !== "import";
}

/** A stranger may have written a project's files: until the user trusts it, they do not decide what is executed. */
function withoutUntrusted({ preset, facts, defaults }: ResolveInput): {
	allowed: PresetFields;
	warnings: string[];
	/** Its `verify` does not count. */
	isUnverified: boolean;
} {
	if (!preset.source.inProject || facts.isProjectTrusted) return { allowed: preset, warnings: [], isUnverified: false };
	const override: Partial<PresetFields> = defaults.override ?? {};
	const isUntouched = (field: (typeof NEEDS_TRUST)[number]) => override[field] === undefined;
	/** `false` loads nothing and needs no trust. */
	const asks = (field: (typeof NEEDS_TRUST)[number]) => preset[field] !== undefined && preset[field] !== false;
	const asked = NEEDS_TRUST.filter((field) => asks(field) && isUntouched(field));
	const others = Object.entries(preset).filter(([field]) => !asked.some((each) => each === field));
	// Without its list it would have all skills: more than it names.
	const isNarrower = asked.includes("skills") && Array.isArray(preset.skills);
	const allowed = Object.fromEntries(isNarrower ? [...others, ["skills", false]] : others);
	const warning = `Preset "${preset.name}" sets ${asked.join(", ")}; that counts only in a project you have trusted.`;
	return {
		allowed: allowed as unknown as PresetFields,
		warnings: asked.length > 0 ? [warning] : [],
		isUnverified: asked.includes("verify"),
	};
}

/** Picks each field from the first layer that sets it, and remembers which. */
function layersOf({ request, preset, defaults, parent }: ResolveInput, warnings: string[]) {
	const origins: Partial<Record<ResolvedField, SpecOrigin>> = {};
	const locked = new Set(preset.locked);
	const layers: [SpecOrigin, Tunable][] = [
		["settings", defaults.override ?? {}],
		["preset", preset],
		["default", defaults],
		["parent", { thinking: parent.thinking }],
	];
	const note = (field: ResolvedField, origin: SpecOrigin) => {
		origins[field] = origin;
	};
	/** `fromModel` comes from a name like `provider/id:high`: as strong as that name. */
	const pick = <K extends keyof Tunable & ResolvedField>(field: K, fromModel?: Tunable[K]): Tunable[K] | undefined => {
		const called = isBlank(request[field]) ? undefined : request[field]; // models tend to fill in optional fields
		if (called !== undefined && locked.has(field)) {
			warnings.push(`Preset "${preset.name}" locks \`${field}\`, so the call's value was not used.`);
		} else if (called !== undefined) {
			note(field, "call");
			return called;
		}
		if (fromModel !== undefined) {
			note(field, origins.model ?? "default");
			return fromModel;
		}
		const layer = layers.find(([, values]) => values[field] !== undefined);
		if (layer) note(field, layer[0]);
		return layer?.[1][field];
	};
	/** For fields that only the call and the preset have. */
	const choose = <T>(field: string, called: T | undefined, set: T | undefined): T | undefined => {
		if (called === undefined || !locked.has(field)) return called ?? set;
		warnings.push(`Preset "${preset.name}" locks \`${field}\`, so the call's value was not used.`);
		return set;
	};
	return { pick, choose, note, origins, warnings };
}

type Layers = ReturnType<typeof layersOf>;

function isBlank(value: unknown): boolean {
	return typeof value === "string" && value.trim() === "";
}

function resolveModel(input: ResolveInput, layers: Layers) {
	const { defaults, parent, facts } = input;
	const wanted = layers.pick("model")?.trim();
	if (!wanted || wanted.toLowerCase() === "inherit") return inheritModel(input, layers, { isAsked: !!wanted });
	const isFromFile = layers.origins.model === "preset";
	const { match, warning } = isFromFile
		? matchPresetModel(wanted, input.preset, facts.models, parent)
		: { match: matchModel(wanted, facts.models, parent.model?.provider), warning: undefined };
	if (warning !== undefined) layers.warnings.push(warning);
	if (!match) return inheritModel(input, layers, { isAsked: true });
	const { model, thinking } = match;
	const name = modelName(model);
	const problem = outOfScope(model, defaults, facts);
	// A caller can ask for another model; what a file pins must not make the file useless.
	if (problem !== undefined && defaults.scope === "deny" && layers.origins.model === "call")
		throw new AgentError("model_out_of_scope", problem);
	if (problem !== undefined) layers.warnings.push(problem);
	return { name, thinking };
}

/** Undefined if the model is enabled, or that does not matter. */
function outOfScope(model: ModelFact, { scope }: Defaults, { models }: Facts): string | undefined {
	if (!scope || model.inScope !== false) return undefined;
	const enabled = models.filter(({ inScope }) => inScope).map(modelName);
	return `Model ${modelName(model)} is not among your enabled models (${enabled.join(", ") || "none is available"}).`;
}

/**
 * The parent's model, unless a model must be named: `subagent` and `background_agent` require that for files in the
 * two `subagents` directories. All other launches inherit.
 */
function inheritModel(
	{ request, preset, parent, facts }: ResolveInput,
	layers: Layers,
	{ isAsked }: { isAsked: boolean },
) {
	const { kind, flavour } = preset.source;
	const isOfSubagentsDir = flavour === "subagents" && (kind === "global" || kind === "project");
	const mustBeNamed = request.requiresModel === true && isOfSubagentsDir && !isAsked;
	if (parent.model && !mustBeNamed) {
		layers.note("model", "parent");
		return { name: modelName(parent.model), thinking: undefined };
	}
	const names = facts.models.slice(0, 12).map(modelName).join(", ");
	if (!mustBeNamed)
		throw new AgentError(
			"no_model",
			`No model: the session has none to inherit, and neither the call nor preset "${preset.name}" names one. Choose one with /model, or pass \`model\`. Available: ${names || "none"}.`,
		);
	throw new AgentError(
		"no_model",
		`No model: the call gives none and preset "${preset.name}" has no default. Pass \`model\`, or add one to ${preset.path} (\`inherit\` takes the session's). Available: ${names || "none"}.`,
	);
}

function resolveCwd({ path, kind, isAsked }: CwdFact, layers: Layers): string {
	layers.note("cwd", isAsked ? "call" : "parent");
	if (kind === "directory") return path;
	throw new AgentError("bad_cwd", `The working directory ${quotedPath(path)} ${BAD_CWD[kind]}.`);
}

const BAD_CWD = {
	missing: "does not exist",
	other: "is not a directory",
	outside: "lies outside this session's directory; give an absolute path if that is what you mean",
};

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
	} = {
		...defaults.worktree,
		...defined(preset.worktree ?? {}),
	};
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

/** An unavailable fallback is no reason to fail: another may exist, or the first model works. */
function resolveFallbacks(
	{ preset, defaults, parent, facts }: ResolveInput,
	{ model, warnings }: { model: string; warnings: string[] },
): string[] {
	const found = new Set<string>();
	for (const wanted of preset.fallbackModels ?? []) {
		try {
			const fallback = matchModel(wanted, facts.models, parent.model?.provider).model;
			const problem = outOfScope(fallback, defaults, facts);
			// It was not chosen explicitly and there are others: leave it out if only enabled models may be used.
			if (problem === undefined || defaults.scope !== "deny") found.add(modelName(fallback));
			if (problem !== undefined) warnings.push(`A fallback of preset "${preset.name}": ${problem}`);
		} catch (error) {
			if (!(error instanceof AgentError)) throw error;
			warnings.push(`Preset "${preset.name}" names a fallback model that cannot be used: ${error.message}`);
		}
	}
	found.delete(model);
	return [...found];
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
