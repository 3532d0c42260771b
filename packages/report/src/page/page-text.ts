/** The words and signs of the page. Pure. */
import { formatCost, formatDuration, formatTokens, verificationText } from "@pi-subagents/progress";
import type { AgentStatus, ReportAgent, SpanKind } from "../model/types.ts";
import type { LiveState } from "./live.ts";

export { formatCost, formatTokens, verificationText };

export const KIND_TEXTS: Record<SpanKind, string> = {
	queued: "in the queue",
	model: "model",
	tool: "tools",
	agents: "waiting for agents",
	person: "waiting for a person",
	retry: "waiting to retry",
	compaction: "compacting",
	verification: "verification",
};

export const STATUS_SIGNS: Record<AgentStatus, string> = {
	completed: "✓",
	failed: "✗",
	aborted: "■",
	queued: "○",
	running: "▶",
};

export const LIVE_TEXTS: Record<LiveState, string> = {
	connecting: "connecting …",
	live: "live",
	lost: "connection lost, trying again …",
	ended: "the session has ended: this is its last state",
	refused: "this link is no longer valid: /subagent dashboard shows the current one",
};

/** Below a second, milliseconds say more. */
export function durationText(ms: number): string {
	return ms < 1_000 ? `${Math.round(ms)} ms` : formatDuration(ms);
}

/** The time since the start, with as many digits as the step needs. */
export function tickText(ms: number, stepMs: number): string {
	if (stepMs < 1_000) return ms === 0 ? "0" : `${(ms / 1_000).toFixed(stepMs < 10 ? 3 : stepMs < 100 ? 2 : 1)} s`;
	const seconds = Math.round(ms / 1_000);
	if (seconds < 60) return `${seconds} s`;
	const clock = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, "0")).join(":");
	return seconds < 3_600 ? clock : `${Math.floor(seconds / 3_600)}:${clock}`;
}

export function titleOf({ name, preset, run }: ReportAgent): string {
	return `${name ?? preset}${run > 1 ? ` · run ${run}` : ""}`;
}

const LAUNCHERS: Record<string, string> = {
	user: "the user",
	model: "a model's tool call",
	rpc: "another extension",
	schedule: "a scheduled job",
};

/** Newer versions may know more launchers. */
export function launcherText(who: string | undefined): string {
	return who === undefined ? "unknown" : (LAUNCHERS[who] ?? who);
}
