/** What only the manager may touch of an agent that has not settled: handles, waiters, open questions. */
import type { Outcome } from "@pi-subagents/progress";
import type { Addressee, Answer, Question } from "./asking.ts";
import type { Limits, Run, Runner, RunSpec, Stop } from "./runner.ts";

export interface LiveAgent {
	readonly id: string;
	readonly runner: Runner;
	readonly spec: RunSpec;
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
	/** How many things it rightly waits for: a child, an answer, a provider. Nothing is too slow meanwhile. */
	holds: number;
	/** When the last of these ended; time counts anew from there. */
	restedAt: number;
	/** The timer of its next deadline. */
	cancelDeadline?: () => void;
}

interface Waiter {
	resolve: (outcome: Outcome) => void;
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

export function newLiveAgent(id: string, runner: Runner, spec: RunSpec): LiveAgent {
	return {
		id,
		runner,
		spec,
		limits: spec.limits,
		abort: new AbortController(),
		early: [],
		tools: new Map(),
		waiters: new Set(),
		holds: 0,
		restedAt: 0,
	};
}
