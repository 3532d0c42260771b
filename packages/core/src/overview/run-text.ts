/** The overview of a run in words, the same in a shell and in a menu. Sanitized: the files may hold anything. Pure. */
import { formatDuration, outcomeText, sanitize } from "@pi-subagents/progress";
import type { RunOverview, RunState } from "./list-runs.ts";

export interface RunText {
	icon: string;
	/** One of: running, queued, waiting for you, waiting, done, failed, stopped. */
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

const STATUS: Record<RunState["status"], { icon: string; word: string }> = {
	queued: { icon: "◦", word: "queued" },
	running: { icon: "●", word: "running" },
	waiting: { icon: "?", word: "waiting" },
	completed: { icon: "✓", word: "done" },
	failed: { icon: "✗", word: "failed" },
	aborted: { icon: "■", word: "stopped" },
	lost: { icon: "■", word: "stopped" },
};

export function runTextOf(run: RunOverview, now: number): RunText {
	const { state, name, agentId, preset, description, task, createdAt, result } = run;
	const { icon, word } = STATUS[state.status];
	const since = Math.max(0, now - (result?.completedAt ?? createdAt));
	return {
		icon,
		status: state.group === "needs-input" ? "waiting for you" : word,
		preset: sanitize(preset),
		who: sanitize(name ?? agentId),
		about: sanitize(description || task),
		now: nowText(run),
		age: `${formatDuration(since)}${result ? " ago" : ""}`,
		reach: reachOf(run),
	};
}

function nowText({ state, result, activity }: RunOverview): string {
	if (result) return outcomeText(result.outcome, { durationMs: result.durationMs ?? 0 });
	if (state.group === "needs-input") return `Asks: ${sanitize(state.question.question)}`;
	if (state.status === "lost") return "Its process ended without a result.";
	return sanitize(activity ?? "") || (state.status === "queued" ? "Waiting for a slot." : "Just started.");
}

function reachOf({ hasOwnProcess, holder, sessionId, state }: RunOverview): string {
	if (state.group === "done") return "It has ended.";
	if (hasOwnProcess) return holder ? `It runs in its own process ${holder.pid}.` : "Its process is starting.";
	const where = holder ? `pi process ${holder.pid} on ${sanitize(holder.host)}` : "a pi process";
	const session = sessionId === undefined ? "" : `, session ${sanitize(sessionId)}`;
	return `It runs inside ${where}${session}: answer or stop it there.`;
}
