/**
 * What happens between the turns of a child in its own process: its messages, and the checkpoint, which the run's watcher
 * answers or, without one, the limits themselves. Whether it may continue, the driver decides. Knows no process.
 */

import type { Limits } from "@pi-subagents/core";
import { NO_USAGE } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import type { Driver, Judge, Pass } from "@pi-subagents/core/internal/run";
import { type NearLimit, nearBudget, nearTimeout, overrun, usageSince } from "@pi-subagents/core/internal/run";
import type { Usage } from "@pi-subagents/progress";
import type { TunnelRequest, TurnReply } from "../pi/tunnel.ts";
import type { PassLine } from "./pending-requests.ts";

export interface TurnControlOptions {
	driver: Driver;
	limits: Limits;
	/** Called when the watcher granted more. */
	onGranted: (limits: Limits) => void;
	/** The watcher's reply; undefined without a watcher. */
	checkpoint: () => Promise<PassLine | undefined>;
	/** Waits as long as the provider asked for. A watcher does that for all its agents together. */
	rest: () => Promise<void>;
	/** What the run has used so far. */
	usage: () => Usage;
	/** How long it has been running. */
	elapsedMs: () => number;
	/** Resolves when pi has the message; the child reads it before its next turn. */
	steer: (text: string) => Promise<void>;
}

export class TurnControl {
	readonly #options: TurnControlOptions;
	/** Messages that the child has not been given yet. */
	readonly #steers: string[] = [];
	#limits: Limits;
	#alone: Limits = {};
	#isRetry = false;
	/** When the last turn began, and what had been used then. */
	#turnBegan = { elapsedMs: 0, usage: NO_USAGE };

	constructor(options: TurnControlOptions) {
		this.#options = options;
		this.#limits = options.limits;
	}

	/** What it may use in all once no one watches. Nothing: only the limits of its spec count. */
	limitAlone({ budgetTokens, budgetCost }: Limits): void {
		this.#alone = defined({ budgetTokens, budgetCost });
	}

	steer(message: string): void {
		this.#steers.push(message);
	}

	/** The next request repeats a failed one. */
	retry(): void {
		this.#isRetry = true;
	}

	/** All messages at once: otherwise a wrap-up would wait behind the others, one turn for each. */
	takeSteers(): string | undefined {
		return this.#steers.length === 0 ? undefined : this.#steers.splice(0).join("\n\n");
	}

	/** Whether the child would be asked again after this turn. */
	goesOn(request: TunnelRequest & { ask: "turn_end" }): boolean {
		return request.goesOn || this.#steers.length > 0;
	}

	/** A prompt begins. */
	begin(): Promise<TurnReply> {
		return this.#steerNow();
	}

	/** The loop begins. Returns how the run ends if it may not continue. */
	async loop(): Promise<Judge | undefined> {
		if (!this.#isRetry) return undefined;
		this.#isRetry = false;
		return this.#options.driver.pass();
	}

	/** A turn is over. Returns how the run ends if the child may not continue. */
	async afterTurn(request: TunnelRequest & { ask: "turn_end" }): Promise<TurnReply | Judge> {
		const { driver } = this.#options;
		driver.countTurn();
		if (!this.goesOn(request)) return "go";
		const word = (await driver.afterTurn()) ?? (await this.#steerNow());
		this.#turnBegan = { elapsedMs: this.#options.elapsedMs(), usage: this.#options.usage() };
		return word;
	}

	/** Passes the checkpoint, for the driver. */
	async pass(): Promise<Pass> {
		const { checkpoint, elapsedMs, rest } = this.#options;
		const took = elapsedMs() - this.#turnBegan.elapsedMs;
		const pass = await checkpoint();
		if (!pass) await rest();
		this.#hurryNear(nearTimeout(this.#limits, { elapsedMs: elapsedMs(), turnMs: took }));
		if (!pass) return this.#passAlone();
		this.#adopt(pass.limits);
		const { error, word } = pass;
		return error === undefined ? { word } : { error };
	}

	/** No one is left to grant more. A run that leapt beyond its budget still has a turn for its answer. */
	#passAlone(): Pass {
		const usage = this.#options.usage();
		const limits = smallerBudget(this.#limits, this.#alone);
		const over = overrun(usage, limits);
		const near = nearBudget(usage, usageSince(this.#turnBegan.usage, usage), limits);
		if (over && (!near || this.#options.driver.isWrappingUp))
			return { stop: { by: "budget", reason: `it used ${over.used}` } };
		this.#hurryNear(near);
		return { word: "go" };
	}

	#hurryNear(near: NearLimit | undefined): void {
		if (near) this.#options.driver.hurry(near.reason, near.by);
	}

	/** Only budgets are ever extended. */
	#adopt({ budgetTokens, budgetCost }: Limits = {}): void {
		const before = this.#limits;
		this.#limits = { ...before, ...defined({ budgetTokens, budgetCost }) };
		const isOther = before.budgetTokens !== this.#limits.budgetTokens || before.budgetCost !== this.#limits.budgetCost;
		if (isOther) this.#options.onGranted(this.#limits);
	}

	async #steerNow(): Promise<TurnReply> {
		const wrapUp = this.#options.driver.takeWrapUp();
		if (wrapUp !== undefined) this.#steers.push(wrapUp);
		const text = this.takeSteers();
		if (text !== undefined) await this.#options.steer(text);
		return wrapUp === undefined ? "go" : "wrap_up";
	}
}

function smallerBudget(limits: Limits, { budgetTokens, budgetCost }: Limits): Limits {
	const smaller = (one: number | undefined, other: number | undefined) =>
		one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
	return {
		...limits,
		...defined({
			budgetTokens: smaller(limits.budgetTokens, budgetTokens),
			budgetCost: smaller(limits.budgetCost, budgetCost),
		}),
	};
}
