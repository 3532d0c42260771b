/**
 * Separates the agents that are over and delivered from the others, by a glance at each entry: a session may hold ten
 * thousand, and opening it should not wait until all of them are checked. Pure.
 */
import { isObject, once } from "@pi-subagents/core/internal/base";
import { hasOwnEnd, isOfSession, outlivesIn } from "@pi-subagents/runs";
import { deliveredIn, type SessionEntry } from "../session/session-entry.ts";

export interface SeparatedEntries {
	/** The agents whose every run has settled, and was delivered if it had to be. Looked up when it is first asked for. */
	archive: () => ArchivedEntries;
	/** All other entries, if any of them is ours. */
	current: readonly SessionEntry[];
	/** When a run last ended with its process, by any of the entries. */
	lastStopAt: number | undefined;
}

interface ArchivedEntries {
	agentIds: ReadonlySet<string>;
	runIds: ReadonlySet<string>;
	entries: readonly SessionEntry[];
}

/** A run that is not over, as far as the entries have been read. */
interface OpenRun {
	agentId: string;
	isBackground: unknown;
	/** The tool call that launched it. */
	callId: unknown;
	hasSettled: boolean;
}

/** `unanswered`: the tool calls without a result. */
export function separateArchive(
	entries: readonly SessionEntry[],
	unanswered: ReadonlySet<unknown> = new Set(),
): SeparatedEntries {
	const open = new Map<string, OpenRun>();
	const delivered = new Set<string>();
	const currentIds = new Set<string>();
	let hasOthers = false;
	let lastStopAt: number | undefined;
	for (const entry of entries) {
		if (entry.type === "custom_message") for (const runId of deliveredIn(entry)) delivered.add(runId);
		const data = dataOf(entry);
		if (!data) continue;
		const { type, runId, agentId, isBackground, callId, by, completedAt } = data;
		if (by === "shutdown" && typeof completedAt === "number") lastStopAt = Math.max(lastStopAt ?? 0, completedAt);
		const run = typeof runId === "string" ? open.get(runId) : undefined;
		if (typeof runId !== "string") hasOthers = true;
		else if (type === "settled" && run) {
			run.hasSettled = true;
			const isOwed = unanswered.has(run.callId) && hasOwnEnd(data);
			if (run.isBackground === false && !isOwed) open.delete(runId); // as most: its result was the tool's
		} else if (type === "launched" && typeof agentId === "string") {
			// A run that outlives a session has files and a place in the footer, and is always checked.
			if (outlivesIn(entry.customType)) currentIds.add(agentId);
			open.set(runId, { agentId, isBackground, callId, hasSettled: run?.hasSettled ?? false });
		} else if (type === "closed") {
			if (!unanswered.has(callId)) delivered.add(runId);
		} else hasOthers = true;
	}
	for (const [runId, { agentId, hasSettled }] of open)
		if (!hasSettled || !delivered.has(runId)) currentIds.add(agentId);

	const archive = once(() => archiveIn(entries, currentIds));
	const isAllArchived = currentIds.size === 0 && !hasOthers;
	return {
		archive,
		current: isAllArchived ? [] : entries.filter((entry) => !isAbout(archive().runIds, entry)),
		lastStopAt,
	};
}

function archiveIn(all: readonly SessionEntry[], currentIds: ReadonlySet<string>): ArchivedEntries {
	const agentIds = new Set<string>();
	const runIds = new Set<string>();
	for (const entry of all) {
		const { type, runId, agentId } = dataOf(entry) ?? {};
		if (type !== "launched" || typeof runId !== "string" || typeof agentId !== "string") continue;
		if (currentIds.has(agentId)) continue;
		agentIds.add(agentId);
		runIds.add(runId);
	}
	return { agentIds, runIds, entries: all.filter((entry) => isAbout(runIds, entry)) };
}

/** Whether the entry is one of ours, about one of these runs. */
function isAbout(runIds: ReadonlySet<string>, entry: SessionEntry): boolean {
	const runId = dataOf(entry)?.runId;
	return typeof runId === "string" && runIds.has(runId);
}

/** The unchecked data of an entry of ours. */
function dataOf({ type, customType, data }: SessionEntry): Record<string, unknown> | undefined {
	return type === "custom" && isOfSession(customType) && isObject(data) ? data : undefined;
}
