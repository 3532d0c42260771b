/**
 * Who pays: what each agent has used with all that it launched, and the question to whoever may grant more.
 * Private to the conductor.
 */
import type { Usage } from "@pi-subagents/progress";
import { type Overrun, overrun } from "./budget.ts";
import type { Conductor } from "./conductor.ts";
import type { LiveAgent } from "./live.ts";
import type { AgentRecord } from "./record.ts";
import type { Limits } from "./runner.ts";
import type { Store } from "./store.ts";
import { addUsage, NO_USAGE } from "./usage.ts";

/** `askerId` asks whether `payer`, itself or an agent above it, may use as much again. */
export type MayExtend = (askerId: string, payer: AgentRecord, used: string) => Promise<boolean>;

export interface PurseOptions {
	conductor: Conductor;
	store: Store;
	mayExtend: MayExtend;
}

export class Purse {
	readonly #options: PurseOptions;
	/** Of each agent with all below it, in its present run. */
	readonly #treeUsage = new Map<string, Usage>();
	/** Questions about budgets that are under way, by who pays. */
	readonly #extensions = new Map<string, Promise<unknown>>();

	constructor(options: PurseOptions) {
		this.#options = options;
	}

	/** A run begins with its whole budget. */
	open(id: string): void {
		this.#treeUsage.delete(id);
	}

	spend(id: string, usage: Usage): void {
		for (const each of [id, ...this.#options.conductor.family.ancestorsOf(id).map((record) => record.id)]) {
			this.#treeUsage.set(each, addUsage(this.#treeUsage.get(each) ?? NO_USAGE, usage));
		}
	}

	/** Asks, as often as one budget after the other is used up; one question for all who wait for the same purse. */
	async isPaid(live: LiveAgent, payerId: string): Promise<boolean> {
		for (;;) {
			if (live.abort.signal.aborted) return false;
			const payer = this.#options.conductor.live(payerId);
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
			// A question that ended because the asker was stopped is no refusal: whoever else waits asks again.
			else if (!asker.abort.signal.aborted)
				this.#options.conductor.stop(payer.id, { by: "budget", reason: `it used ${used}` });
		} finally {
			this.#extensions.delete(payer.id);
		}
	}
}

function grant(payer: LiveAgent, limits: Limits): void {
	payer.limits = limits;
	if (payer.run) payer.run.granted = limits;
}
