/** Runs a child as a pi session inside this process: cheap to start, sharing the parent's models and credentials. */
import type { AgentSession, AgentSessionEvent } from "@earendil-works/pi-coding-agent";
import type {
	Checkpoint,
	ChildSession,
	Emit,
	PieceListener,
	Run,
	RunIdentity,
	Runner,
	RunSpec,
	Stop,
} from "@pi-subagents/core";
import { type Clock, systemClock } from "@pi-subagents/core";
import { bestEffort, messageOf, untilStopped } from "@pi-subagents/core/internal/base";
import type { ProviderResponse } from "@pi-subagents/core/internal/run";
import { Driver, failed, type Judge, notCompacted, type Pass } from "@pi-subagents/core/internal/run";
import { type CutBy, type Outcome, textDelta } from "@pi-subagents/progress";
import { SharedTap } from "../providers/response-tap.ts";
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
	readonly #driver: Driver;
	readonly #stopping = new AbortController();
	readonly #clock: Clock;
	readonly #mailbox: Mailbox;
	#session: AgentSession | undefined;
	#stop: Stop | undefined;
	/** Set if the run was ended between two turns or its answer was judged: its outcome. */
	#ended: Judge | undefined;
	#isMuted = false;

	constructor(context: RunContext, spec: RunSpec & RunIdentity) {
		this.#context = context;
		this.#spec = spec;
		this.#clock = context.host.clock ?? systemClock;
		this.#driver = new Driver(spec, {
			clock: this.#clock,
			emit: context.emit,
			isDeaf: () => this.#stop !== undefined || this.#isMuted,
			isOver: () => this.#isOver,
			contextPercent: () => fullnessOf(this.#session),
			pass: () => this.#pass(),
		});
		this.#mailbox = new Mailbox(this.#clock);
		this.settled = this.#live();
	}

	abort(stop: Stop): void {
		if (this.#stop) return;
		this.#stop = stop;
		this.#stopping.abort();
		void this.#driver.stopChecking();
		this.#endSession();
	}

	steer(message: string): void {
		if (!this.#isOver) this.#mailbox.say(this.#session, message);
	}

	wrapUp(reason?: string, by?: CutBy): void {
		this.#driver.hurry(reason, by);
	}

	watch(listener: PieceListener): () => void {
		return this.#driver.liveText.watch(listener);
	}

	get partial(): string | undefined {
		return this.#driver.finalMessage.partial;
	}

	get quietMs(): number | undefined {
		return this.#driver.quietMs;
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
					await this.#driver.stopChecking();
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
					error instanceof UnavailableModel && !this.#stop
						? this.#driver.answerCheck.fallBack(error.message)
						: undefined;
				if (!other) throw error;
				emit(other);
				spec = { ...spec, model: other.to };
			}
		}
	}

	#currentOutcome(): Outcome {
		if (this.#stop) return this.#driver.stopped(this.#stop);
		return this.#ended ? this.#ended(this.#driver.finalMessage) : this.#driver.outcome();
	}

	async #converse(session: AgentSession): Promise<void> {
		this.#session = session;
		// Together: otherwise a wrap-up would wait behind other messages, one turn for each.
		session.agent.steeringMode = "all";
		const leave = hookTurns(session, {
			count: () => this.#driver.countTurn(),
			afterTurn: () => this.#afterTurn(session),
			beforeRetry: () => this.#beforeRetry(),
			isOver: () => this.#isOver,
			whileAsking: (request, ask) => {
				this.#driver.retryAfter.forget();
				return this.#context.tap.during(this.#hearResponse, request, ask);
			},
			onResponse: this.#hearResponse,
		});
		const closeTap = this.#context.tap.open();
		const unsubscribe = session.subscribe((raw) => this.#hear(session, raw));
		try {
			if (this.#spec.compactsFirst) await this.#compact(session);
			this.#wrapUpIfDue(session);
			await converse(this.#dialogueWith(session));
		} finally {
			unsubscribe();
			this.#driver.liveText.close();
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
			driver: this.#driver,
			mailbox: this.#mailbox,
			thinking: this.#spec.thinking,
			stopping: this.#stopping.signal,
			isOver: () => this.#isOver,
			end: (judge) => this.#end(judge),
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
			this.#wrapUpIfDue(session);
			this.#mailbox.deliver(session);
		}
		if (this.#stop) return;
		this.#driver.stir();
		this.#driver.write(textDelta(raw));
		this.#driver.hear(raw);
	}

	async #afterTurn(session: AgentSession): Promise<"go" | "end"> {
		const ended = await this.#driver.afterTurn();
		if (ended) return this.#end(ended);
		this.#wrapUpIfDue(session);
		return "go";
	}

	async #beforeRetry(): Promise<void> {
		const ended = await this.#driver.pass();
		if (!ended) return;
		this.#end(ended);
		this.#isMuted = true; // pi will report the request as aborted; the failure before it counts
		this.#endSession();
	}

	async #pass(): Promise<Pass> {
		const { checkpoint } = this.#context;
		if (!checkpoint) return { word: "go" };
		try {
			const word = await untilStopped(checkpoint(), this.#stopping.signal);
			return { word: word ?? "end" };
		} catch (error) {
			return { error: messageOf(error) };
		}
	}

	/** A guard failed before a request: none is made from now on. */
	#refuseToStart(why: string): void {
		this.#end(failed(why));
		this.#endSession();
	}

	#end(judge: Judge): "end" {
		this.#ended ??= judge;
		return "end";
	}

	#wrapUpIfDue(session: AgentSession): void {
		const message = this.#driver.takeWrapUp();
		if (message === undefined) return;
		session.setActiveToolsByName([]);
		this.#mailbox.say(session, message);
	}

	/** Aborts the pending prompt, which settles the run. */
	#endSession(): void {
		const session = this.#session;
		const abort = () => bestEffort("stopping an agent", this.#report, () => session?.abort());
		void abort();
		queueMicrotask(abort); // pi announces a retry just before it can be cancelled
	}

	readonly #hearResponse = (response: ProviderResponse): void =>
		this.#driver.retryAfter.hear(response, this.#clock.now());

	readonly #report = (message: string): void => this.#context.host.report?.(message);
}

/** How full the context is; pi does not know right after a compaction. */
function fullnessOf(session: AgentSession | undefined): number | undefined {
	return session?.getContextUsage()?.percent ?? undefined;
}
