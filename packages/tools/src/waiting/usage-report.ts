/** What agents cost, reported to pi once, so that its totals for the session include them. */
import { addUsage, billedTokens, type Store, type Usage } from "@pi-subagents/core";

/** In pi's own terms. It splits costs by kind, of which we know only the sum. */
interface ReportedUsage extends Omit<Usage, "cost" | "costFromProvider"> {
	totalTokens: number;
	cost: {
		input: number;
		output: number;
		cacheRead: number;
		cacheWrite: number;
		total: number;
		/** Since pi 1.5: the total was billed, not estimated. */
		totalFromProvider?: true;
	};
}

export interface UsageReport {
	/** What all agents have cost since the last call. The caller must report it to pi. */
	owed(): ReportedUsage;
}

/**
 * Costs of an earlier process were reported there as far as possible: only what a later run adds counts.
 * Those that outlive the session are sessions of their own.
 */
export function createUsageReport(store: Store): UsageReport {
	const told = new Map<string, Usage>();
	const changed = new Set<string>();
	store.subscribe(({ event, record: { id, usage, outlives } }) => {
		if (event.type === "agent_queued" && !told.has(id)) told.set(id, usage);
		if (event.type === "usage" && !outlives) changed.add(id);
		if (event.type === "agent_settled" && event.totals) told.set(id, usage);
	});
	return {
		owed() {
			const since = [...changed].map((id) => {
				const now = store.record(id)?.usage ?? NOTHING;
				const owed = difference(now, told.get(id));
				told.set(id, now);
				return owed;
			});
			changed.clear();
			return toPiUsage(since.reduce(addUsage, NOTHING));
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
		...(now.costFromProvider && { costFromProvider: true }),
	};
}

/** What pi itself would call it. */
export function toPiUsage({ cost, costFromProvider, ...tokens }: Usage): ReportedUsage {
	return {
		...tokens,
		totalTokens: billedTokens({ ...tokens, cost }),
		cost: {
			input: 0,
			output: 0,
			cacheRead: 0,
			cacheWrite: 0,
			total: cost,
			...(costFromProvider && { totalFromProvider: true }),
		},
	};
}
