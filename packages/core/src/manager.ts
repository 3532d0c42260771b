/**
 * What may be asked of agents: launch, wait, steer, stop, ask, answer, resume. It alone dispatches events;
 * everything that others see of an agent is its record in the store.
 */
import type { Outcome } from "@pi-subagents/progress";
import { type Answer, type Audience, type Question, unanswered } from "./asking.ts";
import { isYes } from "./budget.ts";
import type { Clock } from "./clock.ts";
import { Conductor } from "./conductor.ts";
import { AgentError } from "./error.ts";
import type { AgentEvent, RunnerName } from "./event.ts";
import type { AdoptedRun, AskedQuestion, LiveAgent } from "./live.ts";
import { Questions } from "./questions.ts";
import type { AgentRecord } from "./record.ts";
import type { RunIdentity, Runner, RunSpec, Stop } from "./runner.ts";
import { ManagerScope } from "./scope.ts";
import type { SlotsSnapshot } from "./slots.ts";
import type { SlotLimits } from "./slots-limits.ts";
import { Store } from "./store.ts";

export interface ManagerOptions {
	runners: Partial<Record<RunnerName, Runner>>;
	clock: Clock;
	newId: () => string;
	/** From 0 to below 1; `Math.random` when absent. */
	random?: () => number;
	store?: Store;
	/** How many may run at once; 8, and the rest queue, when absent. */
	slots?: SlotLimits;
	/** How deep agents may launch agents, asked at each launch; 4 when absent. */
	maxDepth?: () => number;
	/** Who outside the tree can answer questions. Nobody when absent. */
	audience?: Audience;
	/** Hears of each question, with the one it goes to. */
	onQuestion?: (question: AskedQuestion) => void;
}

/** What a launch says beside the spec. */
export interface LaunchOptions {
	name?: string;
	/** Nobody waits for the result in the call that launched it. */
	isBackground?: boolean;
	parentAgentId?: string;
}

export interface WaitOptions {
	signal?: AbortSignal;
	/** The agent that waits, if one does: it lends its slot meanwhile. */
	waiterId?: string;
}

/** It stands in lists and messages beside many others. */
const LONGEST_NAME = 100;

export class Manager {
	readonly store: Store;
	readonly #options: ManagerOptions;
	readonly #conductor: Conductor;
	readonly #questions: Questions;
	#isShutDown = false;

	constructor(options: ManagerOptions) {
		this.#options = options;
		this.store = options.store ?? new Store();
		this.#conductor = new Conductor({
			store: this.store,
			runners: options.runners,
			clock: options.clock,
			random: options.random ?? Math.random,
			slots: options.slots ?? { maxConcurrent: 8, whenFull: "queue" },
			mayExtend: (askerId, payer, used) => this.#mayExtend(askerId, payer, used),
		});
		const { clock, audience, onQuestion } = options;
		this.#questions = new Questions({ store: this.store, conductor: this.#conductor, clock, audience, onQuestion });
	}

	/** Launches an agent, or queues it, and returns its record. A run that cannot start is a failed outcome, not an error. */
	spawn(spec: RunSpec, { name: asked = "", parentAgentId, isBackground = false }: LaunchOptions = {}): AgentRecord {
		this.#assertOpen();
		const name = asked.trim();
		if (name.length > LONGEST_NAME)
			throw new AgentError(
				"bad_request",
				`The name is too long: ${name.length} characters, and at most ${LONGEST_NAME} can be used.`,
			);
		const depth = parentAgentId === undefined ? 1 : this.#recordOf(parentAgentId).depth + 1;
		const maxDepth = this.#options.maxDepth?.() ?? 4;
		if (depth > maxDepth) {
			const message = `Agents may launch agents down to level ${maxDepth}, and this would be level ${depth}. Do the work here instead.`;
			throw new AgentError("too_deep", message);
		}
		if (parentAgentId !== undefined) this.#liveOf(parentAgentId, "launch agents");
		const id = this.#unusedId();
		this.#conductor.queue(id, spec, {
			...(name === "" ? {} : { name }),
			...(parentAgentId === undefined ? {} : { parentAgentId }),
			depth,
			isBackground,
		});
		return this.#recordOf(id);
	}

	/** Runs a settled agent again, with a new task. Its runner continues the conversation, where it was kept. */
	resume(id: string, spec: RunSpec, options: Pick<LaunchOptions, "isBackground"> = {}): AgentRecord {
		this.#assertOpen();
		const { outcome, status, name, parentAgentId, depth, isBackground } = this.#recordOf(id);
		if (!outcome) throw new AgentError("wrong_state", `Agent ${id} is ${status}; steer it instead of resuming it.`);
		this.#conductor.queue(id, spec, {
			...(name === undefined ? {} : { name }),
			...(parentAgentId === undefined ? {} : { parentAgentId }),
			depth,
			isBackground: options.isBackground ?? isBackground,
		});
		return this.#recordOf(id);
	}

	/**
	 * Takes in an agent whose run an earlier process started, and rejoins that run. One that cannot be rejoined settles
	 * as aborted by `lost`.
	 */
	adopt(adopted: AdoptedRun): AgentRecord {
		this.#assertOpen();
		const known = this.store.record(adopted.id);
		if (known && !(known.outcome && adopted.run === known.run + 1)) {
			const message = `Agent ${adopted.id} is ${known.status} here, in run ${known.run}; its run ${adopted.run} cannot be taken in.`;
			throw new AgentError("wrong_state", message);
		}
		this.#conductor.adopt(adopted);
		return this.#recordOf(adopted.id);
	}

	/** What a live agent was launched with, and where its present run is kept. */
	specOf(id: string): (RunSpec & RunIdentity) | undefined {
		return this.#conductor.live(id)?.spec;
	}

	/**
	 * Resolves when the agent has settled, at once if it has. Rejects when `signal` ends the waiting, and when we shut
	 * down and the agent lives on.
	 */
	wait(id: string, { signal, waiterId }: WaitOptions = {}): Promise<Outcome> {
		const { outcome } = this.#recordOf(id);
		const live = this.#conductor.live(id);
		if (outcome) return Promise.resolve(outcome);
		if (!live) throw new AgentError("wrong_state", `Agent ${id} has not settled, and this process does not run it.`);
		if (signal?.aborted) return Promise.reject(signal.reason);
		return new Promise((resolve, reject) => {
			const takeBack = this.#questions.block(waiterId);
			const onAbort = () => {
				live.waiters.delete(waiter);
				takeBack();
				reject(signal?.reason);
			};
			const waiter = {
				takeBack,
				resolve: (settled: Outcome) => {
					signal?.removeEventListener("abort", onAbort);
					resolve(settled);
				},
				reject: (error: Error) => {
					signal?.removeEventListener("abort", onAbort);
					reject(error);
				},
			};
			signal?.addEventListener("abort", onAbort, { once: true });
			live.waiters.add(waiter);
		});
	}

	/** Nobody waits for the agent any more: it goes on in the background. */
	leave(id: string): void {
		this.#liveOf(id, "go on in the background");
		this.#conductor.dispatch(id, { type: "agent_left" });
	}

	/** Gives a live agent a message; a queued one hears it when it starts. */
	steer(id: string, message: string): void {
		this.#conductor.steer(this.#liveOf(id, "be steered"), message);
	}

	/** Asks a live agent to answer now with what it has. */
	wrapUp(id: string, reason?: string): void {
		this.#conductor.tell(this.#liveOf(id, "be asked to finish"), (run) => run.wrapUp(reason));
	}

	/** Stops the agent and all that it launched. They have settled when this returns; what they used is cleaned up behind. */
	abort(id: string, stop: Stop): void {
		this.#recordOf(id);
		this.#conductor.stop(id, stop);
	}

	/**
	 * How the run ended is in its files, all of it: from now on the agent's record holds how a long answer begins, and
	 * whoever wants the rest reads the files.
	 */
	filed({ agentId, run }: RunIdentity): void {
		if (this.store.record(agentId)?.run === run) this.#conductor.dispatch(agentId, { type: "agent_filed" });
	}

	/** A running agent asks. Resolves with the answer, or at once with `nobody` where none is to be had. */
	ask(id: string, question: Question, signal?: AbortSignal): Promise<Answer> {
		const live = this.#liveOf(id, "ask");
		if (live.question)
			throw new AgentError("wrong_state", `Agent ${id} already waits for the answer to another question.`);
		return this.#questions.ask(live, question, { signal });
	}

	/** Answers an agent's open question. */
	answer(id: string, text: string, by: "agent" | "session" | "user"): void {
		const { status } = this.#recordOf(id);
		const question = this.#conductor.live(id)?.question;
		if (!question) throw new AgentError("wrong_state", `Agent ${id} is ${status}; it does not wait for an answer.`);
		question.answer({ by, text });
	}

	/** Nobody will answer the agent's open question: it has its default, or its own judgement. */
	decline(id: string): void {
		const question = this.#conductor.live(id)?.question;
		question?.answer(unanswered(question.asked));
	}

	/** The questions that wait for an answer, oldest first. */
	questions(): AskedQuestion[] {
		return this.#questions.open();
	}

	/** What an agent may see and do with agents: its own descendants, and no others. */
	scope(parentId: string): ManagerScope {
		const allowed = () => this.#conductor.live(parentId)?.spec.subagents;
		return new ManagerScope({ manager: this, family: this.#conductor.family, parentId, allowed });
	}

	slots(): SlotsSnapshot {
		return this.#conductor.slots.snapshot();
	}

	/** Takes effect at once; nobody who runs is stopped. */
	setSlots(limits: SlotLimits): void {
		this.#conductor.slots.setLimits(limits);
	}

	/** Takes in the events of an earlier process. What had not settled there ended with it. */
	restore(events: Iterable<AgentEvent>): void {
		for (const event of events) this.store.dispatch(event);
		for (const { id, outcome } of this.store.atHand()) {
			if (outcome || this.#conductor.live(id)) continue;
			this.#conductor.dispatch(id, { type: "agent_settled", outcome: { status: "aborted", by: "shutdown" } });
		}
	}

	/** Stops every live agent, or lets it go where it outlives us, and resolves when the children of the stopped are gone. */
	async shutdown(): Promise<void> {
		this.#isShutDown = true;
		this.#conductor.close({ by: "shutdown" });
		await this.#conductor.cleanedUp();
	}

	/** Pausing and asking is kinder than killing; but without anybody to ask, the limit is the limit. */
	async #mayExtend(askerId: string, payer: AgentRecord, used: string): Promise<boolean> {
		const asker = this.#conductor.live(askerId);
		if (!asker || asker.question) return false;
		const question = `Agent ${payer.id} (${payer.type}) has used ${used}. May it go on with as much again? (yes/no)`;
		const answer = await this.#questions.ask(asker, { question }, { aboutId: payer.id });
		return answer.by !== "nobody" && isYes(answer.text);
	}

	#assertOpen(): void {
		if (this.#isShutDown)
			throw new AgentError("shut_down", "The session is ending; no agent can be launched any more.");
	}

	#unusedId(): string {
		for (;;) {
			const id = this.#options.newId();
			if (!this.store.record(id)) return id;
		}
	}

	#liveOf(id: string, what: string): LiveAgent {
		const { status } = this.#recordOf(id);
		const live = this.#conductor.live(id);
		if (!live) throw new AgentError("wrong_state", `Agent ${id} is ${status}; it cannot ${what} any more.`);
		return live;
	}

	#recordOf(id: string): AgentRecord {
		const record = this.store.record(id);
		if (!record) throw new AgentError("unknown_agent", `There is no agent ${id}.`);
		return record;
	}
}
