/**
 * What became of an agent whose workflow was interrupted: it had answered, it still runs in its own process, its
 * conversation can be continued, or nothing of it is left.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Manager, type Outcome, runIdOf } from "@pi-subagents/core";
import { namesIn } from "@pi-subagents/core/internal/files";
import {
	claimRun,
	eventsOfRun,
	isRunDir,
	knownRun,
	type Meta,
	RUN_FILES,
	readInterrupted,
	readRun,
	releaseRun,
} from "@pi-subagents/runs";
import type { LaunchedAgent } from "../engine/ports.ts";

export type Fate =
	/** Its answer only has to be read. */
	| { kind: "answered"; outcome: Outcome; tokens: number }
	/** Its process continues, or has left a result: the manager follows it again. */
	| { kind: "running"; meta: Meta; artifacts: string }
	/** The next run of it continues where it was. */
	| { kind: "interrupted"; meta: Meta; artifacts: string }
	| { kind: "gone" };

export interface EarlierPlaces {
	/** pi's own directory. */
	agentDir: string;
	runsDir: string;
	/** Where conversations of this session's agents are. */
	sessionDir: string | undefined;
	sessionId: string | undefined;
}

/** An end that came with the process, not from the agent. */
const CUT_OFF: readonly string[] = ["shutdown", "lost", "parent", "user"];

export async function fateOf({ agentId, run }: LaunchedAgent, places: EarlierPlaces): Promise<Fate> {
	const runId = runIdOf({ agentId, run });
	const artifacts = join(places.runsDir, runId);
	if (!(await isRunDir(artifacts, runId))) return { kind: "gone" };
	const found = await readRun(artifacts, { agentDir: places.agentDir, log: "none" });
	if (typeof found === "string") return { kind: "gone" };
	const { meta, result, isProven } = found; // without a result that can be read, the agent runs again
	const { outlives, runner } = meta.spec;
	// One that the agent could have written counts when its process is gone.
	if (outlives && !(result && (isProven || runner === "remote"))) return { kind: "running", meta, artifacts };
	const end = result ?? (await readInterrupted(artifacts, { agentId, run }, { by: "shutdown" }));
	if (end && !(end.outcome.status === "aborted" && CUT_OFF.includes(end.outcome.by)))
		return { kind: "answered", outcome: end.outcome, tokens: end.usage.input + end.usage.output };
	const hasConversation =
		runner === "session"
			? places.sessionDir !== undefined &&
				(await namesIn(join(places.sessionDir, agentId))).some((name) => name.endsWith(".jsonl"))
			: existsSync(join(artifacts, RUN_FILES.session));
	return hasConversation ? { kind: "interrupted", meta, artifacts } : { kind: "gone" };
}

export interface Placing {
	parentAgentId: string;
	depth: number;
	isBackground: boolean;
	phase?: string;
}

/** Follows a run that an earlier process started. False if another living process does. */
export async function rejoin(
	manager: Manager,
	{ meta, artifacts }: Extract<Fate, { kind: "running" }>,
	placing: Placing,
	{ agentDir, sessionId }: Pick<EarlierPlaces, "agentDir" | "sessionId">,
): Promise<boolean> {
	const { agentId: id, run, createdAt, spec } = meta;
	const place = { agentDir, runDir: artifacts };
	if (!(await claimRun(place, { sessionId })).isOurs) return false;
	try {
		manager.adopt({ id, run, spec, ...placing, queuedAt: createdAt, startedAt: createdAt, artifacts });
		return true;
	} catch (error) {
		releaseRun(place, { sessionId }); // the session is ending: the run must not wait for its answers
		throw error;
	}
}

/** Puts an interrupted agent into the store, so that it can be resumed. */
export function remember(
	manager: Manager,
	{ meta, artifacts }: { meta: Meta; artifacts: string },
	placing: Placing,
): void {
	if (manager.store.record(meta.agentId)) return;
	const known = knownRun(meta, []);
	const { given: _given, ...agent } = known.agent; // the script says it again, and files may be edited
	const at = meta.createdAt;
	const end = { outcome: { status: "aborted", by: "shutdown" } as const, completedAt: at };
	manager.restore(
		eventsOfRun(
			{ ...known, agent: { ...agent, ...placing, artifacts }, queuedAt: at, startedAt: at, end },
			manager.store.seq,
		),
	);
}
