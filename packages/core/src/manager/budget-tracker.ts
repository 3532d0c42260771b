/**
 * Tracks what each agent has used, including its descendants, and asks whether a used-up budget may be extended. If not,
 * those who work on it are asked for their answers, and then stopped. Private to the run life cycle.
 */
import type { Usage } from "@pi-subagents/progress";
import { nearBudget, type Overrun, overrun, shareOf } from "../model/budget.ts";
import type { AgentRecord } from "../model/record.ts";
import type { Limits } from "../model/schema/spec.ts";
import type { Store } from "../model/store.ts";
import { addUsage, NO_USAGE, usageSince } from "../model/usage.ts";
import type { LiveAgent } from "./live-agents.ts";
import type { RunLifecycle } from "./run-lifecycle.ts";
import type { SessionBudget } from "./session-budget.ts";

/** `askerId` asks whether `payer`, itself or an ancestor, may use the same amount again. */
export type MayExtend = (askerId: string, payer: AgentRecord, used: string) => Promise<boolean>;

/** Whose budget is checked: an agent with its descendants, or the session. */
interface Payer {
	key: string;
	used: Usage;
	limits: Limits;
	/** Refused, its members are asked for their answers instead of being stopped. */
	savesWork: boolean;
	isClosing: boolean;
	canAsk: boolean;
	/** All who work on it. */
	members: readonly LiveAgent[];
	/** Those of them that a stop begins with. */
	stopped: readonly LiveAgent[];
	ask(askerId: string, used: string): Promise<boolean>;
	grant(limits: Limits): void;
}

/** No agent has this id. */
const SESSION = "";

export interface BudgetTrackerOptions {
	lifecycle: RunLifecycle;
	store: Store;
	mayExtend: MayExtend;
	/** Whether there is anyone to ask about the payer. */
	canAsk: (payerId: string) => boolean;
	/** What all agents may use together, and how the user is asked about it. */
	session?: {
		budget: SessionBudget;
		canAsk: () => boolean;
		mayExtend: (askerId: string, used: string) => Promise<boolean>;
	};
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
	check(live: LiveAgent, payerId: string): Promise<boolean> {
		return this.#check(live, () => this.#payer(payerId));
	}

	/** The same for what all agents of the session may use together. */
	checkSession(live: LiveAgent): Promise<boolean> {
		return this.#check(live, () => this.#session(live));
	}

	/** Says to a run that may continue without us what it may use of the session's budget then. */
	limitAlone({ id, run }: LiveAgent): void {
		const { lifecycle, store, session } = this.#options;
		if (!session?.budget.isKnown) return; // what an earlier process said still counts
		const limits = session.budget.asLimits(undefined) ?? {};
		const among = lifecycle.liveAgents().filter(({ spec, run }) => spec.outlives && run).length;
		run?.limitAlone?.(shareOf(this.usageOf(id), { spent: store.spent().usage, limits, among }));
	}

	async #check(live: LiveAgent, payerNow: () => Payer | undefined): Promise<boolean> {
		for (;;) {
			if (live.abort.signal.aborted) return false;
			const payer = payerNow();
			if (!payer) return true;
			const over = overrun(payer.used, payer.limits);
			if (!over) {
				const near = nearBudget(payer.used, this.#lastTurnOf(live), payer.limits);
				if (near && !payer.canAsk) this.#close(payer, near.reason);
				return true;
			}
			if (payer.isClosing) return this.#passLast(live, over);
			const asking = this.#extensions.get(payer.key) ?? this.#askToExtend(live, payer, over);
			this.#extensions.set(payer.key, asking);
			await asking;
		}
	}

	#payer(id: string): Payer | undefined {
		const { lifecycle, store, canAsk, mayExtend } = this.#options;
		const live = lifecycle.live(id);
		if (!live) return undefined;
		const below = lifecycle.tree.descendantsOf(id).flatMap((record) => lifecycle.live(record.id) ?? []);
		return {
			key: id,
			used: this.usageOf(id),
			limits: live.run?.granted ?? live.limits,
			savesWork: (live.limits.wrapUpPercent ?? 0) > 0,
			isClosing: live.closing !== undefined,
			canAsk: canAsk(id),
			members: [live, ...below],
			stopped: [live],
			async ask(askerId, used) {
				const record = store.record(id);
				return record !== undefined && mayExtend(askerId, record, used);
			},
			grant: (limits) => grant(live, limits),
		};
	}

	#session(live: LiveAgent): Payer | undefined {
		const { lifecycle, store, session } = this.#options;
		const limits = session?.budget.asLimits(live.limits.wrapUpPercent);
		if (!session || !limits) return undefined;
		const members = lifecycle.liveAgents();
		return {
			key: SESSION,
			used: store.spent().usage,
			limits,
			savesWork: (limits.wrapUpPercent ?? 0) > 0,
			isClosing: live.closing !== undefined,
			canAsk: session.canAsk(),
			members,
			stopped: members,
			ask: session.mayExtend,
			grant: () => session.budget.extend(),
		};
	}

	/** What it has used in its current run, with its descendants. */
	usageOf(id: string): Usage {
		return this.#treeUsage.get(id) ?? NO_USAGE;
	}

	async #askToExtend(asker: LiveAgent, payer: Payer, { used, extended }: Overrun): Promise<void> {
		try {
			if (await payer.ask(asker.id, used)) payer.grant(extended);
			// A question that ended because the asker was stopped is no refusal: another waiting agent asks again.
			else if (!asker.abort.signal.aborted) this.#refuse(payer, used);
		} finally {
			this.#extensions.delete(payer.key);
		}
	}

	#refuse(payer: Payer, used: string): void {
		if (payer.savesWork) this.#close(payer, `the budget is used up, ${used}`);
		else
			for (const { id } of payer.stopped) this.#options.lifecycle.stop(id, { by: "budget", reason: `it used ${used}` });
	}

	/** All who work on this budget are asked for their answers. */
	#close({ members }: Payer, reason: string): void {
		for (const live of members) this.#askToFinish(live, reason);
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
