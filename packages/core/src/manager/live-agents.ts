/** The manager's private state of agents that have not settled: handles, waiters, open questions. */
import type { Outcome, Usage } from "@pi-subagents/progress";
import type { Clock } from "../base/clock.ts";
import type { Addressee } from "../model/question.ts";
import type { Run, RunIdentity, RunSpec, Stop } from "../model/runner.ts";
import type { LaunchInfo } from "../model/schema/launch.ts";
import type { Answer, Question } from "../model/schema/question.ts";
import type { Limits } from "../model/schema/spec.ts";
import { NO_USAGE } from "../model/usage.ts";
import type { Watchdog } from "../model/watchdog.ts";

export interface LiveAgent {
	readonly id: string;
	readonly spec: RunSpec & RunIdentity;
	/** The spec's limits, until a budget is extended. */
	limits: Limits;
	/** Enforces its time limits. */
	readonly watchdog: Watchdog;
	/** Absent while it is queued. */
	run?: Run;
	/** It does not start with its launch, so it is checked again whether it may. */
	hasWaited?: boolean;
	/** How it was stopped, if there was no run yet to stop. */
	stop?: Stop;
	/** Aborts what waits on behalf of this agent: a checkpoint, a question. */
	readonly abort: AbortController;
	/** Messages from before there was a run. */
	readonly early: ((run: Run) => void)[];
	/** All messages, if it may be started over: then it gets them again. */
	readonly messages: ((run: Run) => void)[];
	/** The child's last non-blank text, for partial output. */
	said?: string;
	readonly waiters: Set<Waiter>;
	question?: OpenQuestion;
	/** Dialogs of its extensions that the user has not answered, oldest first. */
	readonly dialogs: Set<OpenDialog>;
	/** It is between two turns, and its provider may have asked for a pause. */
	isPaused: boolean;
	/** When its last turn began, and what it had used then. */
	turnBegan: { at?: number; usage: Usage };
	/** It was asked for its answer because a budget is used up; `passed`: the turn for it has begun. */
	closing?: "asked" | "passed";
}

interface Waiter {
	resolve: (outcome: Outcome) => void;
	/** The agent continues, but this process will not see it settle. */
	reject: (error: Error) => void;
	/** Gives a waiting agent its slot back, before the slot of the agent it waited for is freed. */
	takeBack: () => void;
}

/** A question with its addressee. */
export interface AskedQuestion extends Question {
	agentId: string;
	/** The ancestor that the question is about, if not the asker: only those above that ancestor may answer. */
	aboutId?: string;
	addressee: Addressee;
}

/** An unanswered question. It may be passed on to another addressee. */
export interface OpenQuestion {
	asked: AskedQuestion;
	answer(answer: Answer): void;
}

/** A dialog of an extension, as far as the agent's record is concerned. */
interface OpenDialog {
	title: string;
	dismiss(): void;
}

/** A run that an earlier process started. Times are milliseconds since the epoch. */
export interface AdoptedRun extends LaunchInfo {
	/** The agent's. */
	id: string;
	run: number;
	spec: RunSpec;
	queuedAt: number;
	/** `queuedAt` when absent. */
	startedAt?: number;
	/** The directory of the run's files. */
	artifacts: string;
}

/** A run that an earlier process started and stopped. */
export type StoppedRun = Pick<AdoptedRun, "id" | "run" | "spec" | "artifacts">;

export function newLiveAgent(spec: RunSpec & RunIdentity, watchdog: Watchdog): LiveAgent {
	return {
		id: spec.agentId,
		spec,
		watchdog,
		limits: spec.limits,
		abort: new AbortController(),
		early: [],
		messages: [],
		waiters: new Set(),
		dialogs: new Set(),
		isPaused: false,
		turnBegan: { usage: NO_USAGE },
	};
}

/** Resolves when the agent settles; `takeBack` gives a waiting agent its slot back. Rejects when `signal` fires. */
export function untilSettled(live: LiveAgent, takeBack: () => void, signal?: AbortSignal): Promise<Outcome> {
	return new Promise((resolve, reject) => {
		const onAbort = () => {
			live.waiters.delete(waiter);
			takeBack();
			reject(signal?.reason);
		};
		const waiter: Waiter = {
			takeBack,
			resolve: (outcome) => {
				signal?.removeEventListener("abort", onAbort);
				resolve(outcome);
			},
			reject: (error) => {
				signal?.removeEventListener("abort", onAbort);
				reject(error);
			},
		};
		signal?.addEventListener("abort", onAbort, { once: true });
		live.waiters.add(waiter);
	});
}

/** What is still done for settled runs. Shutdown waits for it, and so does the agent's next run. */
export class Cleanups {
	readonly #byAgent = new Map<string, Promise<unknown>>();

	add(agentId: string, work: Promise<unknown> | undefined): void {
		if (!work) return;
		const before = this.of(agentId);
		const forget = (): void => {
			if (this.#byAgent.get(agentId) === all) this.#byAgent.delete(agentId);
		};
		const all: Promise<void> = (before ? Promise.allSettled([work, before]) : work).then(forget, forget);
		this.#byAgent.set(agentId, all);
	}

	of(agentId: string): Promise<unknown> | undefined {
		return this.#byAgent.get(agentId);
	}

	async done(): Promise<void> {
		await Promise.all(this.#byAgent.values());
	}
}

/** All live agents. The process stays alive as long as one of them needs it; detached ones do not. */
export class LiveAgents {
	readonly #clock: Clock;
	readonly #byId = new Map<string, LiveAgent>();
	#attached = 0;
	#letProcessEnd: (() => void) | undefined;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	get(id: string): LiveAgent | undefined {
		return this.#byId.get(id);
	}

	all(): LiveAgent[] {
		return [...this.#byId.values()];
	}

	/** Whether this run is still live; the agent may be in a later one. */
	has(live: LiveAgent): boolean {
		return this.#byId.get(live.id) === live;
	}

	add(live: LiveAgent): void {
		this.#byId.set(live.id, live);
		if (!live.spec.outlives && this.#attached++ === 0) this.#letProcessEnd = this.#clock.hold?.();
	}

	remove(live: LiveAgent): void {
		this.#byId.delete(live.id);
		if (!live.spec.outlives && --this.#attached === 0) this.#letProcessEnd?.();
	}
}
