/** Runs a child as a pi session inside this process: cheap to start, sharing the parent's models and credentials. */
import type { AgentSession, AgentSessionEvent } from "@earendil-works/pi-coding-agent";
import { normalize, type Outcome } from "@pi-subagents/progress";
import { bestEffort, messageOf } from "../best-effort.ts";
import { type Clock, systemClock } from "../clock.ts";
import { LastWords } from "../last-words.ts";
import { abortedOutcome, outcomeOf } from "../outcome.ts";
import type { Checkpoint, Emit, Run, RunIdentity, Runner, RunSpec, Stop } from "../runner.ts";
import { Sequel } from "../sequel.ts";
import { standBetweenTurns } from "./between-turns.ts";
import { openConversation } from "./conversation.ts";
import { converse, type Dialogue } from "./dialogue.ts";
import type { SessionHost } from "./host.ts";
import { Mailbox } from "./mailbox.ts";
import { type Child, openChild, UnavailableModel } from "./open.ts";
import { untilStopped } from "./patience.ts";
import { wrapUpMessage } from "./prompt.ts";
import { SharedResources } from "./resources.ts";
import { TurnLimit } from "./turn-limit.ts";
import { Turns } from "./turns.ts";

/**
 * @example
 * ```ts
 * const manager = new Manager({ runners: { session: sessionRunner(host) }, clock: systemClock, newId });
 * ```
 */
export function sessionRunner(host: SessionHost): Runner {
	const resources = new SharedResources();
	const turns = new Turns();
	return { start: (spec, emit, checkpoint) => new SessionRun({ host, resources, turns, emit, checkpoint }, spec) };
}

interface Surroundings {
	host: SessionHost;
	resources: SharedResources;
	turns: Turns;
	emit: Emit;
	checkpoint: Checkpoint | undefined;
}

class SessionRun implements Run {
	readonly settled: Promise<Outcome>;
	readonly #around: Surroundings;
	readonly #spec: RunSpec & RunIdentity;
	readonly #limit: TurnLimit;
	readonly #sequel: Sequel;
	readonly #words = new LastWords();
	readonly #stopping = new AbortController();
	readonly #clock: Clock;
	readonly #mailbox: Mailbox;
	#session: AgentSession | undefined;
	#stop: Stop | undefined;
	/** It was ended between two turns or its answer was judged, and how that is told. */
	#ended: (() => Outcome) | undefined;
	#isMuted = false;
	#wrapUpReason = "the turn limit is reached";

	constructor(around: Surroundings, spec: RunSpec & RunIdentity) {
		this.#around = around;
		this.#spec = spec;
		this.#limit = new TurnLimit(spec.limits);
		this.#clock = around.host.clock ?? systemClock;
		this.#sequel = new Sequel(spec, this.#clock);
		this.#mailbox = new Mailbox(this.#clock);
		this.settled = this.#live();
	}

	abort(stop: Stop): void {
		if (this.#stop) return;
		this.#stop = stop;
		this.#stopping.abort();
		this.#endSession();
	}

	steer(message: string): void {
		if (!this.#isOver) this.#mailbox.say(this.#session, message);
	}

	/** Takes effect between two turns: a child that is just giving its answer is not asked for it again. */
	wrapUp(reason?: string): void {
		if (reason !== undefined && !this.#limit.isDue) this.#wrapUpReason = reason;
		this.#limit.hurry();
	}

	get #isOver(): boolean {
		return this.#stop !== undefined || this.#ended !== undefined;
	}

	async #live(): Promise<Outcome> {
		try {
			const child = await this.#open();
			if (child) {
				try {
					await this.#converse(child.session);
				} finally {
					this.#session = undefined; // whoever keeps the run keeps no conversation
					await child.close();
				}
			}
			return this.#judge();
		} catch (error) {
			return this.#stop ? this.#judge() : { status: "failed", error: messageOf(error) };
		}
	}

	/** With the first of its models that there is. */
	async #open(): Promise<Child | undefined> {
		const { host, resources, turns, emit } = this.#around;
		const askedAt = performance.now();
		const conversation = openConversation(host, this.#spec); // the disk is at work while others are set up
		conversation.catch(() => undefined); // heard by whoever opens the child, if it comes to that
		await turns.take();
		let spec = this.#spec;
		for (;;) {
			try {
				return await openChild({ host, resources, conversation, askedAt, signal: this.#stopping.signal }, spec);
			} catch (error) {
				const other =
					error instanceof UnavailableModel && !this.#stop ? this.#sequel.fallBack(error.message) : undefined;
				if (!other) throw error;
				emit(other);
				spec = { ...spec, model: other.to };
			}
		}
	}

	#judge(): Outcome {
		if (this.#stop) return abortedOutcome(this.#stop, this.#words.said);
		if (this.#ended) return this.#ended();
		const outcome = this.#words.outcome();
		return outcome.status === "completed" && this.#limit.isWrappingUp ? { ...outcome, wrappedUp: true } : outcome;
	}

	async #converse(session: AgentSession): Promise<void> {
		this.#session = session;
		// Together, or a wish to wrap up would wait in line behind other messages, one turn for each.
		session.agent.steeringMode = "all";
		const leave = standBetweenTurns(session, {
			count: () => this.#limit.count(),
			afterTurn: () => this.#afterTurn(session),
			beforeRetry: () => this.#beforeRetry(),
			isOver: () => this.#isOver,
		});
		const unsubscribe = session.subscribe((raw) => this.#hear(session, raw));
		try {
			if (this.#limit.verdict === "wrap_up") this.#wrapUp(session);
			await converse(this.#dialogueWith(session));
		} finally {
			unsubscribe();
			leave();
		}
	}

	#dialogueWith(session: AgentSession): Dialogue {
		const { emit } = this.#around;
		return {
			session,
			sequel: this.#sequel,
			mailbox: this.#mailbox,
			thinking: this.#spec.thinking,
			stopping: this.#stopping.signal,
			isOver: () => this.#isOver,
			verdict: () => ({ outcome: this.#judge(), last: this.#words.last }),
			mayGoOn: async (otherwise) =>
				(this.#limit.verdict === "end" ? this.#end(() => otherwise) : await this.#pass(otherwise)) === "go",
			end: (outcome) => this.#end(() => outcome),
			failed: (why) => this.#failed(why),
			emit,
			clock: this.#clock,
			report: this.#report,
		};
	}

	#hear(session: AgentSession, raw: AgentSessionEvent): void {
		// pi would go on with what is queued, or shorten a context that nobody needs.
		if (this.#ended && raw.type === "agent_end") this.#endSession();
		if (raw.type === "agent_start" && !this.#isOver) {
			// Between the call and this moment pi was not yet busy, so nothing could reach it.
			if (this.#limit.verdict === "wrap_up") this.#wrapUp(session);
			this.#mailbox.deliver(session);
		}
		for (const event of normalize(raw)) {
			if (this.#stop || this.#isMuted) return;
			this.#words.hear(event);
			this.#sequel.hear(event);
			this.#around.emit(event.type === "turn" ? { ...event, ...fullnessOf(session) } : event);
		}
	}

	async #afterTurn(session: AgentSession): Promise<"go" | "end"> {
		if (this.#limit.verdict === "end") {
			const stop: Stop = { by: "turns", reason: `no answer after ${this.#limit.turns} turns` };
			return this.#end(() => abortedOutcome(stop, this.#words.said));
		}
		if ((await this.#pass()) === "end") return "end";
		if (this.#limit.verdict === "wrap_up") this.#wrapUp(session);
		return "go";
	}

	async #beforeRetry(): Promise<void> {
		if ((await this.#pass()) === "go") return;
		this.#isMuted = true; // pi will say that the request was aborted; the failure before it is what counts
		this.#endSession();
	}

	/**
	 * Asks whoever watches over the run. A checkpoint that fails may guard money, so nothing passes it. `answered` is how
	 * a run ends that had given its answer and was to mend it.
	 */
	async #pass(answered?: Outcome): Promise<"go" | "end"> {
		const { checkpoint } = this.#around;
		if (!checkpoint) return "go";
		try {
			const word = await untilStopped(checkpoint(), this.#stopping.signal);
			// What a child says on the way is not its answer: ended early, the run has failed, with that as its partial text.
			return word === "go" ? word : this.#end(() => answered ?? this.#words.outcome());
		} catch (error) {
			return this.#end(() => this.#failed(messageOf(error)));
		}
	}

	#failed(error: string): Outcome {
		return outcomeOf({ type: "assistant_text", text: "", error }, this.#words.said);
	}

	#end(outcome: () => Outcome): "end" {
		this.#ended ??= outcome;
		return "end";
	}

	#wrapUp(session: AgentSession): void {
		this.#limit.startGrace();
		session.setActiveToolsByName([]);
		this.#mailbox.say(session, wrapUpMessage(this.#wrapUpReason));
	}

	/** Ends the pending prompt, and that settles the run. */
	#endSession(): void {
		const session = this.#session;
		const abort = () => bestEffort("stopping an agent", this.#report, () => session?.abort());
		void abort();
		queueMicrotask(abort); // pi announces a retry just before it can be cancelled
	}

	readonly #report = (message: string): void => this.#around.host.report?.(message);
}

/** How full the context is; pi does not know it right after a compaction. */
function fullnessOf(session: AgentSession): { contextPercent?: number } {
	const percent = session.getContextUsage()?.percent;
	return typeof percent === "number" ? { contextPercent: percent } : {};
}
