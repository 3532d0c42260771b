/** The overview of a run in words, the same in a shell and in a menu. Sanitized: the files may hold anything. Pure. */
import { endText, formatDuration, lookOf, type StatusView, sanitize } from "@pi-subagents/progress";
import type { RunOverview, RunState } from "./list-runs.ts";

export interface RunText {
	icon: string;
	/** One of: running, queued, waiting for you, waiting for another agent, done, failed, stopped. */
	status: string;
	/** Its preset. */
	preset: string;
	/** Its handle, or its id. */
	who: string;
	/** What it was asked to do, in short. */
	about: string;
	/** What it does now, what it asks, or how it ended. */
	now: string;
	/** How long it has been running, or ago that it ended. */
	age: string;
	/** Who can be asked to stop it or to answer it. */
	reach: string;
}

export function runTextOf(run: RunOverview, now: number): RunText {
	const { state, name, agentId, preset, description, task, createdAt, result } = run;
	const { icon, word } = lookOf(viewOf(state));
	const since = Math.max(0, now - (result?.completedAt ?? createdAt));
	return {
		icon: state.status === "running" ? STILL : icon,
		status: word,
		preset: sanitize(preset),
		who: sanitize(name ?? agentId),
		about: sanitize(description || task),
		now: nowText(run),
		age: `${formatDuration(since)}${result ? " ago" : ""}`,
		reach: reachOf(run),
	};
}

/** A shell shows no animation. */
const STILL = "●";

function viewOf(state: RunState): StatusView {
	if (state.status === "lost") return { status: "aborted" };
	return state.status === "waiting" && state.group === "working" ? state : { status: state.status };
}

function nowText({ state, result, activity }: RunOverview): string {
	if (result) return endText(result.outcome, { durationMs: result.durationMs ?? 0 });
	if (state.status === "waiting") return `Asks: ${sanitize(state.question.question)}`;
	if (state.status === "lost") return "Its process ended without a result.";
	if (state.status === "queued") return sanitize(state.waits ?? "waiting for a slot");
	return sanitize(activity ?? "") || "Just started.";
}

function reachOf({ hasOwnProcess, holder, sessionId, state }: RunOverview): string {
	if (state.group === "done") return "It has ended.";
	if (hasOwnProcess) return holder ? `It runs in its own process ${holder.pid}.` : "Its process is starting.";
	const where = holder ? `pi process ${holder.pid} on ${sanitize(holder.host)}` : "a pi process";
	const session = sessionId === undefined ? "" : `, session ${sanitize(sessionId)}`;
	return `It runs inside ${where}${session}: answer or stop it there.`;
}
