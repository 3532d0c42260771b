/** Runs a child as a pi session inside this process: cheap to start, sharing the parent's models and credentials. */
import type { AgentSession, AgentSessionEvent } from "@earendil-works/pi-coding-agent";
import { type AssistantText, normalize, type Outcome } from "@pi-subagents/progress";
import { bestEffort, messageOf } from "../best-effort.ts";
import { systemClock } from "../clock.ts";
import { abortedOutcome, outcomeOf } from "../outcome.ts";
import type { Checkpoint, Emit, Run, RunIdentity, Runner, RunSpec, Stop } from "../runner.ts";
import { standBetweenTurns } from "./between-turns.ts";
import type { SessionHost } from "./host.ts";
import { openChild } from "./open.ts";
import { untilStopped, within } from "./patience.ts";
import { wrapUpMessage } from "./prompt.ts";
import { SharedResources } from "./resources.ts";
import { TurnLimit } from "./turn-limit.ts";

/**
 * @example
 * ```ts
 * const manager = new Manager({ runners: { session: sessionRunner(host) }, clock: systemClock, newId });
 * ```
 */
export function sessionRunner(host: SessionHost): Runner {
	const resources = new SharedResources();
	return { start: (spec, emit, checkpoint) => new SessionRun({ host, resources, emit, checkpoint }, spec) };
}

interface Surroundings {
	host: SessionHost;
	resources: SharedResources;
	emit: Emit;
	checkpoint: Checkpoint | undefined;
}

/** How long what a child does may ignore that the child was stopped. */
const STOP_MS = 5_000;

class SessionRun implements Run {
	readonly settled: Promise<Outcome>;
	readonly #around: Surroundings;
	readonly #limit: TurnLimit;
	readonly #stopping = new AbortController();
	/** What came before the child could hear it. */
	readonly #early: string[] = [];
	#session: AgentSession | undefined;
	#stop: Stop | undefined;
	/** It was ended between two turns, and how that is told. */
	#ended: (() => Outcome) | undefined;
	#isMuted = false;
	#wrapUpReason = "the turn limit is reached";
	#last: AssistantText | undefined;
	#said: string | undefined;

	constructor(around: Surroundings, spec: RunSpec & RunIdentity) {
		this.#around = around;
		this.#limit = new TurnLimit(spec.limits);
		this.settled = this.#live(spec);
	}

	abort(stop: Stop): void {
		if (this.#stop) return;
		this.#stop = stop;
		this.#stopping.abort();
		this.#endSession();
	}

	steer(message: string): void {
		if (this.#isOver) return;
		if (this.#session?.isStreaming) this.#tell(this.#session, message);
		else this.#early.push(message);
	}

	/** Takes effect between two turns: a child that is just giving its answer is not asked for it again. */
	wrapUp(reason?: string): void {
		if (reason !== undefined && !this.#limit.isDue) this.#wrapUpReason = reason;
		this.#limit.hurry();
	}

	get #isOver(): boolean {
		return this.#stop !== undefined || this.#ended !== undefined;
	}

	async #live(spec: RunSpec & RunIdentity): Promise<Outcome> {
		const { host, resources } = this.#around;
		try {
			const child = await openChild(host, resources, spec, this.#stopping.signal);
			if (child) {
				try {
					await this.#converse(child.session, spec.task);
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

	#judge(): Outcome {
		if (this.#stop) return abortedOutcome(this.#stop, this.#said);
		if (this.#ended) return this.#ended();
		const outcome = outcomeOf(this.#last, this.#said);
		return outcome.status === "completed" && this.#limit.isWrappingUp ? { ...outcome, wrappedUp: true } : outcome;
	}

	async #converse(session: AgentSession, task: string): Promise<void> {
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
			// What comes when the child has just finished is one more thing to do.
			for (let text: string | undefined = task; text !== undefined && !this.#isOver; text = this.#early.shift()) {
				await this.#prompt(session, text);
			}
		} finally {
			unsubscribe();
			leave();
		}
	}

	/** Waits for the child; when it is stopped, no longer than is decent for what may not listen. */
	async #prompt(session: AgentSession, text: string): Promise<void> {
		const { clock = systemClock } = this.#around.host;
		// The text is for the model: a leading slash must not run a command.
		const run = session.prompt(text, { expandPromptTemplates: false, source: "extension" });
		await untilStopped(run, this.#stopping.signal);
		if (!this.#stop || (await within(STOP_MS, run, clock))) return;
		this.#report(`An agent that was stopped is still busy after ${STOP_MS / 1_000} s; it is left behind.`);
	}

	#hear(session: AgentSession, raw: AgentSessionEvent): void {
		// pi would go on with what is queued, or shorten a context that nobody needs.
		if (this.#ended && raw.type === "agent_end") this.#endSession();
		if (raw.type === "agent_start" && !this.#isOver) {
			// Between the call and this moment pi was not yet busy, so nothing could reach it.
			if (this.#limit.verdict === "wrap_up") this.#wrapUp(session);
			for (const message of this.#early.splice(0)) this.#tell(session, message);
		}
		for (const event of normalize(raw)) {
			if (this.#stop || this.#isMuted) return;
			if (event.type === "assistant_text") {
				this.#last = event;
				if (event.text.trim() !== "") this.#said = event.text;
			}
			this.#around.emit(event.type === "turn" ? { ...event, ...fullnessOf(session) } : event);
		}
	}

	async #afterTurn(session: AgentSession): Promise<"go" | "end"> {
		if (this.#limit.verdict === "end") {
			const stop: Stop = { by: "turns", reason: `no answer after ${this.#limit.turns} turns` };
			return this.#end(() => abortedOutcome(stop, this.#said));
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

	/** Asks whoever watches over the run. A checkpoint that fails may guard money, so nothing passes it. */
	async #pass(): Promise<"go" | "end"> {
		const { checkpoint } = this.#around;
		if (!checkpoint) return "go";
		try {
			const word = await untilStopped(checkpoint(), this.#stopping.signal);
			// What a child says on the way is not its answer: ended early, the run has failed, with that as its partial text.
			return word === "go" ? word : this.#end(() => outcomeOf(this.#last, this.#said));
		} catch (error) {
			const failure: AssistantText = { type: "assistant_text", text: "", error: messageOf(error) };
			return this.#end(() => outcomeOf(failure, this.#said));
		}
	}

	#end(outcome: () => Outcome): "end" {
		this.#ended ??= outcome;
		return "end";
	}

	#wrapUp(session: AgentSession): void {
		this.#limit.startGrace();
		session.setActiveToolsByName([]);
		const message = wrapUpMessage(this.#wrapUpReason);
		if (session.isStreaming) this.#tell(session, message);
		else this.#early.push(message);
	}

	/** Queued at once, unlike with `session.steer`, so that it is there when pi looks for messages after this turn. */
	#tell(session: AgentSession, text: string): void {
		const { clock = systemClock } = this.#around.host;
		session.agent.steer({ role: "user", content: [{ type: "text", text }], timestamp: clock.now() });
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
