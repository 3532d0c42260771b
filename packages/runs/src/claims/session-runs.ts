/**
 * A run as the entries of a session remember it. Entries may have been edited: only what the launch asked for is taken
 * from its end. Pure.
 */

import { defined } from "@pi-subagents/core/internal/base";
import { ABORTERS, CUTTERS, LAUNCHERS, type Outcome } from "@pi-subagents/progress";
import type { LaunchEntry, SettledEntry } from "../format/entries.ts";
import type { KnownEnd, KnownRun } from "../run-events.ts";
import { reportOfEntry } from "./worktree-report.ts";

/** The run that was launched, without its end. */
export function launchedRun(entry: LaunchEntry, { outlives }: { outlives: boolean }): KnownRun {
	const { type: _entry, runId: _run, agentId, run, preset, resolvedModel, startedAt, ...launch } = entry;
	const { launchedBy, depth = 1, ...same } = launch;
	return {
		agentId,
		run,
		queuedAt: startedAt,
		lines: [],
		agent: {
			...same,
			type: preset,
			depth,
			...defined({ model: resolvedModel, launchedBy: LAUNCHERS.find((each) => each === launchedBy) }),
			...(outlives ? { outlives } : {}),
		},
	};
}

/** How it ended, as far as the session remembers. */
export function settledEnd(entry: SettledEntry, launch: LaunchEntry): KnownEnd {
	const { completedAt, durationMs, turns, toolUses, usage, neverStarted, attempts, contextPercent, resolvedModel } =
		entry;
	return {
		outcome: outcomeOfEntry(entry, launch),
		startedAt: Math.max(0, completedAt - durationMs),
		completedAt,
		durationMs,
		turns,
		toolUses,
		usage,
		...defined({ neverStarted, attempts, contextPercent, resolvedModel }),
	};
}

/** The outcome as far as the session remembers it, with only what the launch asked for. */
export function outcomeOfEntry(
	entry: SettledEntry,
	{ isolation, runner, cwd }: Pick<LaunchEntry, "isolation" | "runner" | "cwd">,
): Outcome {
	const end = endFrom(entry);
	const verification = end.status === "aborted" ? undefined : entry.verification;
	const hasCheckout = isolation !== undefined || runner === "remote";
	const worktree = hasCheckout && entry.worktree ? reportOfEntry(entry.worktree, { cwd }) : undefined;
	return { ...end, ...defined({ worktree, verification }) };
}

function endFrom(entry: SettledEntry): Outcome {
	const said = entry.text ?? entry.preview;
	const omitted = Math.max(0, (entry.characters ?? 0) - (said?.length ?? 0));
	const less = omitted === 0 ? {} : { omitted };
	const partial = said === undefined ? {} : { partialText: said, ...less };
	switch (entry.status) {
		case "completed":
			return {
				status: "completed",
				text: said ?? "",
				...less,
				...(entry.wrappedUp ? { wrappedUp: true, ...defined({ by: CUTTERS.find((by) => by === entry.by) }) } : {}),
				...(entry.structured ? { structured: entry.structured } : {}),
			};
		case "failed":
			return {
				status: "failed",
				error: entry.error ?? "It failed.",
				...defined({ claimedBy: entry.claimedBy }),
				...partial,
			};
		case "aborted":
			return {
				status: "aborted",
				by: ABORTERS.find((by) => by === entry.by) ?? "lost",
				...defined({ reason: entry.reason, claimedBy: entry.claimedBy }),
				...partial,
			};
	}
}
