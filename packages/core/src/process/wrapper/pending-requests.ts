/** A child's questions and checkpoints that wait for the run's watcher. When no one watches any more, they end. */

import type { Clock } from "../../base/clock.ts";
import type { AgentAnswered } from "../../model/event.ts";
import { type Answer, type Question, unanswered } from "../../model/question.ts";
import type { ControlLine, WrapperEvent } from "../../runs/format/layout.ts";

type AnswerLine = Extract<ControlLine, { type: "answer" }>;

/** The reply to a checkpoint. */
export type PassLine = Extract<ControlLine, { type: "pass" }>;

export interface PendingRequestsOptions {
	clock: Pick<Clock, "after">;
	isWatched: () => Promise<boolean>;
	/** Notifies the watcher. False if that is not possible. */
	say: (event: WrapperEvent | (AgentAnswered & { id: string })) => boolean;
	/** Called when something begins to wait; the returned function when it ends. */
	hold: () => () => void;
}

const LOOK_MS = 2_000;

export class PendingRequests {
	readonly #options: PendingRequestsOptions;
	readonly #waiting = new Map<string, (line: AnswerLine | PassLine | undefined) => void>();
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
		const line = await this.#wait({ type: "question", id, ...question }, question.timeoutMs);
		if (line === "unheard") return unanswered(question, "absent");
		if (typeof line === "object" && line.type === "answer") {
			this.#options.say({ type: "agent_answered", id, by: line.answer.by });
			return line.answer;
		}
		this.#options.say({ type: "question_over", id });
		return unanswered(question, line === "late" ? "timeout" : "absent");
	}

	/** A reply that nothing waits for came too late. */
	deliver(line: AnswerLine | PassLine): void {
		if (line.id.startsWith(line.type)) this.#waiting.get(line.id)?.(line);
	}

	async #wait(
		event: Extract<WrapperEvent, { type: "checkpoint" | "question" }>,
		timeoutMs?: number,
	): Promise<AnswerLine | PassLine | "unheard" | "late" | undefined> {
		const { clock, isWatched, say, hold } = this.#options;
		const goOn = hold();
		const { promise, resolve } = Promise.withResolvers<AnswerLine | PassLine | "late" | undefined>();
		this.#waiting.set(event.id, resolve);
		let cancelLook = (): void => undefined;
		const look = async () => {
			if (!(await isWatched())) resolve(undefined);
			else if (this.#waiting.has(event.id)) cancelLook = clock.after(LOOK_MS, look);
		};
		const cancelTimeout = timeoutMs === undefined ? undefined : clock.after(timeoutMs, () => resolve("late"));
		try {
			if (!(await isWatched()) || !say(event)) return "unheard";
			cancelLook = clock.after(LOOK_MS, look);
			return await promise;
		} finally {
			this.#waiting.delete(event.id);
			cancelLook();
			cancelTimeout?.();
			goOn();
		}
	}

	#newId(kind: "answer" | "pass"): string {
		return `${kind}-${++this.#count}`;
	}
}
