/**
 * Tracks what each agent has used, including its descendants, and asks whether a used-up budget may be extended.
 * Private to the run life cycle.
 */
import type { Usage } from "@pi-subagents/progress";
import { type Overrun, overrun } from "../model/budget.ts";
import type { AgentRecord } from "../model/record.ts";
import type { Limits } from "../model/runner.ts";
import type { Store } from "../model/store.ts";
import { addUsage, NO_USAGE } from "../model/usage.ts";
import type { LiveAgent } from "./live-agents.ts";
import type { RunLifecycle } from "./run-lifecycle.ts";

/** `askerId` asks whether `payer`, itself or an ancestor, may use the same amount again. */
export type MayExtend = (askerId: string, payer: AgentRecord, used: string) => Promise<boolean>;

export interface BudgetTrackerOptions {
	lifecycle: RunLifecycle;
	store: Store;
	mayExtend: MayExtend;
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
			const over = payer && overrun(this.#treeUsage.get(payerId) ?? NO_USAGE, payer.run?.granted ?? payer.limits);
			if (!payer || !over) return true;
			const asking = this.#extensions.get(payerId) ?? this.#askToExtend(live, payer, over);
			this.#extensions.set(payerId, asking);
			await asking;
		}
	}

	async #askToExtend(asker: LiveAgent, payer: LiveAgent, { used, extended }: Overrun): Promise<void> {
		const record = this.#options.store.record(payer.id);
		try {
			const isGranted = record !== undefined && (await this.#options.mayExtend(asker.id, record, used));
			if (isGranted) grant(payer, extended);
			// A question that ended because the asker was stopped is no refusal: another waiting agent asks again.
			else if (!asker.abort.signal.aborted)
				this.#options.lifecycle.stop(payer.id, { by: "budget", reason: `it used ${used}` });
		} finally {
			this.#extensions.delete(payer.id);
		}
	}
}

function grant(payer: LiveAgent, limits: Limits): void {
	payer.limits = limits;
	if (payer.run) payer.run.granted = limits;
}
