/**
 * Routes agents' questions: opened, sent to the party that can answer, passed on if it no longer can, and answered
 * once. Private to the manager.
 */

import type { Clock } from "../base/clock.ts";
import { type Addressee, type Audience, addresseeOf, questionMessage, unanswered } from "../model/question.ts";
import type { Answer, Question } from "../model/schema/question.ts";
import type { Store } from "../model/store.ts";
import type { AskedQuestion, LiveAgent, OpenQuestion } from "./live-agents.ts";
import type { RunLifecycle } from "./run-lifecycle.ts";
import { announceAnswer, announceQuestion } from "./waiting.ts";

export interface QuestionsOptions {
	store: Store;
	lifecycle: RunLifecycle;
	clock: Clock;
	audience: Audience | undefined;
	/** Called for each question with its addressee; again when it is passed on. */
	onQuestion: ((question: AskedQuestion) => void) | undefined;
}

export class Questions {
	readonly #options: QuestionsOptions;
	/** Agents blocked in a waiting call, with how many. They cannot take a turn to answer. */
	readonly #blocked = new Map<string, number>();

	constructor(options: QuestionsOptions) {
		this.#options = options;
		options.store.subscribe(({ event }) => {
			if (event.type === "agent_settled") this.#passOn(event.agentId);
		});
	}

	/** Resolves with the answer, or immediately if no one can give one. `aboutId` is the ancestor it is about. */
	ask(
		asker: LiveAgent,
		question: Question,
		{ aboutId, signal }: { aboutId?: string; signal?: AbortSignal | undefined } = {},
	): Promise<Answer> {
		const addressee = question.isForUser ? this.#person() : this.#addresseeOf(aboutId ?? asker.id);
		if (addressee.who === "nobody" || signal?.aborted) return Promise.resolve(unanswered(question, "absent"));
		const about = aboutId === undefined ? {} : { aboutId };
		return this.#open(asker, { ...question, agentId: asker.id, ...about, addressee }, signal);
	}

	/** Whether a question about this agent would reach anyone. */
	canAskAbout(id: string): boolean {
		return this.#addresseeOf(id).who !== "nobody";
	}

	/** Open questions, oldest first. */
	open(): AskedQuestion[] {
		return this.#options.lifecycle.liveAgents().flatMap(({ question }) => (question ? [question.asked] : []));
	}

	/** The session had its turn and did not answer: the user is asked, or the question ends if there is none. */
	passToUser(asked: AskedQuestion): void {
		const question = this.#options.lifecycle.live(asked.agentId)?.question;
		if (question?.asked === asked) this.#readdress(question, this.#person());
	}

	/** A waiting agent lends its slot and cannot answer. Returns a function that undoes both. */
	block(id: string | undefined): () => void {
		const live = id === undefined ? undefined : this.#options.lifecycle.live(id);
		if (id === undefined || !live) return () => undefined;
		const takeBack = this.#options.lifecycle.slots.lend(id);
		const goOn = live.watchdog.hold();
		this.#blocked.set(id, (this.#blocked.get(id) ?? 0) + 1);
		this.#passOn(id);
		let isOver = false;
		return () => {
			if (isOver) return;
			isOver = true;
			const left = (this.#blocked.get(id) ?? 1) - 1;
			if (left > 0) this.#blocked.set(id, left);
			else this.#blocked.delete(id);
			goOn();
			takeBack();
		};
	}

	#open(live: LiveAgent, asked: AskedQuestion, signal: AbortSignal | undefined): Promise<Answer> {
		return new Promise((resolve) => {
			const takeBack = this.block(live.id);
			const open: OpenQuestion = {
				asked,
				answer: (given) => {
					if (live.question !== open) return; // answered before
					delete live.question;
					cancel?.();
					signal?.removeEventListener("abort", onAbort);
					announceAnswer(this.#options, live, given.by);
					takeBack();
					resolve(given);
				},
			};
			const onAbort = () => open.answer({ by: "nobody" });
			const late = () => open.answer(unanswered(asked, "timeout"));
			const cancel = asked.timeoutMs === undefined ? undefined : this.#options.clock.after(asked.timeoutMs, late);
			live.question = open;
			signal?.addEventListener("abort", onAbort, { once: true });
			this.#bring(asked);
		});
	}

	#bring(asked: AskedQuestion): void {
		const { addressee, agentId } = asked;
		const { lifecycle, onQuestion } = this.#options;
		announceQuestion(this.#options, asked);
		const answerer = addressee.who === "agent" ? lifecycle.live(addressee.agentId) : undefined;
		if (answerer) lifecycle.steer(answerer, questionMessage(agentId, asked));
		onQuestion?.(asked);
	}

	/** An agent that can no longer answer must not be waited for: its questions go to the next addressee, or end. */
	#passOn(agentId: string): void {
		for (const { id, question } of this.#options.lifecycle.liveAgents()) {
			const addressee = question?.asked.addressee;
			if (!question || addressee?.who !== "agent" || addressee.agentId !== agentId) continue;
			this.#readdress(question, this.#addresseeOf(question.asked.aboutId ?? id));
		}
	}

	#readdress(question: OpenQuestion, next: Addressee): void {
		if (next.who === "nobody") {
			question.answer(unanswered(question.asked, "absent"));
			return;
		}
		question.asked = { ...question.asked, addressee: next };
		this.#bring(question.asked);
	}

	#person(): Addressee {
		return { who: this.#options.audience?.userCanAnswer() ? "user" : "nobody" };
	}

	#addresseeOf(id: string): Addressee {
		const { store, lifecycle, audience } = this.#options;
		const record = store.record(id);
		const isBlocked = (each: string) => this.#blocked.has(each);
		return record ? addresseeOf(record, lifecycle.tree.ancestorsOf(id), isBlocked, audience) : { who: "nobody" };
	}
}
