/** What delivery needs from the session around it. Each port is small enough to write by hand; pi is one adapter of them. */
import type { SessionState } from "../outbox/types.ts";
import type { Notification } from "./notification.ts";
import type { SessionEntry } from "./session-entry.ts";

/** The log of a session: entries are appended and never changed. `memorySession` has one over a plain array. */
export interface SessionLog {
	/**
	 * Appends an entry of type `custom` and returns its id, if a session is open. Throws if the log does not hold it: that
	 * is reported, and an entry that the disk could not take (the error has a `code` such as `ENOSPC`) is appended later.
	 */
	append(customType: string, data: unknown): string | undefined;
	/** All entries of the open session, on whatever branch, in the order of writing. */
	entries(): readonly SessionEntry[];
	/** The ids of the entries on the current branch. A log without branches has one that holds them all. */
	branchIds(): Iterable<string>;
	/** The entries as they are stored by now: another process that has the session open may have written some. */
	reread(): Promise<readonly SessionEntry[]>;
}

/** Brings results to the session as messages, which its log holds as entries of type `custom_message`. */
export interface Messenger {
	/** Whether the session can take a message now. Asked right before each `send`. */
	canSend(): boolean;
	/**
	 * Sends a message, which starts a turn or only appears. Returns whether the log holds it already; if not,
	 * `onArrived` reports it later. A message that cannot be sent throws, and is sent again after a pause. One that has
	 * not arrived when the session was busy and is idle again got lost, and is sent again, too.
	 */
	send(notification: Notification, options: { startsTurn: boolean }): boolean;
	/** Calls the listener with the details of each of our messages that has reached the log. */
	onArrived(listener: (details: unknown) => void): void;
}

/** When the session can take messages. Results wait while it is busy or waits for the user. */
export interface SessionStates {
	/** Calls the listener on every change, and sometimes with the same state again. */
	onState(listener: (state: SessionState) => void): void;
	/** Tells all listeners the current state once more. */
	announce(): void;
}

/** Which of several processes that have a session open delivers its results. */
export interface Ownership {
	/** Whether this process owns the open session. If so, it does until `release`. */
	take(): Promise<boolean>;
	/** Lets another process own it. Synchronous: the process may be about to end. */
	release(): void;
}
