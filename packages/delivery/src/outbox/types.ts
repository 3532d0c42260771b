/**
 * The contract of the outbox: its inputs, its actions, and its state in between.
 * All of it is plain JSON, so that a state can be kept, restored and compared.
 */

/** A run whose result will be delivered to the session that launched it. */
export interface Launch {
	/** The run's id. The delivery of its result has the same one: one run, one delivery. */
	id: string;
	agentId: string;
	run: number;
	/** A `background` run outlives the session: no call waits for it, and it never starts a turn. */
	kind: "agent" | "background";
	/** Shared by those launched in one turn. */
	group?: string;
	/** The session entry of the launch: the result is delivered only on a branch that holds it. Absent: on any branch. */
	launchEntry?: string;
	/** The user launched it, and decides what to do with the result: it never starts a turn. */
	isForUser?: boolean;
	/**
	 * Its result is delivered, but starts no turn: it settled while no session was open, and opening one must not start
	 * a turn unasked; or the user stopped it, and knows.
	 */
	isQuiet?: boolean;
}

/** The result of a settled run, as far as the policy needs to know it. */
export interface Delivery extends Launch {
	/** The size of its full text in a message. */
	bytes: number;
	/** It ended in a way that may call for a decision. An abort that the user or the model asked for does not. */
	isFailure: boolean;
	/** It was stopped: whoever continues the agent before this is delivered knows that. */
	isStopped?: boolean;
}

/**
 * How long a delivery waits for the siblings of its launch. What is due at the same moment is always one message.
 * - `smart`: until all have settled, or one failed, or `joinMs` passed; those left behind wait `stragglerMs`.
 * - `async`: not at all.
 * - `group`: until all have settled, failed or not, but at most `groupMs`.
 */
type Join = "smart" | "async" | "group";

/** What a delivery does to an idle session: starts a turn, only shows up, or neither. Background runs only show up. */
export type Notify = "turn" | "message" | "off";

export interface OutboxSettings {
	join: Join;
	notify: Notify;
	/** How long a settled run can be claimed before its delivery may leave. */
	holdMs: number;
	joinMs: number;
	stragglerMs: number;
	groupMs: number;
	/** At most one batch in this time, unless a turn passed: also the time a session has to report that a turn began. */
	pauseMs: number;
	/** The maximum size of a message with several results. */
	maxBytes: number;
	/** What one line about a result takes, when its full text does not fit. */
	lineBytes: number;
}

/**
 * `idle`: the agent would stop, and the user has queued nothing. `waiting_for_user`: a dialog or an interactive tool is
 * open, whatever else happens; or the user has interrupted a turn, and no other may start without them.
 */
export type SessionState = "idle" | "busy" | "waiting_for_user";

/** The inputs of the outbox. `at` is now, in milliseconds, by a clock that does not go back. */
export type OutboxInput = {
	at: number;
} /** A run was accepted, on the current branch. Foreground runs are not delivered, so they are not reported here. */ & (
	| { type: "launched"; launch: Launch }
	/** A run is over. `canBeClaimed`: a listener may still claim it. What was said of its launch before holds. */
	| { type: "settled"; delivery: Delivery; canBeClaimed: boolean }
	/** A reader waits for the run and may claim its result, so it is held briefly when it settles. */
	| { type: "expected"; id: string }
	/** A reader waits no longer. If none is left that could claim the result, it need not be held. */
	| { type: "released"; id: string }
	/** The result has been read, or is taken care of: it is not to be delivered again. `callId`: a tool call's result holds it. */
	| { type: "claimed"; id: string; callId?: string }
	/** Between `busy` and the next `idle` a message that was sent has arrived, or is lost. */
	| { type: "session"; state: SessionState }
	/** The current branch, by the launch entries it holds (others may be left out). */
	| { type: "branch"; holds: readonly string[] }
	/** The time asked for by `wake` has come. */
	| { type: "tick" }
	/** The session holds these now. */
	| { type: "delivered"; ids: readonly string[] }
	/** These could not be sent. */
	| { type: "unsent"; ids: readonly string[] }
	/**
	 * A session was opened, with what its entries say: deliveries stored, ids held or closed, runs still running.
	 * Comes first; then `branch` and `session`.
	 */
	| { type: "restored"; stored: readonly Delivery[]; held: readonly string[]; running: readonly Launch[] }
	/** The process is about to end: wait for all agents, but not beyond the deadline. Null: stop waiting. */
	| { type: "drain"; deadline: number | null }
	| { type: "settings"; change: Partial<OutboxSettings> }
);

/** What to do, in this order. */
export type OutboxAction =
	/** Keep the delivery where a restart finds it. Comes before its `send`. */
	| { type: "store"; delivery: Delivery }
	/** One message, which must carry the ids. */
	| { type: "send"; items: SendItem[]; startsTurn: boolean }
	/** Keep for a restart that this is never to be sent. `callId`: of the tool call that claimed it. */
	| { type: "close"; id: string; reason: "claimed" | "silenced"; callId?: string }
	/** The claim came too late, or is for a run that the outbox does not know. */
	| { type: "refuse"; id: string }
	/** Draining is over. These agents had not settled at the deadline. */
	| { type: "drained"; missing: string[] }
	/** Tick at this time. Replaces the time asked for before. */
	| { type: "wake"; at: number }
	/** No tick is needed any more. */
	| { type: "sleep" };

/** One result in a message: its full text, one line about it, or only its part in "and 900 more". */
export interface SendItem {
	id: string;
	form: "full" | "line" | "count";
}

export interface OutboxState {
	settings: OutboxSettings;
	session: SessionState;
	/** The launch entries on the current branch. */
	branch: readonly string[];
	running: readonly Running[];
	/** Settled, stored, not sent. In the order of settling. */
	waiting: readonly Waiting[];
	/** Handed over, but the session has not shown yet that it holds them. */
	sent: readonly Sent[];
	/** The runs that readers wait for: an id for each reader. */
	expected: readonly string[];
	/** Ids that are never to be sent again: held by the session, claimed or silenced. */
	done: readonly string[];
	pausedUntil: number | null;
	/** The deadline, while draining. */
	drainBy: number | null;
	/** The tick asked for. */
	wakeAt: number | null;
}

interface Running {
	launch: Launch;
	/** Siblings of it were sent without it. */
	isStraggler: boolean;
}

export interface Waiting {
	delivery: Delivery;
	settledAt: number;
	/** Until then it is held for those who may claim it. */
	readyAt: number;
	isStraggler: boolean;
}

interface Sent extends Waiting {
	/** The session has been busy since. */
	wasBusy: boolean;
}

export interface OutboxStep {
	state: OutboxState;
	/** To be performed in this order. */
	actions: OutboxAction[];
}
