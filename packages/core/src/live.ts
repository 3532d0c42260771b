/** What only the manager may touch of an agent that has not settled: handles, waiters, open questions. */
import type { Outcome } from "@pi-subagents/progress";
import type { Addressee, Answer, Question } from "./asking.ts";
import type { Clock } from "./clock.ts";
import type { AgentIdentity } from "./event.ts";
import type { Limits, Run, RunIdentity, RunSpec, Stop } from "./runner.ts";

export interface LiveAgent {
	readonly id: string;
	readonly spec: RunSpec & RunIdentity;
	/** The spec's, until a budget is extended. */
	limits: Limits;
	/** Absent while it is queued. */
	run?: Run;
	/** How it was stopped, when that came before there was a run to stop. */
	stop?: Stop;
	/** Ends what waits on behalf of this agent: a checkpoint, a question. */
	readonly abort: AbortController;
	/** What was said to it before it could hear. */
	readonly early: ((run: Run) => void)[];
	/** The last non-blank thing the child said, kept as partial output. */
	said?: string;
	/** Tools that have not ended, by call. */
	readonly tools: Map<string, { tool: string; startedAt: number }>;
	readonly waiters: Set<Waiter>;
	question?: OpenQuestion;
	/** When it was started, and when something of it was last heard, by the steady clock. */
	beganAt: number;
	movedAt: number;
	/** How many things it rightly waits for: a child, an answer, a provider. Nothing is too slow meanwhile. */
	holds: number;
	/** When the last of these ended; time counts anew from there. */
	restedAt: number;
	/** Nothing is too slow before this: what a rejoined run did in our absence, its end perhaps, is still being read. */
	sparedUntil: number;
	/** The timer of its next deadline. */
	cancelDeadline?: () => void;
}

interface Waiter {
	resolve: (outcome: Outcome) => void;
	/** The agent lives on, but nobody here will hear how it settles. */
	reject: (error: Error) => void;
	/** Gives a waiting agent its slot back; before the slot of the one it waited for is freed. */
	takeBack: () => void;
}

/** A question on its way to somebody. */
export interface AskedQuestion extends Question {
	agentId: string;
	/** The agent above it whose concern it is, if it is not its own: only those above that one may answer. */
	aboutId?: string;
	addressee: Addressee;
}

/** A question that nobody has answered yet. It may go on to somebody else. */
export interface OpenQuestion {
	asked: AskedQuestion;
	answer(answer: Answer): void;
}

/** What a launch says of an agent beside its spec. */
export type Place = Pick<AgentIdentity, "name" | "parentAgentId" | "depth" | "isBackground">;

/** A run that an earlier process started. Times are milliseconds since the epoch. */
export interface AdoptedRun extends Place {
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

export function newLiveAgent(spec: RunSpec & RunIdentity): LiveAgent {
	return {
		id: spec.agentId,
		spec,
		limits: spec.limits,
		abort: new AbortController(),
		early: [],
		tools: new Map(),
		waiters: new Set(),
		beganAt: 0,
		movedAt: 0,
		holds: 0,
		restedAt: 0,
		sparedUntil: 0,
	};
}

/** What others hear of it when it is queued. */
export function identityOf({ spec }: LiveAgent, place: Place): AgentIdentity {
	const { type, description, task, cwd, runner, model, requestedModel, limits, outlives, artifacts, isolation } = spec;
	return {
		...place,
		type,
		description,
		task,
		cwd,
		runner,
		model,
		...(requestedModel === undefined ? {} : { requestedModel }),
		...(limits.maxTurns === undefined ? {} : { maxTurns: limits.maxTurns }),
		...(outlives === undefined ? {} : { outlives }),
		...(artifacts === undefined ? {} : { artifacts }),
		...(isolation === undefined ? {} : { isolation: isolation.kind }),
	};
}

/** All live agents. The process stays alive as long as one of them needs it; those that outlive it do not. */
export class LiveAgents {
	readonly #clock: Clock;
	readonly #byId = new Map<string, LiveAgent>();
	#needy = 0;
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

	/** Whether this very one is still live; the agent may be in a later run. */
	has(live: LiveAgent): boolean {
		return this.#byId.get(live.id) === live;
	}

	add(live: LiveAgent): void {
		this.#byId.set(live.id, live);
		if (!live.spec.outlives && this.#needy++ === 0) this.#letProcessEnd = this.#clock.hold?.();
	}

	remove(live: LiveAgent): void {
		this.#byId.delete(live.id);
		if (!live.spec.outlives && --this.#needy === 0) this.#letProcessEnd?.();
	}
}
