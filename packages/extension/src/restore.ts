/**
 * Takes in what an opened session remembers. Runs that outlive sessions are watched again, wherever their launch stands
 * in the session's tree; all others that had not settled ended with the process that ran them.
 */
import { basename } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type AgentEvent, bestEffort, type Clock, type Manager, type Outcome, systemClock } from "@pi-subagents/core";
import { claimRun, type ResultFile, readMeta, readResult } from "@pi-subagents/core/process";
import type { Delivery } from "./delivery/delivery.ts";
import type { Host } from "./host.ts";
import { outcomeFrom } from "./journal/entries.ts";
import type { Journal, RememberedRun } from "./journal/journal.ts";

export interface RestoreDeps {
	manager: Manager;
	journal: Journal;
	delivery: Delivery;
	host: Host;
	clock?: Clock;
}

/** How often to look whether another pi that watches one of our runs has ended. */
const LOOK_AGAIN_MS = 15_000;

export function restoreOnStart(pi: ExtensionAPI, deps: RestoreDeps): void {
	const { manager, journal, delivery, host, clock = systemClock } = deps;
	const timers = new Set<() => void>();
	let isOpen = true;

	/** The child may still be at work, or be gone; its files say which. */
	const watch = (run: RememberedRun): Promise<void> =>
		bestEffort(`watching agent ${run.launch.agentId} again`, host.tell, async () => {
			const { agentId: id, runId, name, artifacts = "", isBackground } = run.launch;
			const isNamed = basename(artifacts) === runId;
			const meta = isNamed ? await readMeta(artifacts) : "the session does not say where its files are";
			if (!isOpen) return;
			if (typeof meta === "string") {
				const outcome: Outcome = { status: "aborted", by: "lost", reason: meta };
				return manager.restore(eventsOf(run, manager, { outcome, completedAt: clock.now() }));
			}
			const claim = await claimRun(artifacts, { sessionId: host.session()?.sessionManager.getSessionId() });
			if (!isOpen) return;
			if (!claim.isOurs) return lookAgain(run);
			const queuedAt = run.launch.startedAt;
			const startedAt = meta.createdAt;
			const place = { depth: 1, isBackground, ...(name === undefined ? {} : { name }) };
			manager.adopt({ id, run: meta.run, spec: meta.spec, ...place, queuedAt, startedAt, artifacts });
		});
	const lookAgain = (run: RememberedRun): void => {
		const cancel = clock.after(LOOK_AGAIN_MS, () => {
			timers.delete(cancel);
			void watch(run);
		});
		timers.add(cancel);
	};

	pi.on("session_start", async () => {
		const remembered = journal.read();
		delivery.restore(remembered);
		const ends = new Map<RememberedRun, End | undefined>();
		// What has ended meanwhile is known at once: the session's first turn must not begin without it.
		await Promise.all([...remembered.values()].map(async (run) => void ends.set(run, await endOf(run))));
		const isLive = (run: RememberedRun) => run.outlives && !ends.get(run);
		const over = [...remembered.values()].filter((run) => !isLive(run));
		manager.restore(over.flatMap((run) => eventsOf(run, manager, ends.get(run))));
		for (const run of remembered.values()) if (isLive(run)) void watch(run);
		delivery.open();
	});
	pi.on("session_shutdown", () => {
		isOpen = false;
		for (const cancel of timers) cancel();
	});
}

/** How a run ended, as far as the session or its files know. */
type End = Pick<ResultFile, "outcome" | "completedAt"> &
	Partial<Pick<ResultFile, "startedAt" | "turns" | "toolUses" | "usage">>;

async function endOf({ launch, outlives, settled }: RememberedRun): Promise<End | undefined> {
	if (settled)
		return { ...settled, outcome: outcomeFrom(settled), startedAt: settled.completedAt - settled.durationMs };
	if (!outlives || launch.artifacts === undefined) return undefined;
	const result = await readResult(launch.artifacts).catch(() => undefined); // then whoever watches it says what is wrong
	return result?.runId === launch.runId ? result : undefined;
}

/** What happened to the run. One whose end nobody knows had none. */
function eventsOf(
	{ launch, outlives, settled }: RememberedRun,
	{ store }: Manager,
	end: End | undefined,
): AgentEvent[] {
	const { agentId, run, preset: type, description, task, cwd, runner, isBackground } = launch;
	const { name, requestedModel, artifacts, startedAt: at } = launch;
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
	};
	const envelope = { agentId, run, at, seq: store.seq + 1 };
	const begun: AgentEvent[] = [
		{ ...envelope, type: "agent_queued", agent },
		{ ...envelope, type: "agent_started", at: end?.startedAt ?? at },
	];
	if (!end) return begun;
	const { outcome, completedAt, turns, toolUses, usage } = end;
	const totals = usage && turns !== undefined && toolUses !== undefined ? { totals: { turns, toolUses, usage } } : {};
	return [...begun, { ...envelope, type: "agent_settled", at: completedAt, outcome, ...totals }];
}
