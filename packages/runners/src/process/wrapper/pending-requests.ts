/**
 * A child's questions and checkpoints, and the dialogs of its extensions, that wait for the run's watcher. When no one
 * watches any more, they end.
 */

import type { AgentAnswered, Answer, Clock, Dialog, DialogAnswer, Question } from "@pi-subagents/core";
import { answerTo, unanswered } from "@pi-subagents/core/internal/run";
import { beginningOf, sanitize } from "@pi-subagents/progress";
import type { ControlLine, WrapperEvent } from "@pi-subagents/runs/internal";
import { digestOfDialog } from "@pi-subagents/runs/internal";

type AnswerLine = Extract<ControlLine, { type: "answer" }>;
type DialogLine = Extract<ControlLine, { type: "dialog" }>;

/** The reply to a checkpoint. */
export type PassLine = Extract<ControlLine, { type: "pass" }>;

type ReplyLine = AnswerLine | DialogLine | PassLine;

export interface PendingRequestsOptions {
	clock: Pick<Clock, "after">;
	isWatched: () => Promise<boolean>;
	/** Notifies the watcher. False if that is not possible. */
	say: (event: WrapperEvent | (AgentAnswered & { id: string })) => boolean;
	/** Called when something begins to wait; the returned function when it ends. */
	hold: () => () => void;
}

const LOOK_MS = 2_000;
/** Of a dialog's title, for readers of the log. */
const MAX_TITLE = 400;

export class PendingRequests {
	readonly #options: PendingRequestsOptions;
	readonly #waiting = new Map<string, (line: ReplyLine | undefined) => void>();
	#count = 0;

	constructor(options: PendingRequestsOptions) {
		this.#options = options;
	}

	/** The watcher's reply before the child may continue; undefined without a watcher. */
	async checkpoint(): Promise<PassLine | undefined> {
		const line = await this.#wait({ type: "checkpoint", id: this.#newId("pass") });
		return typeof line === "object" && line.type === "pass" ? line : undefined;
	}

	async ask(question: Question): Promise<Answer> {
		const id = this.#newId("answer");
		const line = await this.#wait({ type: "question", id, ...question }, question);
		if (line === "unheard") return unanswered(question, "absent");
		if (typeof line === "object" && line.type === "answer") {
			this.#options.say({ type: "agent_answered", id, by: line.answer.by });
			return line.answer;
		}
		this.#options.say({ type: "question_over", id });
		return unanswered(question, line === "late" ? "timeout" : "absent");
	}

	/** The user's answer; undefined without one. The signal fires when it is no longer wanted. */
	async dialog(dialog: Dialog, signal: AbortSignal): Promise<DialogAnswer | undefined> {
		const id = this.#newId("dialog");
		const question = beginningOf(sanitize(dialog.title), MAX_TITLE);
		const timeoutMs = "timeoutMs" in dialog ? dialog.timeoutMs : undefined;
		const line = await this.#wait({ type: "question", id, question, dialog }, { timeoutMs, signal });
		if (line === "unheard") return undefined;
		const answer =
			typeof line === "object" && line.type === "dialog" && line.shown === digestOfDialog(dialog)
				? answerTo(dialog, line.answer)
				: undefined; // what was answered are other words, which the agent wrote into the log
		this.#options.say(answer ? { type: "agent_answered", id, by: "user" } : { type: "question_over", id });
		return answer;
	}

	/** A reply that nothing waits for came too late. */
	deliver(line: ReplyLine): void {
		if (line.id.startsWith(line.type)) this.#waiting.get(line.id)?.(line);
	}

	async #wait(
		event: Extract<WrapperEvent, { type: "checkpoint" | "question" }>,
		{ timeoutMs, signal }: { timeoutMs?: number | undefined; signal?: AbortSignal } = {},
	): Promise<ReplyLine | "unheard" | "late" | undefined> {
		const { clock, isWatched, say, hold } = this.#options;
		const goOn = hold();
		const { promise, resolve } = Promise.withResolvers<ReplyLine | "late" | undefined>();
		this.#waiting.set(event.id, resolve);
		let cancelLook = (): void => undefined;
		const look = async () => {
			if (!(await isWatched())) resolve(undefined);
			else if (this.#waiting.has(event.id)) cancelLook = clock.after(LOOK_MS, look);
		};
		const withdraw = () => resolve(undefined);
		signal?.addEventListener("abort", withdraw, { once: true });
		const cancelTimeout = timeoutMs === undefined ? undefined : clock.after(timeoutMs, () => resolve("late"));
		try {
			if (!(await isWatched()) || !say(event)) return "unheard";
			cancelLook = clock.after(LOOK_MS, look);
			return await promise;
		} finally {
			this.#waiting.delete(event.id);
			cancelLook();
			cancelTimeout?.();
			signal?.removeEventListener("abort", withdraw);
			goOn();
		}
	}

	#newId(kind: "answer" | "dialog" | "pass"): string {
		return `${kind}-${++this.#count}`;
	}
}
