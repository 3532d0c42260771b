/**
 * Tells the agents of which nothing is still to come from the others, by a glance at each entry: a session may hold ten
 * thousand, and whoever opens it should not wait until all of them are checked. Pure.
 */
import { isOurs, outlivesIn } from "./entries.ts";
import { type Entry, toldIn } from "./session-entry.ts";

export interface SortedOut {
	/** The agents whose every run has settled, and was told if it was to be. */
	agentIds: ReadonlySet<string>;
	/** Their runs. */
	runIds: ReadonlySet<string>;
	/** What there is beside their entries, if anything of ours is. */
	rest: readonly Entry[];
}

interface Glance {
	agentId: string;
	isBackground: unknown;
	hasSettled: boolean;
}

export function sortOut(entries: readonly Entry[]): SortedOut {
	const runs = new Map<string, Glance>();
	const told = new Set<string>();
	const presentIds = new Set<string>();
	let hasOthers = false;
	for (const entry of entries) {
		for (const runId of toldIn(entry)) told.add(runId);
		const data = dataOf(entry);
		if (!data) continue;
		const { type, runId, agentId, isBackground } = data;
		const known = typeof runId === "string" ? runs.get(runId) : undefined;
		if (type === "settled" && known) known.hasSettled = true;
		else if (type === "launched" && typeof runId === "string" && typeof agentId === "string") {
			// What outlives a session has files and a place in the footer, and is always looked at.
			if (outlivesIn(entry.customType)) presentIds.add(agentId);
			runs.set(runId, { agentId, isBackground, hasSettled: known?.hasSettled ?? false });
		} else if (type === "closed" && typeof runId === "string") told.add(runId);
		else hasOthers = true;
	}
	for (const [runId, { agentId, isBackground, hasSettled }] of runs)
		if (!hasSettled || !(isBackground === false || told.has(runId))) presentIds.add(agentId);

	const agentIds = new Set<string>();
	const runIds = new Set<string>();
	for (const [runId, { agentId }] of runs) {
		if (presentIds.has(agentId)) continue;
		agentIds.add(agentId);
		runIds.add(runId);
	}
	const isAllPast = presentIds.size === 0 && !hasOthers;
	return { agentIds, runIds, rest: isAllPast ? [] : entries.filter((entry) => !isAbout(runIds, entry)) };
}

/** Whether the entry is one of ours, about one of these runs. */
export function isAbout(runIds: ReadonlySet<string>, entry: Entry): boolean {
	const runId = dataOf(entry)?.runId;
	return typeof runId === "string" && runIds.has(runId);
}

/** Unchecked; of entries that are none of ours, nothing. */
function dataOf({ type, customType, data }: Entry): Record<string, unknown> | undefined {
	return type === "custom" && isOurs(customType) && isObject(data) ? data : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}
