/** What the parent lends its in-process children. The only thing the session runner knows of the parent. */
import type { ModelRuntime, ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { Report } from "../best-effort.ts";
import type { Clock } from "../clock.ts";
import type { RunIdentity, RunSpec } from "../runner.ts";

export interface SessionHost {
	agentDir: string;
	/** The parent's own, so that providers registered by its extensions work in children. */
	modelRuntime: () => ModelRuntime | Promise<ModelRuntime>;
	/** Whether the user trusts the project in this directory. Settings of an untrusted one are not read. */
	isProjectTrusted: (cwd: string) => boolean;
	/** Tools for this child alone, beside those that its spec names. */
	childTools?: (spec: RunSpec & RunIdentity) => ToolDefinition[];
	/**
	 * Where conversations are kept, each agent's in a directory of its own; asked for each run, since it may depend on the
	 * session that is open then. Without it they live in memory.
	 */
	sessionDir?: () => string | undefined;
	/** Whether this is an extension of ours, which no child may load, beside those that our package names tell. */
	isOwnExtension?: (path: string) => boolean;
	/** The parent's bus: hears `subagents:child:session-created`, `:bound` and `:disposed`. */
	events?: { emit(channel: string, data: unknown): void };
	/** The id of the parent's pi session, for those who listen on the bus. */
	parentSessionId?: () => string | undefined;
	/** Hears of what went wrong beside a run. */
	report?: Report;
	/** Default: the machine's own. */
	clock?: Clock;
}
