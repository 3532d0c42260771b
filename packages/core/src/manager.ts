/**
 * The only dispatcher of events: launches agents, watches their runs and settles them.
 * Live handles stay in a private map; everything that others see is a record in the store.
 */
import type { AssistantText, ChildEvent, Outcome } from "@pi-subagents/progress";
import { messageOf } from "./best-effort.ts";
import { AgentError } from "./error.ts";
import type { LifeCycleEvent, RunnerName } from "./event.ts";
import { abortedOutcome } from "./outcome.ts";
import type { AgentRecord } from "./record.ts";
import type { Run, Runner, RunSpec, Stop } from "./runner.ts";
import { Store } from "./store.ts";

export interface ManagerOptions {
	runners: Partial<Record<RunnerName, Runner>>;
	now: () => number;
	newId: () => string;
	store?: Store;
}

/** What a launch says beside the spec. */
export interface LaunchOptions {
	name?: string;
	/** Nobody waits for the result in the call that launched it. */
	isBackground?: boolean;
}

/** What only the manager may touch of a live agent. */
interface LiveAgent {
	run?: Run;
	/** How it was stopped, when that came before there was a run to stop. */
	stop?: Stop;
	/** The last non-blank thing the child said, kept as partial output. */
	said?: string;
	waiters: Set<(outcome: Outcome) => void>;
}

export class Manager {
	readonly store: Store;
	readonly #options: ManagerOptions;
	readonly #live = new Map<string, LiveAgent>();
	#isShutDown = false;

	constructor(options: ManagerOptions) {
		this.#options = options;
		this.store = options.store ?? new Store();
	}

	/** Launches an agent and returns its record. A run that cannot start is a failed outcome, not an error. */
	spawn(spec: RunSpec, options: LaunchOptions = {}): AgentRecord {
		if (this.#isShutDown)
			throw new AgentError("shut_down", "The session is ending; no agent can be launched any more.");
		const runner = this.#options.runners[spec.runner];
		if (!runner) throw new AgentError("unknown_runner", `There is no "${spec.runner}" runner here.`);
		const id = this.#unusedId();
		this.#live.set(id, { waiters: new Set() });
		this.#dispatch(id, {
			type: "agent_queued",
			agent: {
				...(options.name === undefined ? {} : { name: options.name }),
				depth: 1,
				type: spec.type,
				description: spec.description,
				task: spec.task,
				cwd: spec.cwd,
				runner: spec.runner,
				model: spec.model,
				isBackground: options.isBackground ?? false,
			},
		});
		this.#start(id, runner, spec);
		return this.#recordOf(id);
	}

	/** Resolves when the agent has settled, at once if it has. Rejects only when `signal` ends the waiting. */
	wait(id: string, options: { signal?: AbortSignal } = {}): Promise<Outcome> {
		const { outcome } = this.#recordOf(id);
		const live = this.#live.get(id);
		if (outcome) return Promise.resolve(outcome);
		if (!live) throw new AgentError("wrong_state", `Agent ${id} has not settled, and this process does not run it.`);
		const { signal } = options;
		return new Promise((resolve, reject) => {
			const onSettled = (settled: Outcome) => {
				signal?.removeEventListener("abort", onAbort);
				resolve(settled);
			};
			const onAbort = () => {
				live.waiters.delete(onSettled);
				reject(signal?.reason);
			};
			if (signal?.aborted) return reject(signal.reason);
			signal?.addEventListener("abort", onAbort, { once: true });
			live.waiters.add(onSettled);
		});
	}

	/** Gives the running agent a message. */
	steer(id: string, message: string): void {
		const { status } = this.#recordOf(id);
		const live = this.#live.get(id);
		if (!live?.run) throw new AgentError("wrong_state", `Agent ${id} is ${status}; only a live one can be steered.`);
		this.#dispatch(id, { type: "agent_steered", message });
		live.run.steer(message);
	}

	/** Stops the agent. It has settled when this returns; its child is cleaned up behind it. */
	abort(id: string, stop: Stop): void {
		this.#recordOf(id);
		const live = this.#live.get(id);
		if (!live) return; // it settled before
		live.stop = stop;
		this.#settle(id, abortedOutcome(stop, live.said));
		live.run?.abort(stop);
	}

	/** Stops every live agent and resolves when all their children are gone. */
	async shutdown(): Promise<void> {
		this.#isShutDown = true;
		const runs = [...this.#live.values()].map((live) => live.run?.settled);
		for (const id of [...this.#live.keys()]) this.abort(id, { by: "shutdown" });
		await Promise.all(runs);
	}

	#start(id: string, runner: Runner, spec: RunSpec): void {
		const live = this.#live.get(id);
		this.#dispatch(id, { type: "agent_started" });
		if (!live || live.stop) return; // a listener stopped it meanwhile
		const { run } = this.#recordOf(id);
		try {
			live.run = runner.start({ ...spec, agentId: id, run }, (event) => this.#observe(id, event));
		} catch (error) {
			this.#settle(id, { status: "failed", error: messageOf(error) });
			return;
		}
		if (live.stop) live.run.abort(live.stop); // its first event made somebody stop it
		void live.run.settled.then((outcome) => this.#settle(id, outcome));
	}

	#observe(id: string, event: ChildEvent): void {
		const live = this.#live.get(id);
		if (!live) return; // late news of a settled run
		if (isSpoken(event)) live.said = event.text;
		this.#dispatch(id, event);
	}

	#settle(id: string, outcome: Outcome): void {
		const live = this.#live.get(id);
		if (!live) return;
		this.#live.delete(id);
		this.#dispatch(id, { type: "agent_settled", outcome });
		for (const waiter of live.waiters) waiter(outcome);
	}

	#dispatch(id: string, event: LifeCycleEvent | ChildEvent): void {
		const run = this.store.record(id)?.run ?? 1;
		this.store.dispatch({ ...event, agentId: id, run, seq: this.store.seq + 1, at: this.#options.now() });
	}

	#unusedId(): string {
		for (;;) {
			const id = this.#options.newId();
			if (!this.store.record(id)) return id;
		}
	}

	#recordOf(id: string): AgentRecord {
		const record = this.store.record(id);
		if (!record) throw new AgentError("unknown_agent", `There is no agent ${id}.`);
		return record;
	}
}

function isSpoken(event: ChildEvent): event is AssistantText {
	return event.type === "assistant_text" && event.text.trim() !== "";
}
