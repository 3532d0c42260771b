/**
 * The questions of agents: opened, brought to who can answer, passed on when that one no longer can, and answered once.
 * Private to the manager.
 */
import {
	type Addressee,
	type Answer,
	type Audience,
	addresseeOf,
	type Question,
	questionMessage,
	unanswered,
} from "./asking.ts";
import type { Clock } from "./clock.ts";
import type { Conductor } from "./conductor.ts";
import type { AskedQuestion, LiveAgent, OpenQuestion } from "./live.ts";
import type { Store } from "./store.ts";

export interface QuestionsOptions {
	store: Store;
	conductor: Conductor;
	clock: Clock;
	audience: Audience | undefined;
	/** Hears of each question, with the one it goes to; again when it is passed on. */
	onQuestion: ((question: AskedQuestion) => void) | undefined;
}

export class Questions {
	readonly #options: QuestionsOptions;
	/** Who waits in a call, and how often. Such a one cannot take a turn to answer. */
	readonly #blocked = new Map<string, number>();

	constructor(options: QuestionsOptions) {
		this.#options = options;
		options.store.subscribe((event) => {
			if (event.type === "agent_settled") this.#passOn(event.agentId);
		});
	}

	/** Resolves with the answer, or at once where none is to be had. `aboutId` is the agent above whose concern it is. */
	ask(
		asker: LiveAgent,
		question: Question,
		{ aboutId, signal }: { aboutId?: string; signal?: AbortSignal | undefined } = {},
	): Promise<Answer> {
		const addressee = this.#addresseeOf(aboutId ?? asker.id);
		if (addressee.who === "nobody" || signal?.aborted) return Promise.resolve(unanswered(question));
		const about = aboutId === undefined ? {} : { aboutId };
		return this.#open(asker, { ...question, agentId: asker.id, ...about, addressee }, signal);
	}

	/** Those that wait for an answer, oldest first. */
	open(): AskedQuestion[] {
		return this.#options.conductor.lives().flatMap(({ question }) => (question ? [question.asked] : []));
	}

	/** Who waits lends its slot and cannot answer. Returns the way back. */
	block(id: string | undefined): () => void {
		const live = id === undefined ? undefined : this.#options.conductor.live(id);
		if (id === undefined || !live) return () => undefined;
		const takeBack = this.#options.conductor.slots.lend(id);
		const goOn = this.#options.conductor.hold(live);
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
					this.#options.conductor.dispatch(live.id, { type: "agent_answered" });
					takeBack();
					resolve(given);
				},
			};
			const onAbort = () => open.answer({ by: "nobody" });
			const late = () => open.answer(unanswered(asked));
			const cancel = asked.timeoutMs === undefined ? undefined : this.#options.clock.after(asked.timeoutMs, late);
			live.question = open;
			signal?.addEventListener("abort", onAbort, { once: true });
			this.#options.conductor.dispatch(live.id, { type: "agent_asked", question: asked.question });
			this.#bring(asked);
		});
	}

	#bring(asked: AskedQuestion): void {
		const { addressee, agentId } = asked;
		const { conductor, onQuestion } = this.#options;
		const answerer = addressee.who === "agent" ? conductor.live(addressee.agentId) : undefined;
		if (answerer) conductor.steer(answerer, questionMessage(agentId, asked));
		onQuestion?.(asked);
	}

	/** One who can no longer answer must not be waited for: its questions go to the next who can, or end. */
	#passOn(agentId: string): void {
		for (const { id, question } of this.#options.conductor.lives()) {
			const addressee = question?.asked.addressee;
			if (!question || addressee?.who !== "agent" || addressee.agentId !== agentId) continue;
			const next = this.#addresseeOf(question.asked.aboutId ?? id);
			if (next.who === "nobody") question.answer(unanswered(question.asked));
			else {
				question.asked = { ...question.asked, addressee: next };
				this.#bring(question.asked);
			}
		}
	}

	#addresseeOf(id: string): Addressee {
		const { store, conductor, audience } = this.#options;
		const record = store.record(id);
		const isBlocked = (each: string) => this.#blocked.has(each);
		return record ? addresseeOf(record, conductor.family.ancestorsOf(id), isBlocked, audience) : { who: "nobody" };
	}
}
