/**
 * Takes in what an opened session remembers. Runs that outlive sessions are watched again, wherever their launch stands
 * in the session's tree; all others that had not settled ended with the process that ran them. Unless another pi has the
 * session open too: then it is that one's business for as long as it lives.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import {
	type AgentEvent,
	bestEffort,
	type Clock,
	type Manager,
	type Outcome,
	runIdOf,
	systemClock,
} from "@pi-subagents/core";
import {
	claimRun,
	isRunDir,
	isRunPath,
	type Meta,
	type ResultFile,
	readInterrupted,
	readMeta,
	readResult,
} from "@pi-subagents/core/process";
import type { Delivery } from "./delivery/delivery.ts";
import type { Host } from "./host.ts";
import { type LaunchEntry, outcomeFrom, type SettledEntry } from "./journal/entries.ts";
import type { Journal, Remembered, RememberedRun } from "./journal/journal.ts";
import type { Ownership } from "./journal/owner.ts";

export interface RestoreDeps {
	manager: Manager;
	journal: Journal;
	delivery: Delivery;
	host: Host;
	ownership: Ownership;
	clock?: Clock;
}

/** How often to look whether another pi that watches our runs, or speaks for our session, has ended. */
const LOOK_AGAIN_MS = 15_000;

export function restoreOnStart(pi: ExtensionAPI, deps: RestoreDeps): void {
	const { manager, journal, delivery, host, ownership, clock = systemClock } = deps;
	const timers = new Set<() => void>();
	let remembered: Remembered = new Map();
	let isOpen = true;

	/** The child may still be at work, or be gone; its files say which. */
	const watch = async (run: RememberedRun): Promise<void> => {
		let isSettledOrWatched = false;
		await bestEffort(`watching agent ${run.launch.agentId} again`, host.tell, async () => {
			isSettledOrWatched = await join(run);
		});
		// A fork of this session is open in another pi; or a disk has no room for the word that we watch, and may have it soon.
		if (!isSettledOrWatched && isOpen) later(() => watch(run));
	};
	const join = async (run: RememberedRun): Promise<boolean> => {
		const { agentId: id, name, isBackground } = run.launch;
		const end = await endOf(run);
		if (end && isOpen) manager.restore(eventsOf(run, manager, end));
		if (end) return true;
		const meta = await describe(run.launch);
		if (!isOpen) return true;
		if (typeof meta === "string") {
			const outcome: Outcome = { status: "aborted", by: "lost", reason: meta };
			manager.restore(eventsOf(run, manager, { outcome, completedAt: clock.now() }));
			return true;
		}
		const { artifacts } = meta;
		const claim = await claimRun(artifacts, { sessionId: host.session()?.sessionManager.getSessionId() });
		if (!isOpen || !claim.isOurs) return false;
		const queuedAt = run.launch.startedAt;
		const startedAt = meta.createdAt;
		const place = { depth: 1, isBackground, ...(name === undefined ? {} : { name }) };
		const spec = { ...meta.spec, cwd: run.launch.cwd }; // its own checkout may be gone when it goes on one day
		manager.adopt({ id, run: meta.run, spec, ...place, queuedAt, startedAt, artifacts });
		return true;
	};
	const later = (look: () => Promise<void>): void => {
		const cancel = clock.after(LOOK_AGAIN_MS, () => {
			timers.delete(cancel);
			void look();
		});
		timers.add(cancel);
	};

	const takeIn = async (given: Remembered): Promise<void> => {
		const runs: Remembered = new Map([...given].map(([runId, run]) => [runId, withOwnFiles(run)]));
		delivery.restore(runs);
		const ends = new Map<RememberedRun, End | undefined>();
		// What has ended meanwhile is known at once: the session's first turn must not begin without it.
		await Promise.all([...runs.values()].map(async (run) => void ends.set(run, await endOf(run))));
		if (!isOpen) return;
		const isLive = (run: RememberedRun) => run.outlives && !ends.get(run);
		const over = [...runs.values()].filter((run) => !isLive(run));
		manager.restore(over.flatMap((run) => eventsOf(run, manager, ends.get(run))));
		for (const run of runs.values()) if (isLive(run)) void watch(run);
		delivery.open();
	};

	/** Rather twice than never: who cannot find out speaks. */
	const speaks = async (): Promise<boolean> => {
		let isOurs = true;
		await bestEffort("looking who else has this session open", host.tell, async () => {
			isOurs = await ownership.take();
		});
		return isOurs;
	};
	/** Takes these in when no other pi speaks for the session any more, as they are then. */
	const inherit = (left: Remembered): Promise<void> =>
		bestEffort("taking in the agents of this session", host.tell, async () => {
			const isIdle = host.session()?.isIdle() ?? false; // what it is just being told would be told again
			if (!isIdle || !(await speaks())) return isOpen ? later(() => inherit(left)) : undefined;
			const now = await journal.readAgain();
			if (isOpen) await takeIn(new Map([...left].map(([runId, run]) => [runId, now.get(runId) ?? run])));
		});

	pi.on("session_start", async () => {
		const { present, past } = journal.read();
		remembered = present;
		const events = () =>
			[...past.runs().values()].map(withOwnFiles).flatMap((run) => eventsOf(run, manager, pastEndOf(run)));
		manager.store.recall({ has: past.has, events });
		const undone = new Map([...remembered].filter(([, run]) => isUndone(run)));
		const left: Remembered = undone.size === 0 || (await speaks()) ? new Map() : undone;
		await takeIn(new Map([...remembered].filter(([runId]) => !left.has(runId))));
		if (left.size > 0) later(() => inherit(left));
	});
	manager.store.subscribe((event, { id: agentId, run, parentAgentId }) => {
		const isLaunch = event.type === "agent_queued" && parentAgentId === undefined;
		if (isLaunch && !remembered.has(runIdOf({ agentId, run }))) void speaks();
	});
	pi.on("session_shutdown", () => {
		isOpen = false;
		for (const cancel of timers) cancel();
		void bestEffort("leaving the session to others", host.tell, () => ownership.release());
	});
}

/** Who edits a session's file must not make us read something else. */
function withOwnFiles(run: RememberedRun): RememberedRun {
	const { artifacts, ...launch } = run.launch;
	return artifacts === undefined || isRunPath(artifacts, launch.runId) ? run : { ...run, launch };
}

/** What the run is, or in words why that cannot be known. */
async function describe({ artifacts, runId }: LaunchEntry): Promise<(Meta & { artifacts: string }) | string> {
	if (artifacts === undefined) return "the session does not say where its files are";
	if (!(await isRunDir(artifacts, runId))) return `${artifacts} is not the directory of a run of yours`;
	const meta = await readMeta(artifacts);
	return typeof meta === "string" ? meta : { ...meta, artifacts };
}

/** Whether something of it is still to come: its end, or the word of it. */
function isUndone({ settled, launch, isTold }: RememberedRun): boolean {
	return !settled || (launch.isBackground && !isTold);
}

/** How a run ended, as far as the session or its files know. */
type End = Pick<ResultFile, "outcome" | "completedAt"> &
	Partial<Pick<ResultFile, "startedAt" | "turns" | "toolUses" | "usage">>;

async function endOf({ launch, outlives, settled }: RememberedRun): Promise<End | undefined> {
	if (settled) return rememberedEnd(settled);
	if (launch.artifacts === undefined) return undefined;
	if (!(await isRunDir(launch.artifacts, launch.runId).catch(() => false))) return undefined;
	const result = await readResult(launch.artifacts).catch(() => undefined); // then whoever watches it says what is wrong
	if (result?.runId === launch.runId) return result;
	// One that does not outlive its session has ended with it, and its log says how far it had come.
	return outlives ? undefined : readInterrupted(launch.artifacts, launch, { by: "shutdown" }).catch(() => undefined);
}

function rememberedEnd(settled: SettledEntry): End {
	return { ...settled, outcome: outcomeFrom(settled), startedAt: settled.completedAt - settled.durationMs };
}

/** It has ended, even if a close look shows that nobody can say how. */
function pastEndOf({ launch, settled }: RememberedRun): End {
	if (settled) return rememberedEnd(settled);
	return {
		outcome: { status: "aborted", by: "lost", reason: "what the session holds of its end cannot be read" },
		completedAt: launch.startedAt,
	};
}

/** What happened to the run. One whose end nobody knows had none. */
function eventsOf(
	{ launch, outlives, settled }: RememberedRun,
	{ store }: Manager,
	end: End | undefined,
): AgentEvent[] {
	const { agentId, run, preset: type, description, task, cwd, runner, isBackground } = launch;
	const { name, requestedModel, artifacts, isolation, startedAt: at } = launch;
	const model = settled?.resolvedModel ?? launch.resolvedModel;
	const agent = {
		type,
		description,
		task,
		cwd,
		runner,
		isBackground,
		depth: 1,
		...(name === undefined ? {} : { name }),
		...(model === undefined ? {} : { model }),
		...(requestedModel === undefined ? {} : { requestedModel }),
		...(artifacts === undefined ? {} : { artifacts }),
		...(outlives ? { outlives } : {}),
		...(isolation === undefined ? {} : { isolation }),
	};
	const envelope = { agentId, run, at, seq: store.seq + 1 };
	const begun: AgentEvent[] = [{ ...envelope, type: "agent_queued", agent }];
	if (!settled?.neverStarted) begun.push({ ...envelope, type: "agent_started", at: end?.startedAt ?? at });
	if (!end) return begun;
	const { outcome, completedAt, turns, toolUses, usage } = end;
	const totals = usage && turns !== undefined && toolUses !== undefined ? { totals: { turns, toolUses, usage } } : {};
	const tried = (settled?.attempts ?? []).map(({ model: from, error }): AgentEvent => {
		return { ...envelope, type: "falling_back", from, to: model ?? from, error };
	});
	return [...begun, ...tried, { ...envelope, type: "agent_settled", at: completedAt, outcome, ...totals }];
}
