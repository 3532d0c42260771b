/**
 * Tells the agents of which nothing is still to come from the others, by a glance at each entry: a session may hold ten
 * thousand, and whoever opens it should not wait until all of them are checked. Pure.
 */
import { once } from "../once.ts";
import { isOurs, outlivesIn } from "./entries.ts";
import { type Entry, toldIn } from "./session-entry.ts";

export interface SortedOut {
	/** The agents whose every run has settled, and was told if it was to be. Looked up when it is first asked. */
	past: () => PastEntries;
	/** What there is beside their entries, if anything of ours is. */
	rest: readonly Entry[];
}

interface PastEntries {
	agentIds: ReadonlySet<string>;
	runIds: ReadonlySet<string>;
	entries: readonly Entry[];
}

/** A run of which something is still to come, as far as the entries have been looked at. */
interface OpenRun {
	agentId: string;
	isBackground: unknown;
	hasSettled: boolean;
}

export function sortOut(entries: readonly Entry[]): SortedOut {
	const open = new Map<string, OpenRun>();
	const told = new Set<string>();
	const presentIds = new Set<string>();
	let hasOthers = false;
	for (const entry of entries) {
		if (entry.type === "custom_message") for (const runId of toldIn(entry)) told.add(runId);
		const data = dataOf(entry);
		if (!data) continue;
		const { type, runId, agentId, isBackground } = data;
		const run = typeof runId === "string" ? open.get(runId) : undefined;
		if (typeof runId !== "string") hasOthers = true;
		else if (type === "settled" && run) {
			run.hasSettled = true;
			if (run.isBackground === false) open.delete(runId); // as most: nobody has to be told of it
		} else if (type === "launched" && typeof agentId === "string") {
			// What outlives a session has files and a place in the footer, and is always looked at.
			if (outlivesIn(entry.customType)) presentIds.add(agentId);
			open.set(runId, { agentId, isBackground, hasSettled: run?.hasSettled ?? false });
		} else if (type === "closed") told.add(runId);
		else hasOthers = true;
	}
	for (const [runId, { agentId, hasSettled }] of open) if (!hasSettled || !told.has(runId)) presentIds.add(agentId);

	const past = once(() => pastIn(entries, presentIds));
	const isAllPast = presentIds.size === 0 && !hasOthers;
	return { past, rest: isAllPast ? [] : entries.filter((entry) => !isAbout(past().runIds, entry)) };
}

function pastIn(all: readonly Entry[], presentIds: ReadonlySet<string>): PastEntries {
	const agentIds = new Set<string>();
	const runIds = new Set<string>();
	for (const entry of all) {
		const { type, runId, agentId } = dataOf(entry) ?? {};
		if (type !== "launched" || typeof runId !== "string" || typeof agentId !== "string") continue;
		if (presentIds.has(agentId)) continue;
		agentIds.add(agentId);
		runIds.add(runId);
	}
	return { agentIds, runIds, entries: all.filter((entry) => isAbout(runIds, entry)) };
}

/** Whether the entry is one of ours, about one of these runs. */
function isAbout(runIds: ReadonlySet<string>, entry: Entry): boolean {
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
