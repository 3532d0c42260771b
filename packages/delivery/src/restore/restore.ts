/**
 * Takes in what an opened session remembers. Runs that outlive sessions are watched again, wherever their launch stands
 * in the session's tree; all others that had not settled ended with the process that ran them. Unless another process
 * has the session open too: then they are left to it for as long as it lives.
 */

import { type Clock, type Manager, type Outcome, type Report, runIdOf } from "@pi-subagents/core";
import { bestEffort, defined } from "@pi-subagents/core/internal/base";
import { claimRun, hasOwnEnd, launchedRun, releaseRun } from "@pi-subagents/runs";
import { isOwed, type LoggedRun, type LoggedRuns, type RunJournal } from "../journal/journal.ts";
import type { Notifier } from "../notify/notifier.ts";
import { restoredDeliveries } from "../notify/restored-deliveries.ts";
import type { Messenger, Ownership } from "../session/ports.ts";
import { describe } from "./describe-run.ts";
import { finishEnded } from "./finish-ended.ts";
import { archivedEndOf, endOf, eventsOf, type RunEnd, withOwnFiles } from "./run-ends.ts";

export interface Restorer {
	/** Takes in the open session. Resolves when its first turn may begin. */
	open(): Promise<void>;
	close(): void;
}

export interface RestorerDeps {
	manager: Manager;
	journal: RunJournal;
	notifier: Notifier;
	messenger: Messenger;
	ownership: Ownership;
	/** pi's own directory; undefined if no other process can watch the runs. */
	agentDir: string | undefined;
	/** The id of the open session, which the files of a watched run name as its owner. */
	sessionId: () => string | undefined;
	/** Called with the ids of restored agents, before anything about them is delivered. */
	onRestored: (agentIds: ReadonlySet<string>) => Promise<void>;
	warn: Report;
	clock: Clock;
}

/** How often to check whether another process that watches our runs, or owns our session, has ended. */
const CHECK_AGAIN_MS = 15_000;

export function createRestorer(deps: RestorerDeps): Restorer {
	const { manager, journal, notifier, messenger, ownership, agentDir, sessionId, onRestored, warn, clock } = deps;
	const timers = new Set<() => void>();
	let logged: LoggedRuns = new Map();
	let isOpen = true;

	/** The child may still be running, or be gone; its files say which. */
	const watch = async (run: LoggedRun): Promise<void> => {
		let isSettledOrWatched = false;
		await bestEffort(`watching agent ${run.launch.agentId} again`, warn, async () => {
			isSettledOrWatched = await join(run);
		});
		// A fork of this session is open elsewhere; or a full disk could not take our claim, and may have room soon.
		if (!isSettledOrWatched && isOpen) later(() => watch(run));
	};
	const join = async (run: LoggedRun): Promise<boolean> => {
		const { agentId: id } = run.launch;
		const end = await endOf(run, { agentDir, clock });
		if (end && isOpen) manager.restore(eventsOf(run, manager.store.seq, end));
		if (end) return true;
		const meta = await describe(run.launch);
		if (!isOpen) return true;
		if (typeof meta === "string") {
			const outcome: Outcome = { status: "aborted", by: "lost", reason: meta };
			manager.restore(eventsOf(run, manager.store.seq, { outcome, completedAt: clock.now(), isFiled: false }));
			return true;
		}
		const { artifacts } = meta;
		const us = { sessionId: sessionId() };
		const files = agentDir === undefined ? undefined : { agentDir, runDir: artifacts };
		const isOurs = !files || (await claimRun(files, us)).isOurs;
		// Closed meanwhile: the run must not wait for answers of a session that does not follow it.
		if (!isOpen && isOurs && files) releaseRun(files, us);
		if (!isOpen || !isOurs) return false;
		const queuedAt = run.launch.startedAt;
		const startedAt = meta.createdAt;
		const { name, isBackground, launchedBy, callId, phase } = launchedRun(run.launch, run).agent;
		const place = { depth: 1, isBackground, ...defined({ name, launchedBy, callId, phase }) };
		const spec = { ...meta.spec, cwd: run.launch.cwd }; // its own checkout may be gone when it is resumed one day
		manager.adopt({ id, run: meta.run, spec, ...place, queuedAt, startedAt, artifacts });
		return true;
	};
	const later = (check: () => Promise<void>): void => {
		const cancel = clock.after(CHECK_AGAIN_MS, () => {
			timers.delete(cancel);
			void check();
		});
		timers.add(cancel);
	};

	const takeIn = async (given: LoggedRuns): Promise<void> => {
		const runs: LoggedRuns = new Map([...given].map(([runId, run]) => [runId, withOwnFiles(run)]));
		const ends = new Map<string, RunEnd>();
		// Ends are read before anything else: the session's first turn must not begin without them.
		const readEnd = async ([runId, run]: [string, LoggedRun]) => {
			const end = await endOf(run, { agentDir, clock });
			if (end) ends.set(runId, end);
		};
		await Promise.all([...runs].map(readEnd));
		if (!isOpen) return;
		for (const [runId, run] of runs) if (isLeftOver(run, ends.get(runId))) runs.set(runId, inBackground(run));
		journal.setEnds(ends);
		notifier.restore(restoredDeliveries(runs, ends));
		const isLive = ([runId, run]: [string, LoggedRun]) => run.outlives && !ends.has(runId);
		const over = [...runs].filter((each) => !isLive(each));
		manager.restore(over.flatMap(([runId, run]) => eventsOf(run, manager.store.seq, ends.get(runId))));
		for (const each of runs) if (isLive(each)) void watch(each[1]);
		// Not waited for: a process that hangs takes its time.
		void bestEffort("ending what stopped agents left behind", warn, () =>
			finishEnded(
				[...runs.values()].filter(({ launch }) => ends.has(launch.runId)),
				{
					manager,
					agentDir,
					sessionId,
					clock,
					warn,
					isOpen: () => isOpen,
				},
			),
		);
		const agentIds = new Set([...runs.values()].map(({ launch }) => launch.agentId));
		if (agentIds.size > 0) await bestEffort("continuing what was interrupted", warn, () => onRestored(agentIds));
		if (isOpen) notifier.open();
	};

	/** If ownership is unknown, deliver: a duplicate is better than a loss. */
	const isOwner = async (): Promise<boolean> => {
		let isOurs = true;
		await bestEffort("checking whether another pi has this session open", warn, async () => {
			isOurs = await ownership.take();
		});
		return isOurs;
	};
	/** Takes these in, as they are by then, when no other process owns the session any more. */
	const inherit = (left: LoggedRuns): Promise<void> =>
		bestEffort("restoring the agents of this session", warn, async () => {
			// A message that is just arriving would be sent again.
			if (!messenger.canSend() || !(await isOwner())) return isOpen ? later(() => inherit(left)) : undefined;
			const now = await journal.readAgain();
			const inherited = new Map([...left].map(([runId, run]) => [runId, now.get(runId) ?? run]));
			// What the other process launched since we opened the session: it may have resumed one of those.
			const known = new Set(journal.runIds());
			for (const [runId, run] of now) if (!known.has(runId) && isUnfinished(run)) inherited.set(runId, notInTree(run));
			if (isOpen) await takeIn(inherited);
		});

	manager.store.subscribe(({ event, record }) => {
		const { id: agentId, run, parentAgentId } = record;
		const isLaunch = event.type === "agent_queued" && parentAgentId === undefined;
		if (isLaunch && !logged.has(runIdOf({ agentId, run }))) void isOwner();
	});
	return {
		async open() {
			const { current, archive } = journal.read();
			logged = current;
			const events = () =>
				[...archive.runs().values()]
					.map(withOwnFiles)
					.flatMap((run) => eventsOf(run, manager.store.seq, archivedEndOf(run)));
			manager.store.setArchive({ has: archive.has, events });
			const unfinished = new Map([...logged].filter(([, run]) => isUnfinished(run)));
			const left: LoggedRuns = unfinished.size === 0 || (await isOwner()) ? new Map() : unfinished;
			await takeIn(new Map([...logged].filter(([runId]) => !left.has(runId))));
			if (left.size > 0) later(() => inherit(left));
		},
		close() {
			isOpen = false;
			for (const cancel of timers) cancel();
			void bestEffort("releasing the session", warn, () => ownership.release());
		},
	};
}

/** Its launch is in the session's file, but not in the tree that this process has in memory: it belongs to no branch here. */
function notInTree({ entryId: _, ...run }: LoggedRun): LoggedRun {
	return run;
}

/** Whether its end is missing, or undelivered. */
function isUnfinished(run: LoggedRun): boolean {
	return !run.settled || isOwed(run);
}

/** Whether it has a result for a call that ended with its process. One that was stopped has none, and is only listed. */
function isLeftOver({ isUnanswered }: LoggedRun, end: RunEnd | undefined): boolean {
	return isUnanswered && end !== undefined && hasOwnEnd(end.outcome);
}

/** Nothing waits for it any more, so its result comes as a message. */
function inBackground(run: LoggedRun): LoggedRun {
	return { ...run, launch: { ...run.launch, isBackground: true } };
}
