/** Sums up a run's log, as `reduce` does, to tell how it ended. Pure: reads no file. */

import { abortedOutcome, NO_USAGE, type RunIdentity, runIdOf, type Stop } from "@pi-subagents/core";
import { defined, wholeMs } from "@pi-subagents/core/internal/base";
import { type Counted, count, FinalMessage } from "@pi-subagents/core/internal/run";
import type { ChildEvent, Outcome } from "@pi-subagents/progress";
import { type EventLine, isLifeCycleLine } from "./format/lines.ts";
import type { ResultFile } from "./format/result.ts";

/** The times in a result. `durationMs` is the measured one; without it the two times must do. */
export function timesOf({
	startedAt,
	completedAt,
	durationMs = completedAt - startedAt,
}: Pick<ResultFile, "startedAt" | "completedAt" | "durationMs">) {
	return {
		startedAt: Math.floor(startedAt),
		completedAt: Math.floor(Math.max(startedAt, completedAt)),
		durationMs: wholeMs(0, durationMs),
	};
}

export class RunTotals {
	#startedAt: number | undefined;
	readonly #finalMessage = new FinalMessage();
	#isIdle = false;
	#sums: Counted = { turns: 0, toolUses: 0, usage: NO_USAGE, compactions: 0 };

	add(line: EventLine): void {
		if (line.type !== "agent_queued") this.#startedAt ??= line.at;
		if (isLifeCycleLine(line)) return;
		switch (line.type) {
			case "child_started":
			case "question":
			case "question_over":
			case "checkpoint":
			case "granted":
			case "notice":
				return;
			default:
				this.#observe(line);
		}
	}

	/** The child's last non-blank text. */
	get said(): string | undefined {
		return this.#finalMessage.said;
	}

	/** What the child's last message failed with, in the words of its log. */
	get error(): string | undefined {
		return this.#finalMessage.last?.error;
	}

	/** The outcome of a run that ended unobserved. An idle child had given its answer. */
	judge(stop: Stop): Outcome {
		return this.#isIdle ? this.#finalMessage.outcome() : this.stopped(stop);
	}

	stopped(stop: Stop): Outcome {
		return abortedOutcome(stop, this.said);
	}

	result(identity: RunIdentity, outcome: Outcome, now: number): ResultFile {
		const startedAt = this.#startedAt ?? now;
		const text = outcome.status === "completed" ? outcome.text : outcome.partialText;
		const { last } = this.#finalMessage;
		const { turns, toolUses, usage, model } = this.#sums;
		return {
			format: 1,
			runId: runIdOf(identity),
			agentId: identity.agentId,
			run: identity.run,
			writtenBy: "watcher",
			outcome,
			...defined({ finalText: text, stopReason: last?.stopReason, resolvedModel: model }),
			...timesOf({ startedAt, completedAt: now }),
			turns,
			toolUses,
			usage,
		};
	}

	#observe(event: ChildEvent): void {
		this.#isIdle = event.type === "idle" || event.type === "verified";
		this.#finalMessage.hear(event);
		this.#sums = count(this.#sums, event);
	}
}
