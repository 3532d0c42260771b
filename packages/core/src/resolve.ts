/**
 * The one way from a request to a spec: every launch goes through here, whoever asks for it.
 * Pure: what the machine looks like comes in as facts. Throws `AgentError` for what cannot be run as it was asked.
 */
import { AgentError } from "./error.ts";
import type { RunnerName } from "./event.ts";
import { type ModelFact, matchModel, modelName } from "./models.ts";
import type { Limits, ResolvedField, RunSpec, SpecOrigin, ThinkingLevel } from "./runner.ts";
import { resolveTools, type ToolFact, type ToolRules } from "./tools.ts";

/** What the caller asked for. */
export interface LaunchRequest extends Tunable {
	task: string;
	/** A few words for the tree; made from the task when absent. */
	description?: string | undefined;
}

/** What the call, the settings and the preset can each say. */
export interface Tunable extends Partial<Nullish<Limits>> {
	model?: string | undefined;
	thinking?: ThinkingLevel | undefined;
	runner?: RunnerName | undefined;
}

/** What a preset contributes. A `Preset` of `@pi-subagents/presets` is one. */
export interface PresetFields extends Tunable, ToolRules {
	name: string;
	prompt: string;
	promptMode: "append" | "replace";
	enabled: boolean;
	path: string;
	source: { kind: string; flavour: string; inProject: boolean };
	/** Fields that a call must not change. */
	locked?: readonly string[] | undefined;
}

/** What the user's settings say. */
export interface Defaults extends Tunable {
	/** `agentOverrides.<name>` of the preset in question. */
	override?: Tunable & ToolRules & Partial<Pick<PresetFields, "enabled" | "promptMode">>;
	/** What to do about a model outside the user's enabled ones. Absent: nothing. */
	scope?: "warn" | "deny";
}

/** What the launching session uses itself. */
export interface ParentFields {
	model?: { provider: string; id: string } | undefined;
	thinking?: ThinkingLevel | undefined;
}

/** What is true of the machine now. */
export interface Facts {
	/** Available ones, in the user's order. */
	models: readonly ModelFact[];
	tools: readonly ToolFact[];
	cwd: CwdFact;
	/** The user's stored yes to this project. Without it, files of the project may not say how things are executed. */
	isProjectTrusted: boolean;
}

/** The working directory as it was found on disk. */
export interface CwdFact {
	/** Absolute, with links and dots resolved. */
	path: string;
	kind: "directory" | "other" | "missing";
	/** Whether the caller named it. */
	isAsked: boolean;
}

export interface ResolveInput {
	request: LaunchRequest;
	preset: PresetFields;
	defaults: Defaults;
	parent: ParentFields;
	facts: Facts;
}

type Nullish<T> = { [K in keyof T]: T[K] | undefined };

const LIMITS = ["maxTurns", "timeoutMs", "toolTimeoutMs", "idleTimeoutMs", "budgetTokens", "budgetCost"] as const;

export function resolveSpec(given: ResolveInput): RunSpec {
	const input = { ...given, preset: { ...given.preset, ...given.defaults.override } };
	const { request, preset, defaults, facts } = input;
	const task = request.task.trim();
	if (task === "") throw new AgentError("no_task", "The task is empty. Say what the agent should do.");
	if (!preset.enabled) {
		throw new AgentError(
			"disabled_preset",
			`Preset "${preset.name}" is switched off (\`enabled: false\` in ${preset.path}).`,
		);
	}
	const layers = layersOf(input);
	const model = resolveModel(input, layers);
	const thinking = layers.pick("thinking", model.thinking);
	const runner = layers.pick("runner") ?? "session";
	const tools = resolveTools({ ...preset, preset: preset.name, isFromProject: preset.source.inProject }, facts.tools);
	const override = defaults.override ?? {};
	layers.note("tools", override.tools ? "settings" : preset.tools ? "preset" : "default");
	layers.note("promptMode", override.promptMode ? "settings" : "preset");
	return {
		type: preset.name,
		description: request.description?.trim() || firstWords(task),
		task,
		cwd: resolveCwd(facts.cwd, layers),
		runner,
		model: model.name,
		...(thinking === undefined ? {} : { thinking }),
		tools,
		...(preset.prompt.trim() === "" ? {} : { systemPrompt: { mode: preset.promptMode, text: preset.prompt } }),
		limits: resolveLimits(layers),
		origins: layers.origins,
		warnings: layers.warnings,
	};
}

/** Picks each field from the first who says something about it, and remembers who that was. */
function layersOf({ request, preset, defaults, parent, facts }: ResolveInput) {
	const origins: Partial<Record<ResolvedField, SpecOrigin>> = {};
	const warnings: string[] = [];
	const locked = new Set(preset.locked);
	const { runner, ...withoutRunner } = preset;
	const needsTrust = preset.source.inProject && !facts.isProjectTrusted;
	if (needsTrust && runner !== undefined && runner !== defaults.override?.runner) {
		warnings.push(`Preset "${preset.name}" names a runner; that counts only in a project you have trusted.`);
	}
	const layers: [SpecOrigin, Tunable][] = [
		["settings", defaults.override ?? {}],
		["preset", needsTrust ? withoutRunner : preset],
		["default", defaults],
		["parent", { thinking: parent.thinking }],
	];
	const note = (field: ResolvedField, origin: SpecOrigin) => {
		origins[field] = origin;
	};
	/** `fromModel` is what a model name like `provider/id:high` adds: as strong as the name it came with. */
	const pick = <K extends keyof Tunable & ResolvedField>(field: K, fromModel?: Tunable[K]): Tunable[K] | undefined => {
		const called = request[field];
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
	return { pick, note, origins, warnings };
}

type Layers = ReturnType<typeof layersOf>;

function resolveModel({ preset, defaults, parent, facts }: ResolveInput, layers: Layers) {
	const wanted = layers.pick("model")?.trim();
	if (!wanted) return inheritModel(preset, parent, facts, layers);
	const { model, thinking } = matchModel(wanted, facts.models, parent.model?.provider);
	const name = modelName(model);
	if (defaults.scope && model.inScope === false) {
		const inScope = facts.models.filter((fact) => fact.inScope).map(modelName);
		const message = `Model ${name} is not among your enabled models (${inScope.join(", ") || "none is available"}).`;
		// What a caller asks for it can ask for differently; what a file pins must not make the file useless.
		if (defaults.scope === "deny" && layers.origins.model === "call")
			throw new AgentError("model_out_of_scope", message);
		layers.warnings.push(message);
	}
	return { name, thinking };
}

/** Files in the `subagents` directories promise that a model is named, so the parent's is never silently used there. */
function inheritModel(preset: PresetFields, parent: ParentFields, facts: Facts, layers: Layers) {
	const { kind, flavour } = preset.source;
	const mustBeNamed = flavour === "subagents" && (kind === "global" || kind === "project");
	if (parent.model && !mustBeNamed) {
		layers.note("model", "parent");
		return { name: modelName(parent.model), thinking: undefined };
	}
	const names = facts.models.slice(0, 12).map(modelName).join(", ");
	throw new AgentError(
		"no_model",
		`No model: the call gives none and preset "${preset.name}" has no default. Pass \`model\`, or add one to ${preset.path}. Available: ${names || "none"}.`,
	);
}

function resolveCwd(cwd: CwdFact, layers: Layers): string {
	layers.note("cwd", cwd.isAsked ? "call" : "parent");
	if (cwd.kind === "directory") return cwd.path;
	const trouble = cwd.kind === "missing" ? "does not exist" : "is not a directory";
	throw new AgentError("bad_cwd", `The working directory ${cwd.path} ${trouble}.`);
}

/** In files and calls 0 says "no limit", so that a layer can lift what a weaker one sets. */
function resolveLimits(layers: Layers): Limits {
	const limits: Limits = {};
	for (const name of LIMITS) {
		const value = layers.pick(name);
		if (value !== undefined && value > 0) limits[name] = value;
	}
	return limits;
}

function firstWords(task: string): string {
	const words = task.split(/\s+/);
	const start = words.slice(0, 8).join(" ").slice(0, 60);
	return start.length < words.join(" ").length ? `${start}…` : start;
}
