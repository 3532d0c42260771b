/**
 * What launching needs from the program around it. Nothing here knows pi: `Context` is that program's session. Only its
 * directory is read here; otherwise it is passed back to the program.
 */
import type { Confinement, Facts, ParentFields, ReplacedTools, RunSpec } from "@pi-subagents/core";
import type { RegisteredPresets } from "./runtime-presets.ts";
import type { StoredTrust } from "./settings/config.ts";

export interface SessionContext {
	readonly cwd: string;
}

/** The user's machine. */
export interface LaunchEnvironment {
	/** pi's own directory, such as `~/.pi/agent`. */
	readonly agentDir: string;
	/** Whether the user has said that this project is trusted. */
	storedTrust(cwd: string): StoredTrust;
	/** The manifests of the packages that the user has installed, which may bring presets. */
	packageManifests(cwd: string): readonly string[];
	/** Tells the user what is wrong. The same notice may come again; show it once. */
	warn(notice: string): void;
}

/** The session that launches. */
export interface LaunchSession<Context extends SessionContext> {
	/** What is true now, for `resolveSpec`. `cwd` is what the caller asked for, if anything. */
	facts(ctx: Context, cwd: string | undefined): Promise<Facts>;
	/** What an agent of this session inherits. */
	parent(ctx: Context): ParentFields;
	/** The conversation that a run of this spec begins with, if it inherits one. */
	conversation(spec: RunSpec, ctx: Context): readonly unknown[] | undefined;
}

/** What can refuse a launch before anything is created for it. Each throws an error for the caller. */
interface LaunchChecks {
	/** The extensions and skills that the spec names are there. */
	requireResources(spec: RunSpec): Promise<void>;
	/** An agent can have a worktree there. Asks the user if only their consent is missing. */
	checkWorktree(asked: WorktreeRequest): Promise<void>;
}

export interface WorktreeRequest {
	cwd: string;
	base: "head" | "dirty";
	/** Where the launching agent is confined, if it works in its own checkout. */
	confinedTo?: Confinement | undefined;
	/** False for a preview: the user is not asked. */
	mayAsk: boolean;
}

export type LaunchHost<Context extends SessionContext> = LaunchEnvironment &
	LaunchSession<Context> &
	LaunchChecks & {
		/** The presets that other extensions registered, as `createRuntimePresets` keeps them. Absent: none. */
		registeredPresets?: () => RegisteredPresets;
		/** The built-in tools that guards replace. Rejects if a guard does not load. Absent: none. */
		replacedTools?: () => Promise<ReplacedTools | undefined>;
		/** Throws if the session's budget has no room for another agent. Asks the user first, where there is a screen. */
		approveLaunch?: () => Promise<void>;
	};

/**
 * What `createLauncher` takes. Whatever is left out grants nothing and checks nothing: no project is trusted, no package
 * brings presets, no conversation is inherited, and missing extensions show only when the agent starts.
 */
export type LauncherHost<Context extends SessionContext> = Pick<
	LaunchHost<Context>,
	"agentDir" | "warn" | "facts" | "parent"
> &
	Partial<LaunchHost<Context>>;
