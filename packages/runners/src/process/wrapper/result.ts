/** Builds `result.json` of a run. Pure. */

import type { AgentRecord } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import type { AssistantText, Outcome } from "@pi-subagents/progress";
import type { Meta, ResultFile } from "@pi-subagents/runs";
import { timesOf } from "@pi-subagents/runs/internal";
import type { PiExit } from "../pi/pi-process.ts";

export interface Ended {
	meta: Meta;
	outcome: Outcome;
	/** The child's last message. */
	last: AssistantText | undefined;
	record: AgentRecord;
	exit: PiExit;
	completedAt: number;
	durationMs: number;
	lost: readonly string[];
}

export function resultOf({ meta, outcome, last, record, exit, lost, completedAt, durationMs }: Ended): ResultFile {
	const { runId, agentId, run, resolvedModel } = meta;
	const finalText = outcome.status === "completed" ? outcome.text : outcome.partialText;
	return {
		format: 1,
		runId,
		agentId,
		run,
		writtenBy: "wrapper",
		outcome,
		resolvedModel: record.model ?? resolvedModel,
		...timesOf({ startedAt: record.startedAt ?? record.queuedAt, completedAt, durationMs }),
		turns: record.turns,
		toolUses: record.toolUses,
		usage: record.usage,
		...defined({ finalText, stopReason: last?.stopReason, exitCode: exit.code, exitSignal: exit.signal }),
		...(lost.length === 0 ? {} : { lost }),
	};
}
