/** The resolver's input: what the caller, settings, preset and parent say, and facts about the machine. Types only. */
import type { RunnerName, ThinkingLevel } from "@pi-subagents/progress";
import type { RunSpec } from "../model/runner.ts";
import type { Limits, MemoryScope, OutputSpec, VerifySpec, WorktreeSetup } from "../model/schema/spec.ts";
import type { McpFacts } from "./mcp.ts";
import type { ModelFact } from "./models.ts";
import type { ToolFact, ToolRules } from "./tools.ts";

/** What the caller asked for. */
export interface LaunchRequest extends Tunable {
	task: string;
	/** A few words for the tree; derived from the task when absent. */
	description?: string | undefined;
	/** A checked JSON Schema. */
	outputSchema?: OutputSpec["schema"] | undefined;
	verify?: VerifyFields | undefined;
	isolation?: "worktree" | "off" | undefined;
	inheritContext?: boolean | undefined;
	/**
	 * Refuses a preset from the two `subagents` directories if nothing names a model, instead of inheriting the
	 * parent's.
	 */
	requiresModel?: boolean | undefined;
}

/** A command that checks the agent's work. Its schema is a checked one; a timeout of 0 is none. */
export type VerifyFields = Nullish<Omit<VerifySpec, "command" | "repairs">> & Pick<VerifySpec, "command">;

/** What the call, the settings and the preset can each say. */
export interface Tunable extends Partial<Nullish<Limits>> {
	model?: string | undefined;
	thinking?: ThinkingLevel | undefined;
	runner?: RunnerName | undefined;
	/** The machine to run on; `here` is this one, whatever weaker layers say. */
	machine?: string | undefined;
	/** Whether it is run again if its machine loses it. */
	retry?: "lost" | "off" | undefined;
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
	worktree?: Nullish<Omit<WorktreeSetup, "readsIncludeFile">> | undefined;
	memory?: MemoryScope | undefined;
	inheritContext?: boolean | undefined;
	outputSchema?: OutputSpec["schema"] | undefined;
	outputRepairs?: number | undefined;
	verify?: VerifyFields | undefined;
	verifyRepairs?: number | undefined;
	/** The program that it runs inside, by its name in the user's settings. */
	launcher?: string | undefined;
	fallbackModels?: readonly string[] | undefined;
}

/** What the user's settings say. */
export interface Defaults extends Tunable {
	/** `agentOverrides.<name>` of the preset in question. */
	override?: Tunable &
		ToolRules &
		Partial<Pick<PresetFields, "enabled" | "promptMode" | "extensions" | "skills" | "subagents" | "launcher">>;
	/** What to do about a model outside the user's enabled ones. Absent: nothing. */
	scope?: "warn" | "deny";
	/** What makes every worktree ready, unless a preset says otherwise. */
	worktree?: PresetFields["worktree"];
}

/** What the launching session uses itself. */
export interface ParentFields {
	model?: { provider: string; id: string } | undefined;
	thinking?: ThinkingLevel | undefined;
}

/** The current state of the machine. */
export interface Facts {
	/** Available ones, in the user's order. */
	models: readonly ModelFact[];
	tools: readonly ToolFact[];
	/** Absent: agents can have no MCP servers. */
	mcp?: McpFacts;
	cwd: CwdFact;
	/** The names of the machines that the user defined. Absent: none. */
	machines?: readonly string[];
	/** The names of the launchers that the user defined. Absent: none. */
	launchers?: readonly string[];
	/** The guards that replace built-in tools. Absent: none. */
	replacedTools?: ReplacedTools;
	/** The user has trusted this project. Otherwise its files may not say how things are executed. */
	isProjectTrusted: boolean;
}

/** Built-in tools that guards replace. Such a tool may work in the directory of its process, whatever the agent's is. */
export interface ReplacedTools {
	/** The directory of the session's process, with links resolved. */
	worksIn: string;
	/** By the name of the guard. */
	byGuard: Readonly<Record<string, readonly string[]>>;
}

/** The working directory as found on disk. */
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
