/**
 * The closed lists that packages share: each has its one home here, and everything that checks, stores, shows or
 * documents one of these values takes it from here. Pure, without any import.
 */

/** The six states an agent can be in. The last three are settled: nothing changes them but a new run. */
const STATUSES = ["queued", "running", "waiting", "completed", "failed", "aborted"] as const;
export type Status = (typeof STATUSES)[number];

export const SETTLED_STATUSES = ["completed", "failed", "aborted"] as const satisfies readonly Status[];
export type SettledStatus = (typeof SETTLED_STATUSES)[number];

export function isSettled(status: Status): status is SettledStatus {
	return isOneOf(SETTLED_STATUSES, status);
}

/** `remote`: on another machine. `workflow`: no model, but a script whose agents are its children. */
export const RUNNER_NAMES = ["session", "process", "tmux", "remote", "workflow"] as const;
export type RunnerName = (typeof RUNNER_NAMES)[number];

/** Those that a preset or a setting may name; a machine or a workflow implies the others. */
export const CHOSEN_RUNNERS = ["session", "process", "tmux"] as const satisfies readonly RunnerName[];
export type ChosenRunner = (typeof CHOSEN_RUNNERS)[number];

export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

export function isThinkingLevel(value: unknown): value is ThinkingLevel {
	return isOneOf(THINKING_LEVELS, value);
}

/** Who asks for a run: the user with a command, the model with a tool, another extension, or a scheduled job. */
export const LAUNCHERS = ["user", "model", "rpc", "schedule"] as const;
export type LaunchedBy = (typeof LAUNCHERS)[number];

/** Who or what stopped a run. `lost` means that it died without reporting anything. */
export const ABORTERS = ["user", "parent", "turns", "timeout", "idle", "budget", "shutdown", "lost"] as const;
export type AbortedBy = (typeof ABORTERS)[number];

/** The limits before which an agent is asked for its answer. */
export const CUTTERS = ["timeout", "budget"] as const satisfies readonly AbortedBy[];
export type CutBy = (typeof CUTTERS)[number];

/**
 * Who says how a run ended, if no process of ours on this machine saw it. What it gives as the error or the reason is
 * then its own text. Set by those who read it; never taken from a file.
 */
export const CLAIMANTS = ["file", "machine"] as const;
export type ClaimedBy = (typeof CLAIMANTS)[number];

/** Who can be asked a question: an agent above, the session's model, the user. */
export const ADDRESSEES = ["agent", "session", "user"] as const;

/** Who answered a question; `default` and `nobody` if no one did. */
export const ANSWERERS = [...ADDRESSEES, "default", "nobody"] as const;

/** How serious a message of an extension is. */
export const NOTICE_LEVELS = ["info", "warning", "error"] as const;

/** What a child reports, whatever runs it. */
export const CHILD_EVENT_TYPES = [
	"assistant_text",
	"tool_call",
	"tool_result",
	"usage",
	"turn",
	"compacting",
	"compacted",
	"retrying",
	"falling_back",
	"verifying",
	"verified",
	"idle",
] as const;

/** Whether a value from outside is one of a closed list. */
export function isOneOf<const List extends readonly string[]>(list: List, value: unknown): value is List[number] {
	return list.some((each) => each === value);
}
