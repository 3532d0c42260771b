/** Runs a child as a pi session inside this process: cheap to start, sharing the parent's models and credentials. */
import type { AgentSession, AgentSessionEvent } from "@earendil-works/pi-coding-agent";
import { type CutBy, normalize, type Outcome, textDelta } from "@pi-subagents/progress";
import { bestEffort, messageOf } from "../base/best-effort.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { untilStopped } from "../base/timeouts.ts";
import { AnswerCheck } from "../conversation/answer-check.ts";
import { notCompacted } from "../conversation/conversation-loop.ts";
import { LiveText } from "../conversation/live-text.ts";
import { TurnLimit, wrapUpMessage } from "../conversation/turn-limit.ts";
import { FinalMessage } from "../model/final-message.ts";
import type { PieceListener } from "../model/live-piece.ts";
import { abortedOutcome, outcomeOf } from "../model/outcome.ts";
import type { Checkpoint, ChildSession, Emit, Run, RunIdentity, Runner, RunSpec, Stop } from "../model/runner.ts";
import { SharedTap } from "../providers/response-tap.ts";
import { type ProviderResponse, RetryAfter } from "../providers/retry-after.ts";
import { Verifier } from "../verify/verification.ts";
import { type Child, createChildSession, UnavailableModel } from "./create-child-session.ts";
import { converse, type Dialogue } from "./dialogue.ts";
import { openConversation } from "./history/conversation.ts";
import { Mailbox } from "./mailbox.ts";
import { observable } from "./observable.ts";
import type { SessionHost } from "./resources/host.ts";
import { SharedResources } from "./resources/resources.ts";
import { StartupBatcher } from "./startup-batcher.ts";
import { hookTurns } from "./turn-hooks.ts";

/**
 * @example
 * ```ts
 * const manager = new Manager({ runners: { session: sessionRunner(host) }, clock: systemClock, newId });
 * ```
 */
export function sessionRunner(host: SessionHost): Runner {
	const resources = new SharedResources();
	const batcher = new StartupBatcher();
	const tap = new SharedTap();
	return {
		start: (spec, emit, checkpoint) => new SessionRun({ host, resources, batcher, tap, emit, checkpoint }, spec),
	};
}

interface RunContext {
	host: SessionHost;
	resources: SharedResources;
	batcher: StartupBatcher;
	/** Observes providers' responses. */
	tap: SharedTap;
	emit: Emit;
	checkpoint: Checkpoint | undefined;
}

class SessionRun implements Run {
	readonly settled: Promise<Outcome>;
	readonly #context: RunContext;
	readonly #spec: RunSpec & RunIdentity;
	readonly #limit: TurnLimit;
	readonly #answerCheck: AnswerCheck;
	readonly #verifier: Verifier;
	readonly #finalMessage = new FinalMessage();
	readonly #liveText: LiveText;
	readonly #retryAfter = new RetryAfter();
	readonly #stopping = new AbortController();
	readonly #clock: Clock;
	readonly #mailbox: Mailbox;
	#session: AgentSession | undefined;
	#stop: Stop | undefined;
	/** Set if the run was ended between two turns or its answer was judged: its outcome. */
	#ended: (() => Outcome) | undefined;
	#isMuted = false;

	constructor(context: RunContext, spec: RunSpec & RunIdentity) {
		this.#context = context;
		this.#spec = spec;
		this.#limit = new TurnLimit(spec.limits);
		this.#clock = context.host.clock ?? systemClock;
		this.#verifier = new Verifier(spec, {
			clock: this.#clock,
			emit: (event) => {
				if (!this.#isOver) context.emit(event);
			},
		});
		this.#answerCheck = new AnswerCheck(spec, this.#clock, this.#verifier);
		this.#liveText = new LiveText(this.#clock);
		this.#mailbox = new Mailbox(this.#clock);
		this.settled = this.#live();
	}

	abort(stop: Stop): void {
		if (this.#stop) return;
		this.#stop = stop;
		this.#stopping.abort();
		void this.#verifier.stop();
		this.#endSession();
	}

	steer(message: string): void {
		if (!this.#isOver) this.#mailbox.say(this.#session, message);
	}

	/** Takes effect between two turns: a child that is giving its answer is not asked for it again. */
	wrapUp(reason?: string, by?: CutBy): void {
		this.#limit.hurry(reason, by);
	}

	watch(listener: PieceListener): () => void {
		return this.#liveText.watch(listener);
	}

	get partial(): string | undefined {
		return this.#finalMessage.partial;
	}

	get session(): ChildSession | undefined {
		return this.#session && observable(this.#session, this.#report);
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
					await this.#verifier.stop();
					this.#session = undefined; // a reference to the run must not keep the conversation in memory
					await child.close();
				}
			}
			return this.#currentOutcome();
		} catch (error) {
			return this.#stop ? this.#currentOutcome() : { status: "failed", error: messageOf(error) };
		}
	}

	/** With the first of its models that is available. */
	async #open(): Promise<Child | undefined> {
		const { host, resources, batcher, emit } = this.#context;
		const askedAt = performance.now();
		const conversation = openConversation(host, this.#spec); // reads the disk while others are set up
		conversation.catch(() => undefined); // awaited when the child is created
		await batcher.take();
		let spec = this.#spec;
		for (;;) {
			try {
				return await createChildSession(
					{
						host,
						resources,
						conversation,
						askedAt,
						signal: this.#stopping.signal,
						onGuardFailure: (why) => this.#refuseToStart(why),
					},
					spec,
				);
			} catch (error) {
				const other =
					error instanceof UnavailableModel && !this.#stop ? this.#answerCheck.fallBack(error.message) : undefined;
				if (!other) throw error;
				emit(other);
				spec = { ...spec, model: other.to };
			}
		}
	}

	#currentOutcome(): Outcome {
		if (this.#stop) return abortedOutcome(this.#stop, this.partial);
		if (this.#ended) return this.#ended();
		const outcome = this.#finalMessage.outcome();
		return this.#limit.markCut(outcome);
	}

	async #converse(session: AgentSession): Promise<void> {
		this.#session = session;
		// Together: otherwise a wrap-up would wait behind other messages, one turn for each.
		session.agent.steeringMode = "all";
		const leave = hookTurns(session, {
			count: () => this.#limit.count(),
			afterTurn: () => this.#afterTurn(session),
			beforeRetry: () => this.#beforeRetry(),
			isOver: () => this.#isOver,
			whileAsking: (request, ask) => {
				this.#retryAfter.forget();
				return this.#context.tap.during(this.#hearResponse, request, ask);
			},
			onResponse: this.#hearResponse,
		});
		const closeTap = this.#context.tap.open();
		const unsubscribe = session.subscribe((raw) => this.#hear(session, raw));
		try {
			if (this.#spec.compactsFirst) await this.#compact(session);
			if (this.#limit.verdict === "wrap_up") this.#wrapUp(session);
			await converse(this.#dialogueWith(session));
		} finally {
			unsubscribe();
			this.#liveText.close();
			closeTap();
			leave();
		}
	}

	async #compact(session: AgentSession): Promise<void> {
		const failure = session.compact().then(() => undefined, messageOf);
		const why = await untilStopped(failure, this.#stopping.signal); // a stop also aborts the compaction
		if (why !== undefined && !this.#isOver) this.#report(`Agent ${this.#spec.agentId}: ${notCompacted(why)}`);
	}

	#dialogueWith(session: AgentSession): Dialogue {
		const { emit } = this.#context;
		return {
			session,
			answerCheck: this.#answerCheck,
			mailbox: this.#mailbox,
			thinking: this.#spec.thinking,
			stopping: this.#stopping.signal,
			isOver: () => this.#isOver,
			verdict: () => ({ outcome: this.#currentOutcome(), last: this.#finalMessage.last }),
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
		// Otherwise pi would continue with queued messages, or compact a context that is no longer needed.
		if (this.#ended && raw.type === "agent_end") this.#endSession();
		if (raw.type === "agent_start" && !this.#isOver) {
			// Until now pi was not running, so nothing could be delivered.
			if (this.#limit.verdict === "wrap_up") this.#wrapUp(session);
			this.#mailbox.deliver(session);
		}
		if (!this.#stop) {
			this.#liveText.hear(raw);
			this.#finalMessage.write(textDelta(raw));
		}
		for (const plain of normalize(raw)) {
			const event = this.#retryAfter.addTo(plain);
			if (this.#stop || this.#isMuted) return;
			this.#finalMessage.hear(event);
			this.#answerCheck.hear(event);
			this.#context.emit(event.type === "turn" ? { ...event, ...fullnessOf(session) } : event);
		}
	}

	async #afterTurn(session: AgentSession): Promise<"go" | "end"> {
		if (this.#limit.verdict === "end") {
			const stop: Stop = { by: "turns", reason: `no answer after ${this.#limit.turns} turns` };
			return this.#end(() => abortedOutcome(stop, this.#finalMessage.said));
		}
		if ((await this.#pass()) === "end") return "end";
		if (this.#limit.verdict === "wrap_up") this.#wrapUp(session);
		return "go";
	}

	async #beforeRetry(): Promise<void> {
		if ((await this.#pass()) === "go") return;
		this.#isMuted = true; // pi will report the request as aborted; the failure before it counts
		this.#endSession();
	}

	/**
	 * Passes the checkpoint. A failed one may guard money, so nothing passes it. `answered` is the outcome of a run
	 * that had answered and was to correct that.
	 */
	async #pass(answered?: Outcome): Promise<"go" | "end"> {
		const { checkpoint } = this.#context;
		if (!checkpoint) return "go";
		try {
			const word = await untilStopped(checkpoint(), this.#stopping.signal);
			// Interim text is not the answer: ended early, the run has failed, with that as its partial text.
			return word === "go" ? word : this.#end(() => answered ?? this.#finalMessage.outcome());
		} catch (error) {
			return this.#end(() => this.#failed(messageOf(error)));
		}
	}

	/** A guard failed before a request: none is made from now on. */
	#refuseToStart(why: string): void {
		this.#end(() => this.#failed(why));
		this.#endSession();
	}

	#failed(error: string): Outcome {
		return outcomeOf({ type: "assistant_text", text: "", error }, this.#finalMessage.said);
	}

	#end(outcome: () => Outcome): "end" {
		this.#ended ??= outcome;
		return "end";
	}

	#wrapUp(session: AgentSession): void {
		this.#limit.startGrace();
		session.setActiveToolsByName([]);
		this.#mailbox.say(session, wrapUpMessage(this.#limit.reason));
	}

	/** Aborts the pending prompt, which settles the run. */
	#endSession(): void {
		const session = this.#session;
		const abort = () => bestEffort("stopping an agent", this.#report, () => session?.abort());
		void abort();
		queueMicrotask(abort); // pi announces a retry just before it can be cancelled
	}

	readonly #hearResponse = (response: ProviderResponse): void => this.#retryAfter.hear(response, this.#clock.now());

	readonly #report = (message: string): void => this.#context.host.report?.(message);
}

/** How full the context is; pi does not know right after a compaction. */
function fullnessOf(session: AgentSession): { contextPercent?: number } {
	const percent = session.getContextUsage()?.percent;
	return typeof percent === "number" ? { contextPercent: percent } : {};
}
