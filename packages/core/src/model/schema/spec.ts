/**
 * Everything a runner needs to run an agent, defined once: the schema says what a spec is, its type is made from it, and
 * run files, session entries and orders to other machines check with it. Each field says whether it travels.
 */
import { RUNNER_NAMES, THINKING_LEVELS } from "@pi-subagents/progress";
import {
	anyObject,
	count,
	maybeAmount,
	maybeFlag,
	maybeText,
	maybeTexts,
	maybeTrue,
	type Of,
	oneOf,
	schema,
	text,
	texts,
} from "@pi-subagents/progress/schema";
import { Type } from "typebox";
import { markedFields, moved, stays, travels } from "./travel.ts";

/** What is resolved of a spec. */
export interface SpecFields extends Of<typeof specSchema> {}

export const specSchema = schema(() =>
	Type.Object(
		markedFields({
			/** The name of the preset. */
			type: travels(text),
			description: moved(text),
			task: moved(text),
			/** Absolute. */
			cwd: moved(text),
			runner: stays("the other machine runs every agent in its own process", oneOf(RUNNER_NAMES)),
			/** The name of the machine that it runs on, for runner `remote`. */
			machine: stays("a name in the settings of this machine", maybeText),
			/** It is run again, once and from the start, if its machine loses it. Only for runner `remote`. */
			retry: stays("decided by the side that would run it again", Type.Optional(Type.Literal("lost"))),
			/** The name of the program, from the user's settings, that the child and its checks run inside. */
			launcher: stays("a program of this machine", maybeText),
			/** `provider/id` of an available model. */
			model: travels(text),
			thinking: travels(Type.Optional(oneOf(THINKING_LEVELS))),
			/** The tools that it may use, besides ours: see `allTools`. */
			tools: travels(texts),
			/** Those of our own tools that it does not get. */
			withheld: travels(maybeTexts),
			/** The MCP servers that it connects; their tools are among `tools`. None when absent. */
			mcp: travels(Type.Optional(mcpSchema())),
			/** The preset's prompt, after pi's own system prompt or instead of it. */
			systemPrompt: moved(Type.Optional(Type.Object({ mode: oneOf(["append", "replace"]), text }))),
			/** Which of the user's extensions the child loads: all, none, or those named. None when absent. */
			extensions: travels(chosen()),
			excludeExtensions: travels(maybeTexts),
			/** Which skills it has: all, none, or those named. All when absent. */
			skills: travels(chosen()),
			/** Which presets it may launch; none when absent. */
			subagents: travels(Type.Optional(Type.Union([Type.Literal("*"), texts]))),
			/** The JSON Schema of the answer, and how often the agent may correct it. */
			output: travels(Type.Optional(outputSchema())),
			/** The command that checks its work before the run ends, or why none does. */
			verify: travels(Type.Optional(Type.Union([verifySchema(), notVerifiedSchema()]))),
			/** `provider/id` of models to try, in order, if the provider fails before any tool ran. */
			fallbackModels: travels(maybeTexts),
			/** It works in its own checkout, made from the last commit or from the working tree. */
			isolation: stays(
				"the other machine makes its own checkout of what was sent",
				Type.Optional(
					Type.Object({
						kind: Type.Literal("worktree"),
						base: oneOf(["head", "dirty"]),
						setup: Type.Optional(worktreeSetupSchema()),
					}),
				),
			),
			/** The only directory where it may write files. Set if it has its own checkout, or is launched from within one. */
			confinedTo: stays("a place on this machine", Type.Optional(confinementSchema())),
			/** It starts with the launching agent's conversation. */
			inheritsContext: stays("the conversation is sent beside the spec", maybeFlag),
			/** Its earlier conversation is compacted before the task; a failed compaction does not stop the run. */
			compactsFirst: travels(maybeTrue),
			/** Which notes it reads and keeps across its runs: the project's, shared or only on this machine, or the user's own. */
			memory: stays("notes are on this machine", Type.Optional(oneOf(["project", "local", "user"]))),
			/** The directory of these notes. Absent if there are none and none can be kept. */
			memoryDir: stays("a place on this machine", maybeText),
			/** The run continues when the launching session ends. Only for runners that can `detach`. */
			outlives: travels(maybeFlag),
			/** The parent directory of all runs' files. When absent, none are kept. */
			runsDir: stays("a place on this machine", maybeText),
			/** The preset's file: for readers of the run's files. */
			presetSource: stays("a place on this machine", maybeText),
			/** The model as requested: for readers of the run's files. */
			requestedModel: travels(maybeText),
			limits: travels(limitsSchema()),
			/** What the call said that no preset or setting repeats: the agent's next run needs it again. */
			given: stays("only the launching side resumes an agent", Type.Optional(givenSchema())),
			/** Who decided each resolved field. */
			origins: stays("explains the settings of this machine", originsSchema()),
			/** How the request was interpreted, where that is not obvious. */
			warnings: stays("told where the call was made", texts),
		}),
	),
);

export type MemoryScope = NonNullable<SpecFields["memory"]>;

/** All, none, or those named. */
const chosen = schema(() => Type.Optional(Type.Union([Type.Boolean(), texts])));

export interface McpSpec extends Of<typeof mcpSchema> {}

const mcpSchema = schema(() =>
	Type.Object({
		/** Their names, with `_` for `-`. */
		servers: texts,
		/** Tools that it must not have, where `tools` has a pattern for all tools of a server. */
		denied: maybeTexts,
		/** What is missing does not fail the run: the preset was written for another program. */
		isOptional: maybeTrue,
	}),
);

export interface OutputSpec extends Of<typeof outputSchema> {}

const outputSchema = schema(() =>
	Type.Object({
		schema: anyObject,
		/** How many corrections are allowed; 0 fails immediately. */
		repairs: count,
	}),
);

/** A command that must succeed in the agent's directory after its answer. */
export interface VerifySpec extends Of<typeof verifySchema> {}

const verifySchema = schema(() =>
	Type.Object({
		/** Text for the user's shell, or a program with its arguments. */
		command: Type.Union([text, texts]),
		/** Absent: no limit. */
		timeoutMs: maybeAmount,
		/** What it prints is JSON, and becomes the run's structured result. */
		output: Type.Optional(Type.Literal("json")),
		/** What that JSON must match. */
		schema: Type.Optional(anyObject),
		/** How often the agent is asked to fix its work; 0 fails immediately. */
		repairs: count,
	}),
);

const notVerifiedSchema = schema(() =>
	Type.Object({
		/** Why the preset's command does not run. */
		skipped: text,
	}),
);

/** Where a new checkout is, and what makes it ready to work in. Other paths are relative to its root. */
export interface WorktreeSetup extends Of<typeof worktreeSetupSchema> {}

const worktreeSetupSchema = schema(() =>
	Type.Object({
		/** Where the checkout is made: relative to the repository, absolute, or in the home directory (`~/…`). */
		dir: maybeText,
		/** Directories and files of the user's checkout that it shares. */
		link: maybeTexts,
		/** Patterns of ignored files that are copied, as in `.gitignore`. */
		include: maybeTexts,
		/** Whether the patterns in the checkout's `.worktreeinclude` count, too. */
		readsIncludeFile: maybeFlag,
		/** A command that must succeed before the agent starts: text for the user's shell, or a program with its arguments. */
		setup: Type.Optional(Type.Union([text, texts])),
		/** Absent: no limit. */
		setupTimeoutMs: maybeAmount,
	}),
);

export interface Confinement extends Of<typeof confinementSchema> {}

const confinementSchema = schema(() =>
	Type.Object({
		/** The root of its checkout. */
		root: text,
		/** The directory of the checkout's record, if that is not beside it. */
		records: maybeText,
		/** The user's directory it was originally made from. It is trusted as that one is. */
		origin: text,
		/** The checkout it was made from, and those above: its commands must not change them. */
		watches: texts,
	}),
);

/** Limits of a run. An absent one is no limit. */
export interface Limits extends Of<typeof limitsSchema> {}

export const limitsSchema = schema(() =>
	Type.Object({
		/** After this many turns it is asked to finish. */
		maxTurns: maybeAmount,
		/** How many turns it then has left. */
		graceTurns: maybeAmount,
		timeoutMs: maybeAmount,
		toolTimeoutMs: maybeAmount,
		idleTimeoutMs: maybeAmount,
		budgetTokens: maybeAmount,
		/** In US dollars. */
		budgetCost: maybeAmount,
		/** What percentage of time, turns or budget is kept for the answer: it is asked to finish that long before its end. */
		wrapUpPercent: maybeAmount,
		/** After this long without a sign of life it is shown as stalled. Nothing else happens. */
		stalledAfterMs: maybeAmount,
	}),
);

/** Parts of a call, as it gave them. Other parts, such as the directory, are fields of the record. */
export interface GivenByCall extends Of<typeof givenSchema> {}

const givenSchema = schema(() =>
	Type.Object({
		thinking: maybeText,
		maxTurns: maybeAmount,
		outputSchema: Type.Optional(anyObject),
		/** Without any extension or skill. */
		isolated: maybeFlag,
		/** The complete list of its tools. */
		tools: maybeTexts,
		/** As in presets: text, a list, or a mapping. */
		verify: Type.Optional(Type.Unknown()),
		/** Who named that command, if not the model: permission is checked each time that it is to run. */
		verifyBy: Type.Optional(oneOf(["user", "extension"])),
		/** Whether an agent on another machine is run again if it is lost. */
		retry: Type.Optional(oneOf(["lost", "off"])),
	}),
);

/** A field of a spec whose value may come from several places. */
export type ResolvedField =
	| "model"
	| "thinking"
	| "tools"
	| "promptMode"
	| "runner"
	| "machine"
	| "retry"
	| "launcher"
	| "cwd"
	| keyof Limits;

/** Precedence: the call, settings for the preset, the preset, defaults for all agents, the parent. */
const ORIGINS = ["call", "settings", "preset", "parent", "default"] as const;
export type SpecOrigin = (typeof ORIGINS)[number];

const originsSchema = schema(() =>
	Type.Unsafe<Readonly<Partial<Record<ResolvedField, SpecOrigin>>>>(Type.Record(Type.String(), oneOf(ORIGINS))),
);
