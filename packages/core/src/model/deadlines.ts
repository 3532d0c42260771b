/** When a running agent has taken too long, is close to that, or has gone silent. Pure: the time is an argument. */
import { type ChildEvent, type CutBy, formatDuration } from "@pi-subagents/progress";
import type { AgentRecord } from "./record.ts";
import type { Stop } from "./runner.ts";
import type { Limits } from "./schema/spec.ts";

/** What a record says about a live run. */
export type Activity = Pick<AgentRecord, "status" | "isVerifying">;

/** What is known of a live run besides that. */
export interface Pace {
	/** When it was started; undefined before that. */
	beganAt: number | undefined;
	/** When it was last active. */
	movedAt: number;
	/** Running tools, by call, with when they began. */
	tools: ReadonlyMap<string, { tool: string; startedAt: number }>;
	/** How many things it waits for. */
	holds: number;
	/** When it last stopped waiting for one. */
	restedAt: number;
}

/** The model speaks only when all its tools have ended, including those whose result was lost. */
export function endsTools({ type }: ChildEvent): boolean {
	return type === "assistant_text" || type === "turn";
}

export interface Deadline {
	/** On the same clock as the pace. */
	at: number;
	stop: Stop;
}

/** When the agent must be stopped if nothing happens until then; undefined without limits. */
export function nextDeadline(
	{ status, isVerifying }: Activity,
	limits: Limits,
	{ beganAt, movedAt, tools, holds, restedAt }: Pace,
): Deadline | undefined {
	const { timeoutMs, toolTimeoutMs, idleTimeoutMs } = limits;
	const deadlines: Deadline[] = [];
	if (timeoutMs !== undefined && beganAt !== undefined) {
		const reason = `it ran longer than ${formatDuration(timeoutMs)}`;
		deadlines.push({ at: beganAt + timeoutMs, stop: { by: "timeout", reason } });
	}
	// While it waits for an answer, a child or a provider, being idle is fine.
	// So it is while a command checks its work, which has its own limit.
	if (status === "running" && holds === 0 && !isVerifying) {
		if (idleTimeoutMs !== undefined) {
			const reason = `nothing happened for ${formatDuration(idleTimeoutMs)}`;
			deadlines.push({ at: Math.max(movedAt, restedAt) + idleTimeoutMs, stop: { by: "idle", reason } });
		}
		for (const { tool, startedAt } of toolTimeoutMs === undefined ? [] : tools.values()) {
			const reason = `${tool} ran longer than ${formatDuration(toolTimeoutMs ?? 0)}`;
			deadlines.push({ at: Math.max(startedAt, restedAt) + (toolTimeoutMs ?? 0), stop: { by: "timeout", reason } });
		}
	}
	return deadlines.reduce<Deadline | undefined>(
		(first, next) => (first && first.at <= next.at ? first : next),
		undefined,
	);
}

/** Why an agent should give its answer before a limit ends its run. */
export interface NearLimit {
	by: CutBy;
	reason: string;
}

/** Whether the time that is left should be used for the answer. `turnMs` is how long its last turn took. */
export function nearTimeout(
	{ timeoutMs, wrapUpPercent }: Limits,
	{ elapsedMs, turnMs }: { elapsedMs: number; turnMs: number },
): NearLimit | undefined {
	if (!isNear({ limit: timeoutMs, used: elapsedMs, turn: turnMs, percent: wrapUpPercent })) return undefined;
	const left = formatDuration(Math.max(0, (timeoutMs ?? 0) - elapsedMs));
	return { by: "timeout", reason: `${left} of ${formatDuration(timeoutMs ?? 0)} are left` };
}

/**
 * Whether what is left of a limit is within the percentage kept for the answer, or would not be enough for another
 * turn like the last one. A single long turn must not cut a run short that has more than half of its limit left.
 */
export function isNear({ limit, used, turn, percent = 0 }: NearLimitInput): boolean {
	if (limit === undefined || percent <= 0) return false;
	return limit - used <= Math.max((limit * percent) / 100, Math.min(turn, limit / 2));
}

interface NearLimitInput {
	limit: number | undefined;
	used: number;
	/** What the last turn took of it. */
	turn: number;
	percent: number | undefined;
}

/** For how long a running agent has given no sign of life, if it counts as stalled. */
export function silentMs(
	{ status, isVerifying }: Activity,
	{ stalledAfterMs }: Limits,
	{ movedAt, holds, restedAt, now }: Pick<Pace, "movedAt" | "holds" | "restedAt"> & { now: number },
): number | undefined {
	if (stalledAfterMs === undefined || status !== "running" || holds > 0 || isVerifying) return undefined;
	const silent = now - Math.max(movedAt, restedAt);
	return silent >= stalledAfterMs ? silent : undefined;
}
