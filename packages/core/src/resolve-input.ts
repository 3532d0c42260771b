/** What the resolver takes: what the caller, the settings, the preset and the parent say, and what is true of the machine. Types only. */
import type { RunnerName } from "./event.ts";
import type { ModelFact } from "./models.ts";
import type { Limits, MemoryScope, OutputSpec, RunSpec, ThinkingLevel } from "./runner.ts";
import type { ToolFact, ToolRules } from "./tools.ts";

/** What the caller asked for. */
export interface LaunchRequest extends Tunable {
	task: string;
	/** A few words for the tree; made from the task when absent. */
	description?: string | undefined;
	/** A JSON Schema that was checked to be one. */
	outputSchema?: OutputSpec["schema"] | undefined;
	isolation?: "worktree" | "off" | undefined;
	inheritContext?: boolean | undefined;
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
	extensions?: RunSpec["extensions"] | undefined;
	excludeExtensions?: RunSpec["excludeExtensions"] | undefined;
	skills?: RunSpec["skills"] | undefined;
	subagents?: RunSpec["subagents"] | undefined;
	/** Without any extension or skill. */
	isolated?: boolean | undefined;
	isolation?: "worktree" | "off" | undefined;
	isolationBase?: string | undefined;
	memory?: MemoryScope | undefined;
	inheritContext?: boolean | undefined;
	outputSchema?: OutputSpec["schema"] | undefined;
	outputRepairs?: number | undefined;
	fallbackModels?: readonly string[] | undefined;
}

/** What the user's settings say. */
export interface Defaults extends Tunable {
	/** `agentOverrides.<name>` of the preset in question. */
	override?: Tunable &
		ToolRules &
		Partial<Pick<PresetFields, "enabled" | "promptMode" | "extensions" | "skills" | "subagents">>;
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
	/** `outside`: a relative path that leads out of the session's directory, by dots or by a link. */
	kind: "directory" | "other" | "missing" | "outside";
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
