/**
 * What a run passes between two turns: the provider's pause, its time, then the budgets of the agent and of all above it.
 * Private to the run life cycle.
 */
import type { AssistantText, Retrying, Usage } from "@pi-subagents/progress";
import type { Clock } from "../base/clock.ts";
import { nearTimeout } from "../model/deadlines.ts";
import type { Store } from "../model/store.ts";
import type { HoldReason } from "../queue/hold-reason.ts";
import { pauseReason, RateGate } from "../queue/rate-gate.ts";
import { pauseAfter } from "../queue/retry-hint.ts";
import { splitModelName } from "../resolve/models.ts";
import type { AgentTree } from "./agent-tree.ts";
import type { BudgetTracker } from "./budget-tracker.ts";
import type { LiveAgent } from "./live-agents.ts";

/** The pause after a "too many requests" that names no duration. */
const DEFAULT_PAUSE_MS = 5_000;

export interface CheckpointsOptions {
	store: Store;
	tree: AgentTree;
	budgets: BudgetTracker;
	/** Whether its runner enforces the time limits. */
	keepsOwnTime: (live: LiveAgent) => boolean;
	/** Unaffected by changes of the time of day. */
	clock: Clock;
	random: () => number;
}

export class Checkpoints {
	readonly gate: RateGate;
	readonly #options: CheckpointsOptions;

	constructor(options: CheckpointsOptions) {
		this.#options = options;
		this.gate = new RateGate({ clock: options.clock, random: options.random });
	}

	/** A run begins with its whole budget. */
	open(id: string): void {
		this.#options.budgets.open(id);
	}

	spend(id: string, usage: Usage): void {
		this.#options.budgets.spend(id, usage);
	}

	/** Before it may be on its own: this process can be killed at any time. */
	limitAlone(live: LiveAgent): void {
		if (live.spec.outlives) this.#options.budgets.limitAlone(live);
	}

	/**
	 * Pauses the provider if the event asks for a pause. `happenedAt` is the event's time of day, `ageMs` how long ago
	 * that was.
	 */
	observe(live: LiveAgent, event: AssistantText | Retrying, happenedAt: number, ageMs: number): void {
		const pauseMs = pauseAfter(event, happenedAt, DEFAULT_PAUSE_MS);
		if (pauseMs !== undefined) this.gate.pause(this.#providerOf(live), this.#options.clock.now() - ageMs + pauseMs);
	}

	/** Resolves with `end` if a budget is used up and was not extended. */
	async pass(live: LiveAgent): Promise<"go" | "end"> {
		const { budgets, clock, tree } = this.#options;
		const turnMs = clock.now() - (live.turnBegan.at ?? live.watchdog.beganAt);
		const release = live.watchdog.hold();
		try {
			live.isPaused = true;
			await this.gate.whenOpen(this.#providerOf(live), live.abort.signal);
			live.isPaused = false;
			this.#saveTime(live, turnMs);
			for (const id of [live.id, ...tree.ancestorsOf(live.id).map((record) => record.id)]) {
				if (!(await budgets.check(live, id))) return "end";
			}
			if (!(await budgets.checkSession(live))) return "end";
			if (live.closing) live.closing = "passed";
			this.limitAlone(live);
			return "go";
		} finally {
			live.isPaused = false;
			live.turnBegan = { at: clock.now(), usage: budgets.usageOf(live.id) };
			release();
		}
	}

	/** Asks for the answer while there is time for it. */
	#saveTime(live: LiveAgent, turnMs: number): void {
		const { clock, keepsOwnTime } = this.#options;
		if (keepsOwnTime(live)) return;
		const near = nearTimeout(live.limits, { elapsedMs: clock.now() - live.watchdog.beganAt, turnMs });
		if (near) live.run?.wrapUp(near.reason, near.by);
	}

	/** Why a running agent waits at its checkpoint, if its provider asked for a pause. */
	reasonFor(live: LiveAgent): HoldReason | undefined {
		return live.isPaused ? pauseReason(this.gate, this.#providerOf(live)) : undefined;
	}

	/** The provider of the model in use: the run may have fallen back to another one. */
	#providerOf({ id, spec }: LiveAgent): string {
		return providerOf(this.#options.store.record(id)?.model ?? spec.model);
	}
}

export function providerOf(model: string): string {
	return splitModelName(model).provider;
}
