/** Runs a child as a pi session inside this process: cheap to start, sharing the parent's models and credentials. */
import type { AgentSession, AgentSessionEvent } from "@earendil-works/pi-coding-agent";
import { type AssistantText, type ChildEvent, normalize, type Outcome } from "@pi-subagents/progress";
import { bestEffort, messageOf } from "../best-effort.ts";
import { abortedOutcome, outcomeOf } from "../outcome.ts";
import type { Run, RunIdentity, Runner, RunSpec, Stop } from "../runner.ts";
import { openSession, type SessionHost } from "./open.ts";

/**
 * @example
 * ```ts
 * const manager = new Manager({ runners: { session: sessionRunner(host) }, now: Date.now, newId });
 * ```
 */
export function sessionRunner(host: SessionHost): Runner {
	return { start: (spec, emit) => new SessionRun(host, spec, emit) };
}

class SessionRun implements Run {
	readonly settled: Promise<Outcome>;
	readonly #host: SessionHost;
	readonly #emit: (event: ChildEvent) => void;
	/** Steers that came before the child could hear them. */
	readonly #early: string[] = [];
	#session: AgentSession | undefined;
	#stop: Stop | undefined;
	#last: AssistantText | undefined;
	#said: string | undefined;

	constructor(host: SessionHost, spec: RunSpec & RunIdentity, emit: (event: ChildEvent) => void) {
		this.#host = host;
		this.#emit = emit;
		this.settled = this.#live(spec);
	}

	abort(stop: Stop): void {
		if (this.#stop) return;
		this.#stop = stop;
		this.#endSession();
	}

	steer(message: string): void {
		if (this.#session?.isStreaming) this.#tell(this.#session, message);
		else this.#early.push(message);
	}

	async #live(spec: RunSpec & RunIdentity): Promise<Outcome> {
		try {
			const session = await openSession(this.#host, spec, () => this.#stop !== undefined);
			if (session) await this.#converse(session, spec.task);
			return this.#stop ? abortedOutcome(this.#stop, this.#said) : outcomeOf(this.#last, this.#said);
		} catch (error) {
			if (this.#stop) return abortedOutcome(this.#stop, this.#said);
			return { status: "failed", error: messageOf(error) };
		}
	}

	async #converse(session: AgentSession, task: string): Promise<void> {
		this.#session = session;
		const unsubscribe = session.subscribe((raw) => this.#hear(session, raw));
		try {
			// A task is text for the model: a leading slash must not run a command.
			if (!this.#stop) await session.prompt(task, { expandPromptTemplates: false, source: "extension" });
		} finally {
			unsubscribe();
			session.dispose();
		}
	}

	#hear(session: AgentSession, raw: AgentSessionEvent): void {
		if (raw.type === "agent_start") {
			// Between the call and this moment pi was not yet busy, so neither a stop nor a steer could reach it.
			if (this.#stop) this.#endSession();
			else for (const message of this.#early.splice(0)) this.#tell(session, message);
		}
		for (const event of normalize(raw)) {
			if (this.#stop) return;
			if (event.type === "assistant_text") {
				this.#last = event;
				if (event.text.trim() !== "") this.#said = event.text;
			}
			this.#emit(event);
		}
	}

	#tell(session: AgentSession, message: string): void {
		void bestEffort("steering an agent", this.#report, () => session.steer(message));
	}

	/** Ends the pending prompt, and that settles the run. */
	#endSession(): void {
		void bestEffort("stopping an agent", this.#report, () => this.#session?.abort());
	}

	readonly #report = (message: string): void => this.#host.report?.(message);
}
