/** When a running agent has taken too long, and why. Pure: the time is an argument. */
import { type ChildEvent, formatDuration } from "@pi-subagents/progress";
import type { AgentRecord } from "./record.ts";
import type { Limits, Stop } from "./runner.ts";

/** What is known of a live run besides its record. */
export interface Pace {
	/** When it was started and last active. */
	beganAt: number;
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
	record: AgentRecord,
	limits: Limits,
	{ beganAt, movedAt, tools, holds, restedAt }: Pace,
): Deadline | undefined {
	const { timeoutMs, toolTimeoutMs, idleTimeoutMs } = limits;
	const deadlines: Deadline[] = [];
	if (timeoutMs !== undefined && record.startedAt !== undefined) {
		const reason = `it ran longer than ${formatDuration(timeoutMs)}`;
		deadlines.push({ at: beganAt + timeoutMs, stop: { by: "timeout", reason } });
	}
	// While it waits for an answer, a child or a provider, being idle is fine.
	// So it is while a command checks its work, which has its own limit.
	if (record.status === "running" && holds === 0 && !record.isVerifying) {
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
