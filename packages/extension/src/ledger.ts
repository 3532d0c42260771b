/** What agents cost, told to pi once, so that its totals for the session include them. */
import { addUsage, billedTokens, type Store, treeUsage, type Usage } from "@pi-subagents/core";

/** In pi's own terms. It splits costs by kind, of which we know only the sum. */
interface ReportedUsage extends Omit<Usage, "cost"> {
	totalTokens: number;
	cost: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
}

export interface Ledger {
	/** What these agents and all below them have cost since they were last told. Telling it is up to the caller. */
	owed(agentIds: readonly string[]): ReportedUsage;
}

export function createLedger(store: Store): Ledger {
	const told = new Map<string, Usage>();
	return {
		owed(agentIds) {
			const { records } = store.snapshot();
			const usage = agentIds.map((id) => {
				const now = treeUsage(records, id).usage;
				const since = difference(now, told.get(id));
				told.set(id, now);
				return since;
			});
			return inPiTerms(usage.reduce(addUsage, NOTHING));
		},
	};
}

const NOTHING: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

function difference(now: Usage, before: Usage = NOTHING): Usage {
	return {
		input: now.input - before.input,
		output: now.output - before.output,
		cacheRead: now.cacheRead - before.cacheRead,
		cacheWrite: now.cacheWrite - before.cacheWrite,
		cost: now.cost - before.cost,
	};
}

function inPiTerms({ cost, ...tokens }: Usage): ReportedUsage {
	return {
		...tokens,
		totalTokens: billedTokens({ ...tokens, cost }),
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: cost },
	};
}
