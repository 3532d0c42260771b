/** Answers what a run asks its watcher: the child's questions, dialogs of its extensions, and whether it may continue. */

import type { Answer, Checkpoint, Clock, Dialog, DialogAnswer, Limits, Question, Report } from "@pi-subagents/core";
import { defined, messageOf } from "@pi-subagents/core/internal/base";
import { dialogIn, unanswered } from "@pi-subagents/core/internal/run";
import type { EventLine } from "@pi-subagents/runs";
import type { ControlLine } from "@pi-subagents/runs/internal";
import { digestOfDialog } from "@pi-subagents/runs/internal";

/** Asks on behalf of the child. The signal fires when the answer is no longer wanted. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>;

/** Asks the user on behalf of an extension in the child. The signal fires when the answer is no longer wanted. */
export type AskUser = (dialog: Dialog, signal: AbortSignal) => Promise<DialogAnswer | undefined>;

export interface RepliesOptions {
	ask: Ask | undefined;
	askUser: AskUser | undefined;
	checkpoint: Checkpoint | undefined;
	/** What was granted beyond the spec's limits. */
	granted: () => Limits | undefined;
	send: (line: ControlLine) => Promise<void>;
	clock: Pick<Clock, "after">;
	report: Report;
}

/** By then the disk may have space again. */
const RETRY_MS = 2_000;

export class Replies {
	readonly #options: RepliesOptions;
	readonly #open = new Map<string, EventLine & { type: "question" | "checkpoint" }>();
	/** Requests being answered, by id. */
	readonly #replying = new Map<string, Replying>();
	/** Ids that an earlier watcher replied to. */
	#settled: ReadonlySet<string> = new Set();
	/** While old events are replayed nothing is asked: most of it was answered long ago. */
	#isLive = false;
	#isOver = false;

	constructor(options: RepliesOptions) {
		this.#options = options;
	}

	hear(line: EventLine): void {
		// Answered: by this watcher, or by another program of the user.
		if (line.type === "question_over" || line.type === "agent_answered") this.#close(line.id ?? "");
		// A child that does something new has passed its checkpoint.
		if (line.type === "assistant_text" || line.type === "tool_call") this.#forgetCheckpoints();
		if (line.type !== "question" && line.type !== "checkpoint") return;
		this.#open.set(line.id, line);
		if (this.#isLive) this.#replyToAll();
	}

	/** The replay is over: what is open now really is, unless an earlier watcher replied. */
	goLive(settled: ReadonlySet<string>): void {
		this.#settled = settled;
		this.#isLive = true;
		this.#replyToAll();
	}

	/** Stops answering. */
	close(): void {
		this.#isOver = true;
		for (const { over } of this.#replying.values()) over.abort();
	}

	#close(id: string): void {
		this.#open.delete(id);
		this.#replying.get(id)?.over.abort();
	}

	#forgetCheckpoints(): void {
		for (const [id, { type }] of this.#open) if (type === "checkpoint") this.#open.delete(id);
		for (const { type, over } of this.#replying.values()) if (type === "checkpoint") over.abort();
	}

	#replyToAll(): void {
		if (this.#isOver) return;
		const open = [...this.#open.values()].filter(({ id }) => !this.#settled.has(id));
		this.#open.clear();
		for (const line of open) void this.#reply(line);
	}

	async #reply(line: EventLine & { type: "question" | "checkpoint" }): Promise<void> {
		const { type, id } = line;
		const over = new AbortController();
		this.#replying.set(id, { type, over });
		const reply = await (line.type === "question" ? this.#answer(line, over.signal) : this.#pass(id));
		await this.#send(reply, over.signal);
		this.#replying.delete(id);
	}

	async #answer(line: EventLine & { type: "question" }, signal: AbortSignal): Promise<ControlLine> {
		const { at: _at, seq: _order, type: _type, id, dialog, ...question } = line;
		if (dialog !== undefined) {
			const answer = await this.#show(dialog, signal);
			return { type: "dialog", id, shown: digestOfDialog(dialog), ...defined({ answer }) };
		}
		return { type: "answer", id, answer: await this.#askFor(question, signal) };
	}

	async #askFor(question: Question, signal: AbortSignal): Promise<Answer> {
		try {
			return (await this.#options.ask?.(question, signal)) ?? unanswered(question, "absent");
		} catch (error) {
			if (!signal.aborted) this.#options.report(`An agent's question could not be asked: ${messageOf(error)}`);
			return unanswered(question, "absent");
		}
	}

	/** What is not a dialog is dismissed: it must not pass for a question, which a model may answer. */
	async #show(value: unknown, signal: AbortSignal): Promise<DialogAnswer | undefined> {
		const dialog = dialogIn(value);
		try {
			return dialog && (await this.#options.askUser?.(dialog, signal));
		} catch (error) {
			if (!signal.aborted) this.#options.report(`A dialog of an agent's extension failed: ${messageOf(error)}`);
			return undefined;
		}
	}

	async #pass(id: string): Promise<ControlLine> {
		try {
			const word = (await this.#options.checkpoint?.()) ?? "go";
			const limits = this.#options.granted();
			return { type: "pass", id, word, ...defined({ limits }) };
		} catch (error) {
			return { type: "pass", id, word: "end", error: messageOf(error) };
		}
	}

	/** The child waits for it, so it is retried as long as it is wanted. */
	async #send(line: ControlLine, signal: AbortSignal): Promise<void> {
		for (let hasComplained = false; !signal.aborted; hasComplained = true) {
			try {
				return await this.#options.send(line);
			} catch (error) {
				if (!hasComplained)
					this.#options.report(`An agent waits for an answer that could not be written: ${messageOf(error)}`);
			}
			await this.#later(signal);
		}
	}

	#later(signal: AbortSignal): Promise<void> {
		return new Promise((resolve) => {
			const cancel = this.#options.clock.after(RETRY_MS, resolve);
			signal.addEventListener("abort", () => {
				cancel();
				resolve();
			});
		});
	}
}

interface Replying {
	type: "question" | "checkpoint";
	/** Fires when it is no longer wanted. */
	over: AbortController;
}
