/** How an agent settled. A failure is a value; only a question that cannot be answered is an error. */

export type Outcome<Data = unknown> = Completed<Data> | Failed | Aborted;

export interface Completed<Data = unknown> {
	status: "completed";
	/** What it said last. */
	text: string;
	/** It was told to finish because it reached its turn limit. */
	wrappedUp?: true;
	/** The answer as data, where a schema was asked for. The server has checked that it matches. */
	structured?: { ok: true; data: Data; preview: string };
	/** What became of its own checkout, where it had one. */
	worktree?: Worktree;
}

export interface Failed {
	status: "failed";
	error: string;
	/** What it had said before it failed. */
	partialText?: string;
	/** Why the answer does not match the schema that was asked for, where that is the failure. */
	structured?: {
		ok: false;
		error: string;
		validationErrors: readonly { path: string; message: string }[];
		rawPreview: string;
	};
	/** What became of its own checkout, where it had one. */
	worktree?: Worktree;
}

export interface Aborted {
	status: "aborted";
	/** `user`, `parent`, `turns`, `timeout`, `idle`, `budget`, `shutdown`, `lost`, or `unknown` where nobody said. */
	by: string;
	reason?: string;
	/** What it had said before it was stopped. */
	partialText?: string;
	/** What became of its own checkout, where it had one. */
	worktree?: Worktree;
}

export interface Worktree {
	/** Holds the changes; absent when there are none. */
	branch?: string;
	/** The directory of the checkout; absent when it was removed. */
	path?: string;
	/** The commit that the agent began with. */
	base: string;
	files: number;
	insertions: number;
	deletions: number;
	/** How to take over the changes, ready to be pasted. */
	merge?: string;
	/** What could not be done as it should be. */
	problems?: readonly string[];
}
