/**
 * Writes to the session file what happens to agents that the session launched, and reads it back when it is opened.
 * A launch is written before anything is started: whatever is killed afterwards, the session knows of the run.
 */
import { readFile } from "node:fs/promises";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, bestEffort, runIdOf, type Store } from "@pi-subagents/core";
import type { Host } from "../host.ts";
import {
	entryTypeFor,
	type JournalEntry,
	type LaunchEntry,
	launchEntry,
	parseEntry,
	type SettledEntry,
	settledEntry,
} from "./entries.ts";
import { sortOut } from "./past.ts";
import { type Entry, entriesIn, toldIn } from "./session-entry.ts";

export interface Journal {
	/** The session entry of the run's launch, unless it is past. */
	entryOf(runId: string): string | undefined;
	/** The launch entries on the branch that is current, but for those of past agents. */
	branch(): string[];
	/** All runs that the session remembers. */
	runIds(): Iterable<string>;
	/** Keeps how a run ended. */
	settled(record: AgentRecord): void;
	/** Keeps that a run's result is never to be told. */
	closed(record: AgentRecord): void;
	/** What the open session remembers, on whatever branch. */
	read(): { present: Remembered; past: PastAgents };
	/** What its file says by now: another pi that has the session open may have written to it. */
	readAgain(): Promise<Remembered>;
}

/** By the id of the run, in the order of launching. */
export type Remembered = Map<string, RememberedRun>;

export interface RememberedRun {
	launch: LaunchEntry;
	outlives: boolean;
	entryId: string;
	settled?: SettledEntry;
	/** The session holds the message that tells of its result, or it is not to be told. */
	isTold: boolean;
}

/** Agents of which nothing is still to come. */
interface PastAgents {
	has(agentId: string): boolean;
	/** Their runs, which are only now looked at closely. */
	runs(): Remembered;
}

export function createJournal(pi: ExtensionAPI, host: Host, store: Store): Journal {
	/** Of the runs that are not past. */
	const entryIds = new Map<string, string>();
	let pastIds = (): Iterable<string> => [];
	const ended = new Set<string>();
	const write = (entry: JournalEntry, outlives = false) =>
		void bestEffort("remembering an agent in the session", host.tell, () =>
			pi.appendEntry(entryTypeFor(entry, outlives), entry),
		);
	/** What is read back is not written again when it happens once more in the store. */
	const noting = (remembered: Remembered): Remembered => {
		for (const [runId, { settled }] of remembered) if (settled) ended.add(runId);
		return remembered;
	};
	store.subscribe((event, record) => {
		if (record.parentAgentId !== undefined) return;
		const runId = runIdOf({ agentId: record.id, run: record.run });
		// It was waited for, and is to be told of from now on.
		if (event.type === "agent_left") write(launchEntry(record), record.outlives);
		// Whoever tells of what is in the background says when that has settled.
		if (event.type === "agent_settled" && !record.isBackground && !ended.has(runId))
			write(settledEntry(record, event.outcome), record.outlives);
		if (event.type !== "agent_queued" || entryIds.has(runId)) return; // or the session already held it when it was opened
		write(launchEntry(record), record.outlives);
		const leaf = host.session()?.sessionManager.getLeafId();
		if (leaf) entryIds.set(runId, leaf);
	});
	return {
		entryOf: (runId) => entryIds.get(runId),
		runIds: () => [...pastIds(), ...entryIds.keys()],
		branch() {
			if (entryIds.size === 0) return [];
			const ids = new Set(
				host
					.session()
					?.sessionManager.getBranch()
					.map((entry) => entry.id),
			);
			return [...entryIds.values()].filter((id) => ids.has(id));
		},
		settled: (record) => record.outcome && write(settledEntry(record, record.outcome), record.outlives),
		closed: ({ id, run, outlives }) => write({ type: "closed", runId: runIdOf({ agentId: id, run }) }, outlives),
		read() {
			const entries = host.session()?.sessionManager.getEntries() ?? [];
			const { past, rest } = sortOut(entries);
			pastIds = () => past().runIds;
			const present = noting(remember(rest));
			for (const [runId, { entryId }] of present) entryIds.set(runId, entryId);
			const runs = () => remember(past().entries);
			return { present, past: { has: (agentId) => past().agentIds.has(agentId), runs } };
		},
		async readAgain() {
			const file = host.session()?.sessionManager.getSessionFile();
			return noting(remember(file === undefined ? [] : entriesIn(await readFile(file, "utf8"))));
		},
	};
}

function remember(entries: readonly Entry[]): Remembered {
	const runs: Remembered = new Map();
	for (const entry of entries) {
		if (entry.type !== "custom") continue;
		const found = parseEntry(entry.customType, entry.data);
		const known = found && runs.get(found.runId);
		if (found?.type === "launched" && !known) {
			runs.set(found.runId, { launch: found, outlives: found.outlives, entryId: entry.id, isTold: false });
		} else if (found?.type === "launched" && known) known.launch = found;
		else if (found?.type === "settled" && known) known.settled ??= found;
		else if (found?.type === "closed" && known) known.isTold = true;
	}
	for (const runId of entries.flatMap(toldIn)) {
		const run = runs.get(runId);
		if (run) run.isTold = true;
	}
	return runs;
}
