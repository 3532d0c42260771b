/**
 * What became of an agent whose workflow was interrupted: it had answered, it still runs in its own process, its
 * conversation can be continued, or nothing of it is left.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AgentEvent, type AgentIdentity, defined, type Manager, type Outcome, runIdOf } from "@pi-subagents/core";
import { namesIn } from "@pi-subagents/core/files";
import {
	claimRun,
	isRunDir,
	type Meta,
	RUN_FILES,
	readClaim,
	readInterrupted,
	readMeta,
	releaseRun,
} from "@pi-subagents/core/runs";
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
	const meta = await readMeta(artifacts);
	if (typeof meta === "string" || meta.runId !== runId) return { kind: "gone" };
	const { outlives, runner } = meta.spec;
	// A damaged one: the agent runs again.
	const claim = await readClaim(artifacts, meta.spec, { agentDir: places.agentDir }).catch(() => undefined);
	const result = claim?.result.runId === runId ? claim.result : undefined;
	// One that the agent could have written counts when its process is gone.
	if (outlives && !(result && (claim?.isProven || runner === "remote"))) return { kind: "running", meta, artifacts };
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
	const { agentId, run, createdAt: at, spec } = meta;
	if (manager.store.record(agentId)) return;
	const { type, description, task, cwd, runner, machine, launcher, model, isolation } = spec;
	const agent: AgentIdentity = {
		...placing,
		type,
		description,
		task,
		cwd,
		runner,
		model,
		artifacts,
		...defined({ machine, launcher }), // not what the call gave: the script says it again, and files may be edited
		...(isolation ? { isolation: isolation.kind } : {}),
	};
	const envelope = { agentId, run, at, seq: manager.store.seq + 1 };
	const outcome: Outcome = { status: "aborted", by: "shutdown" };
	const events: AgentEvent[] = [
		{ ...envelope, type: "agent_queued", agent },
		{ ...envelope, type: "agent_started" },
		{ ...envelope, type: "agent_settled", outcome },
	];
	manager.restore(events);
}
