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

/** The one type of message that tells of results. Its details name the runs. */
export const NOTIFICATION = "subagent-notification";

export interface Journal {
	/** The session entry of the run's launch. */
	entryOf(runId: string): string | undefined;
	/** The launch entries on the branch that is current. */
	branch(): string[];
	/** Keeps how a run ended. */
	settled(record: AgentRecord): void;
	/** Keeps that a run's result is never to be told. */
	closed(record: AgentRecord): void;
	/** What the open session remembers, on whatever branch. */
	read(): Remembered;
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

export function createJournal(pi: ExtensionAPI, host: Host, store: Store): Journal {
	const entryIds = new Map<string, string>();
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
		branch() {
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
			const remembered = noting(remember(host.session()?.sessionManager.getEntries() ?? []));
			for (const [runId, { entryId }] of remembered) entryIds.set(runId, entryId);
			return remembered;
		},
		async readAgain() {
			const file = host.session()?.sessionManager.getSessionFile();
			return noting(remember(file === undefined ? [] : entriesIn(await readFile(file, "utf8"))));
		},
	};
}

/** An entry of a session, as far as it matters here. */
interface Entry {
	id: string;
	type: string;
	customType?: unknown;
	data?: unknown;
	details?: unknown;
}

/** A line that is not whole is still being written. */
function entriesIn(text: string): Entry[] {
	return text.split("\n").flatMap((line) => {
		try {
			const entry: unknown = JSON.parse(line);
			return isEntry(entry) ? [entry] : [];
		} catch (error) {
			if (error instanceof SyntaxError) return [];
			throw error;
		}
	});
}

function isEntry(value: unknown): value is Entry {
	if (typeof value !== "object" || value === null || !("id" in value) || !("type" in value)) return false;
	return typeof value.id === "string" && typeof value.type === "string";
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

/** The runs that a message of ours tells of. */
function toldIn(entry: Entry): string[] {
	return entry.type === "custom_message" && entry.customType === NOTIFICATION ? runsIn(entry.details) : [];
}

/** From the details of a message, as they are found in a session file. */
export function runsIn(details: unknown): string[] {
	const runIds = typeof details === "object" && details !== null && "runIds" in details ? details.runIds : undefined;
	return Array.isArray(runIds) ? runIds.filter((runId) => typeof runId === "string") : [];
}
