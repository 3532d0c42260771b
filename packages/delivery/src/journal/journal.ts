/**
 * Writes to the session log what happens to the agents that the session launched, and reads it back when the session is
 * opened. A launch is written before anything is started, so the session knows of the run whatever is killed afterwards.
 * The only place that writes how a run settled.
 */
import {
	type AgentEvent,
	type AgentRecord,
	type Clock,
	type Outcome,
	type RunIdentity,
	runIdOf,
	type Store,
} from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import {
	entryTypeFor,
	hasOwnEnd,
	type JournalEntry,
	type LaunchEntry,
	parseEntry,
	type SettledEntry,
} from "@pi-subagents/runs";
import { deliveredIn, type SessionEntry, unansweredCalls } from "../session/session-entry.ts";
import type { KeepingLog } from "../session/unwritten-entries.ts";
import { separateArchive } from "./archive.ts";
import type { ResultArchive } from "./archive-long-results.ts";
import { launchEntry, settledEntry } from "./entry-content.ts";
import { UnwrittenAnswers } from "./unwritten-answers.ts";

/** What the session log says of runs. */
export interface Journal {
	/** The id of the entry with the run's launch, unless the run is archived. */
	entryOf(runId: string): string | undefined;
	/** The ids of the launch entries on the current branch, without those of archived runs. */
	branch(): string[];
	/** All runs that the session remembers. */
	runIds(): Iterable<string>;
	/** Resolves when the log says how this run ended, or the disk is too slow: nothing should be told of it before. */
	untilKnown(run: RunIdentity): Promise<void>;
	/** When an agent last ended with its process, by what the log said when it was opened. Makes no record. */
	lastStopAt(): number | undefined;
}

/** The journal as the rest of delivery uses it. */
export interface RunJournal extends Journal {
	/** Reports each background run that has settled, as soon as the log says how. */
	onSettled(listener: (run: SettledRun) => void): void;
	/** Writes that a run's result is never to be delivered: if `callId` is given, because the result of that call holds it. */
	close(record: AgentRecord, callId?: string): void;
	/** What the open session remembers, on whatever branch. */
	read(): { current: LoggedRuns; archive: ArchivedAgents };
	/** What its log says by now: another process that has the session open may have written to it. */
	readAgain(): Promise<LoggedRuns>;
	/** Takes note that these ended in an earlier process, and whether their files hold the answer: there is no need to wait for the disk. */
	setEnds(ends: ReadonlyMap<string, { isFiled: boolean }>): void;
	/** The session ends. Resolves when the log holds all ends that it can hold. */
	end(): Promise<void>;
}

/** A background run whose end is in the log. */
interface SettledRun {
	runId: string;
	record: AgentRecord;
	/** The log has just learned of it. An opened session may have known it already. */
	isNew: boolean;
	/** Its result was delivered, or is never to be. */
	isClosed: boolean;
	/** Whether the run's files hold the answer, where that was checked. */
	isFiled?: boolean;
}

/** By the id of the run, in the order of launching. */
export type LoggedRuns = Map<string, LoggedRun>;

export interface LoggedRun {
	launch: LaunchEntry;
	outlives: boolean;
	/** The entry of its launch. Absent if the open session has it on no branch. */
	entryId?: string;
	settled?: SettledEntry;
	/** The session holds the message with its result, or is not to get one. */
	isDelivered: boolean;
	/** A tool call waited for it, and the session has no result of that call: its process was killed before. */
	isUnanswered: boolean;
}

/** Whether the session has yet to get the result, as far as its log knows. */
export function isOwed({ launch, isDelivered, isUnanswered }: LoggedRun): boolean {
	return !isDelivered && (launch.isBackground || isUnanswered);
}

/** Agents whose runs are all over and delivered. */
interface ArchivedAgents {
	has(agentId: string): boolean;
	/** Their runs; the entries are checked when this is called. */
	runs(): LoggedRuns;
}

export interface JournalDeps {
	store: Store;
	log: KeepingLog;
	archive: ResultArchive;
	/** Whether the session does something: then its tool calls have no result yet, and will get one. */
	isBusy: () => boolean;
	clock: Clock;
}

export function createJournal({ store, log, archive, isBusy, clock }: JournalDeps): RunJournal {
	/** The launch entries of the runs that are not archived. */
	const entryIds = new Map<string, string | undefined>();
	let archivedIds = (): Iterable<string> => [];
	let lastStopAt: number | undefined;
	/** Runs whose end is in the log, or about to be. */
	const ended = new Set<string>();
	const closed = new Set<string>();
	/** Whether its files hold the answer, for runs that ended in an earlier process. */
	const filed = new Map<string, boolean>();
	const unwritten = new UnwrittenAnswers(archive, clock);
	const listeners: ((run: SettledRun) => void)[] = [];

	const append = (entry: JournalEntry, record: AgentRecord): string | undefined => {
		const place = { outlives: record.outlives ?? false, isNested: record.parentAgentId !== undefined };
		return log.append(entryTypeFor(entry, place), entry);
	};
	const notify = (run: SettledRun) => {
		for (const listener of listeners) listener(run);
	};
	const settle = (runId: string, record: AgentRecord, outcome: Outcome) => {
		const { isBackground } = record;
		const isKnown = ended.has(runId) || closed.has(runId); // a result that was closed first needs no entry about its end
		const isFiled = filed.get(runId);
		filed.delete(runId);
		if (isKnown && isBackground)
			notify({ runId, record, isNew: false, isClosed: closed.has(runId), ...defined({ isFiled }) });
		if (isKnown) return;
		ended.add(runId);
		const write = (isInFiles: boolean | undefined) => {
			append(settledEntry(record, outcome, { carriesAnswer: isInFiles !== true }), record);
			if (!isBackground) return; // its caller has the result
			notify({ runId, record, isNew: true, isClosed: closed.has(runId), ...defined({ isFiled: isInFiles }) });
		};
		if (isFiled !== undefined || !unwritten.mustWait(record, outcome)) return write(isFiled);
		unwritten.wait(runId, record, outcome, write);
	};
	/** What an agent launched ends with it, and its result went there: this is for reports only. */
	const noteNested = (event: AgentEvent, record: AgentRecord) => {
		if (event.type === "agent_queued") append(launchEntry(record), record);
		if (event.type === "agent_settled") append(settledEntry(record, event.outcome, { carriesAnswer: false }), record);
	};
	store.subscribe(({ event, record }) => {
		if (record.parentAgentId !== undefined) return noteNested(event, record);
		const runId = runIdOf({ agentId: record.id, run: record.run });
		const { type } = event;
		// An earlier listener may have ended a run that was just queued, so either event can come first.
		const isFirst = (type === "agent_queued" || type === "agent_settled") && !entryIds.has(runId);
		if (isFirst) entryIds.set(runId, append(launchEntry(record), record));
		// Its caller waited for it until now; from here on its result is to be delivered.
		if (type === "moved_to_background") append(launchEntry(record), record);
		if (type === "agent_settled") settle(runId, record, event.outcome);
	});

	const callsWithoutResult = (entries: readonly SessionEntry[]) =>
		isBusy() ? new Set<string>() : unansweredCalls(entries);
	/** What is read back is not written again when the store replays it. */
	const noting = (runs: LoggedRuns): LoggedRuns => {
		for (const [runId, { settled, isDelivered }] of runs) {
			if (settled) ended.add(runId);
			if (isDelivered) closed.add(runId);
		}
		return runs;
	};
	return {
		entryOf: (runId) => entryIds.get(runId),
		runIds: () => [...archivedIds(), ...entryIds.keys()],
		untilKnown: (run) => unwritten.until(runIdOf(run)),
		lastStopAt: () => lastStopAt,
		branch() {
			if (entryIds.size === 0) return [];
			const ids = new Set(log.branchIds());
			return [...entryIds.values()].filter((id): id is string => id !== undefined && ids.has(id));
		},
		onSettled: (listener) => void listeners.push(listener),
		close(record, callId) {
			const runId = runIdOf({ agentId: record.id, run: record.run });
			closed.add(runId);
			append({ type: "closed", runId, ...defined({ callId }) }, record);
		},
		read() {
			const all = log.entries();
			const unanswered = callsWithoutResult(all);
			const { archive: archived, current: entries, ...rest } = separateArchive(all, unanswered);
			({ lastStopAt } = rest);
			archivedIds = () => archived().runIds;
			const current = noting(readRuns(entries, unanswered));
			for (const [runId, { entryId }] of current) entryIds.set(runId, entryId);
			const runs = () => readRuns(archived().entries);
			return { current, archive: { has: (agentId) => archived().agentIds.has(agentId), runs } };
		},
		async readAgain() {
			const entries = await log.reread();
			return noting(readRuns(entries, callsWithoutResult(entries)));
		},
		setEnds(ends) {
			for (const [runId, { isFiled }] of ends) if (!closed.has(runId)) filed.set(runId, isFiled);
		},
		async end() {
			await unwritten.end();
			log.close();
		},
	};
}

/** The runs in the entries of a session, in their order. `unanswered`: the tool calls without a result. */
export function readRuns(entries: readonly SessionEntry[], unanswered: ReadonlySet<string> = new Set()): LoggedRuns {
	const runs: LoggedRuns = new Map();
	const isUnanswered = (callId: string | undefined) => callId !== undefined && unanswered.has(callId);
	for (const entry of entries) {
		if (entry.type !== "custom") continue;
		const found = parseEntry(entry.customType, entry.data);
		const known = found && runs.get(found.runId);
		if (found?.type === "launched" && !known) {
			const { runId, outlives } = found;
			runs.set(runId, { launch: found, outlives, entryId: entry.id, isDelivered: false, isUnanswered: false });
		} else if (found?.type === "launched" && known) known.launch = found;
		else if (found?.type === "settled" && known) known.settled ??= found;
		else if (found?.type === "closed" && known && !isUnanswered(found.callId)) known.isDelivered = true;
	}
	for (const runId of entries.flatMap(deliveredIn)) {
		const run = runs.get(runId);
		if (run) run.isDelivered = true;
	}
	for (const run of runs.values()) {
		const { launch, settled } = run;
		run.isUnanswered = !launch.isBackground && isUnanswered(launch.callId) && (!settled || hasOwnEnd(settled));
	}
	return runs;
}
