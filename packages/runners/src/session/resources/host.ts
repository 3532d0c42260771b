/** What the parent provides to in-process children. All the session runner knows of the parent. */
import type { ModelRuntime, Theme, ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { AgentUi, Clock, Report, RunIdentity, RunSpec } from "@pi-subagents/core";
import type { Guards } from "../../extensions/guards.ts";
import type { RunningExtension } from "../../extensions/running.ts";

export interface SessionHost {
	agentDir: string;
	/** The parent's, so that providers registered by its extensions work in children. */
	modelRuntime: () => ModelRuntime | Promise<ModelRuntime>;
	/** Whether the user trusts the project in this directory. Settings of an untrusted one are not read. */
	isProjectTrusted: (cwd: string) => boolean;
	/** Tools for this child alone, besides those of its spec. */
	childTools?: (spec: RunSpec & RunIdentity) => ToolDefinition[];
	/**
	 * Where conversations are stored, one directory per agent; read for each run, since it may depend on the open
	 * session. When absent, they stay in memory.
	 */
	sessionDir?: () => string | undefined;
	/** Whether this is one of our extensions, which no child may load; those with our package names are known. */
	isOwnExtension?: (path: string) => boolean;
	/** The extensions that the parent runs. Absent, or undefined: it is not known. */
	runningExtensions?: () => readonly RunningExtension[] | undefined;
	/** The user's extensions that guard every child. Absent: none. */
	guards?: Guards;
	/** The parent's bus: gets `subagents:child:session-created`, `:bound` and `:disposed`. */
	events?: { emit(channel: string, data: unknown): void };
	/** The id of the parent's pi session, for bus listeners. */
	parentSessionId?: () => string | undefined;
	/** The user's screen, for extensions inside children. When absent, they see that no one can answer. */
	ui?: SessionUi;
	/** Called with problems that do not fail the run. */
	report?: Report;
	/** Default: the system clock. */
	clock?: Clock;
}

export interface SessionUi extends AgentUi {
	/** The user's colours. */
	theme(): Theme;
}
