/**
 * Tracks what each agent has used, including its descendants, and asks whether a used-up budget may be extended. If not,
 * those who work on it are asked for their answers, and then stopped. Private to the run life cycle.
 */
import type { Usage } from "@pi-subagents/progress";
import { nearBudget, type Overrun, overrun } from "../model/budget.ts";
import type { AgentRecord } from "../model/record.ts";
import type { Limits } from "../model/runner.ts";
import type { Store } from "../model/store.ts";
import { addUsage, NO_USAGE, usageSince } from "../model/usage.ts";
import type { LiveAgent } from "./live-agents.ts";
import type { RunLifecycle } from "./run-lifecycle.ts";

/** `askerId` asks whether `payer`, itself or an ancestor, may use the same amount again. */
export type MayExtend = (askerId: string, payer: AgentRecord, used: string) => Promise<boolean>;

export interface BudgetTrackerOptions {
	lifecycle: RunLifecycle;
	store: Store;
	mayExtend: MayExtend;
	/** Whether there is anyone to ask about the payer. */
	canAsk: (payerId: string) => boolean;
}

export class BudgetTracker {
	readonly #options: BudgetTrackerOptions;
	/** Of each agent and its descendants, in its current run. */
	readonly #treeUsage = new Map<string, Usage>();
	/** Open questions about budgets, by payer. */
	readonly #extensions = new Map<string, Promise<unknown>>();

	constructor(options: BudgetTrackerOptions) {
		this.#options = options;
	}

	/** A run begins with its whole budget. */
	open(id: string): void {
		this.#treeUsage.delete(id);
	}

	spend(id: string, usage: Usage): void {
		for (const each of [id, ...this.#options.lifecycle.tree.ancestorsOf(id).map((record) => record.id)]) {
			this.#treeUsage.set(each, addUsage(this.#treeUsage.get(each) ?? NO_USAGE, usage));
		}
	}

	/** Asks each time a budget is used up. Agents that wait for the same budget share one question. */
	async check(live: LiveAgent, payerId: string): Promise<boolean> {
		for (;;) {
			if (live.abort.signal.aborted) return false;
			const payer = this.#options.lifecycle.live(payerId);
			if (!payer) return true;
			const used = this.#treeUsage.get(payerId) ?? NO_USAGE;
			const limits = payer.run?.granted ?? payer.limits;
			const over = overrun(used, limits);
			if (!over) {
				const near = nearBudget(used, this.#lastTurnOf(live), limits);
				if (near && !this.#options.canAsk(payerId)) this.#close(payer, near.reason);
				return true;
			}
			if (payer.closing) return this.#passLast(live, over);
			const asking = this.#extensions.get(payerId) ?? this.#askToExtend(live, payer, over);
			this.#extensions.set(payerId, asking);
			await asking;
		}
	}

	/** What it has used in its current run, with its descendants. */
	usageOf(id: string): Usage {
		return this.#treeUsage.get(id) ?? NO_USAGE;
	}

	async #askToExtend(asker: LiveAgent, payer: LiveAgent, { used, extended }: Overrun): Promise<void> {
		const record = this.#options.store.record(payer.id);
		try {
			const isGranted = record !== undefined && (await this.#options.mayExtend(asker.id, record, used));
			if (isGranted) grant(payer, extended);
			// A question that ended because the asker was stopped is no refusal: another waiting agent asks again.
			else if (!asker.abort.signal.aborted) this.#refuse(payer, used);
		} finally {
			this.#extensions.delete(payer.id);
		}
	}

	#refuse(payer: LiveAgent, used: string): void {
		if ((payer.limits.wrapUpPercent ?? 0) > 0) this.#close(payer, `the budget is used up, ${used}`);
		else this.#options.lifecycle.stop(payer.id, { by: "budget", reason: `it used ${used}` });
	}

	/** All who work on this budget are asked for their answers. */
	#close(payer: LiveAgent, reason: string): void {
		const { lifecycle } = this.#options;
		for (const id of [payer.id, ...lifecycle.tree.descendantsOf(payer.id).map((record) => record.id)]) {
			const live = lifecycle.live(id);
			if (live) this.#askToFinish(live, reason);
		}
	}

	#askToFinish(live: LiveAgent, reason: string): void {
		if (live.closing) return;
		live.closing = "asked";
		this.#options.lifecycle.whenRunning(live, (run) => run.wrapUp(reason, "budget"));
	}

	/** One turn for the answer; an agent that wants another is stopped. */
	#passLast(live: LiveAgent, { used }: Overrun): boolean {
		if (live.closing === "passed") {
			this.#options.lifecycle.stop(live.id, { by: "budget", reason: `it used ${used}` });
			return false;
		}
		this.#askToFinish(live, `the budget is used up, ${used}`);
		return true;
	}

	#lastTurnOf(live: LiveAgent): Usage {
		return usageSince(live.turnBegan.usage, this.usageOf(live.id));
	}
}

function grant(payer: LiveAgent, limits: Limits): void {
	payer.limits = limits;
	if (payer.run) payer.run.granted = limits;
}
