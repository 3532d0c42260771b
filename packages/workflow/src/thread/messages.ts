/** What the engine and the script's thread say to each other, in lists. All values are JSON texts: nothing is shared. */

/** How many travel together at most: while one side works on them, the other makes the next ones. */
export const MAX_TOGETHER = 200;

/** What the thread is started with. */
export interface ThreadData {
	program: string;
	/** As JSON. */
	args: string;
	seed: string;
	startedAt: number;
	/** Null: no limit. */
	budget: number | null;
	maxAgents: number;
	maxItems: number;
	/** How many log lines and phases. */
	maxNotes: number;
}

export type CallKind = "agent" | "ask" | "workflow";

/** A call of the script that waits for an answer. */
export interface ScriptCall {
	/** Counts from 1 within the thread. */
	id: number;
	kind: CallKind;
	/** Where in the script, the same in every run. */
	path: string;
	/** What was asked for, as JSON. */
	input: string;
	/** The line of the script. */
	line?: number | undefined;
}

export type FromThread =
	| ({ type: "call" } & ScriptCall)
	| { type: "phase" | "log"; path: string; text: string }
	/** A workflow that the script called has ended: its return value, or what it threw. */
	| { type: "nested"; id: number; value?: string; error?: ScriptFailure }
	/** Nothing is left to do until an answer comes. `seen` is the number of messages taken. */
	| { type: "rest"; seen: number }
	| { type: "returned"; value: string; open: OpenCall[] }
	| { type: "threw"; error: ScriptFailure };

/** A call without an answer when the script returned, or one whose answer nothing looked at. */
export interface OpenCall {
	isAwaited: boolean;
	line: number | undefined;
}

export interface ScriptFailure {
	name: string;
	message: string;
	/** The first line of the script in the stack. */
	line?: number | undefined;
	/** The script itself is wrong, or a limit is reached: no `parallel` turns it into a null. */
	isFatal?: boolean | undefined;
}

/** `at` and `spent`: when the answer came, and what all agents had used by then. In a replay, as it was then. */
export type ToThread =
	/** The answer to a call, as JSON. */
	| { type: "answer"; id: number; value: string; at: number; spent: number }
	/** The call throws: in the script `AgentFailed`, or a mistake. `outcome` is JSON. */
	| { type: "error"; id: number; error: ScriptFailure; outcome?: string; at: number; spent: number }
	/** The workflow that was called, to be run in the thread. */
	| { type: "run"; id: number; program: string; args: string }
	/** Nobody waits for the script any more. */
	| { type: "end" };
