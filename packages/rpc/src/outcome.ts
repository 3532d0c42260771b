/** How an agent settled. A failure of the agent is a value; only a failed request is an error. */

export type Outcome<Data = unknown> = Completed<Data> | Failed | Aborted;

export interface Completed<Data = unknown> {
	status: "completed";
	/** Its last message. */
	text: string;
	/** How many characters of the text were dropped. */
	omitted?: number;
	/** It was asked to finish because it reached its turn limit. */
	wrappedUp?: true;
	/** The answer as data, if a schema was requested. The server has validated it. */
	structured?: { ok: true; data: Data; preview: string };
	/** The state of its git worktree, if it had one. */
	worktree?: Worktree;
}

export interface Failed {
	status: "failed";
	error: string;
	/** What it had written before it failed. */
	partialText?: string;
	/** How many characters of that were dropped. */
	omitted?: number;
	/** Why the answer does not match the requested schema, if that is the failure. */
	structured?: {
		ok: false;
		error: string;
		validationErrors: readonly { path: string; message: string }[];
		rawPreview: string;
	};
	/** The state of its git worktree, if it had one. */
	worktree?: Worktree;
}

export interface Aborted {
	status: "aborted";
	/** `user`, `parent`, `turns`, `timeout`, `idle`, `budget`, `shutdown`, `lost`, or `unknown`. */
	by: string;
	reason?: string;
	/** What it had written before it was stopped. */
	partialText?: string;
	/** How many characters of that were dropped. */
	omitted?: number;
	/** The state of its git worktree, if it had one. */
	worktree?: Worktree;
}

export interface Worktree {
	/** The branch with the changes; absent when there are none. */
	branch?: string;
	/** The directory of the worktree; absent when it was removed. */
	path?: string;
	/** The commit that the agent started from. */
	base: string;
	files: number;
	insertions: number;
	deletions: number;
	/** A command that merges the changes, ready to paste. */
	merge?: string;
	/** What went wrong while the worktree was saved. */
	problems?: readonly string[];
}
