/**
 * What may be taken from a line of a run's log, which the agent can write in its sandbox: only what the run's spec asked
 * for, with names and figures in their bounds. Pure.
 */

import type { RunSpec } from "@pi-subagents/core";
import { clip, defined } from "@pi-subagents/core/internal/base";
import { mayAsk } from "@pi-subagents/core/internal/run";
import type { ChildEvent, Verified } from "@pi-subagents/progress";
import { sanitize } from "@pi-subagents/progress";
import { type EventLine, isLifeCycleLine } from "../format/lines.ts";
import { shownCommand } from "./checked-outcome.ts";
import { checkedUsage } from "./checked-result.ts";
import { modelName } from "./names.ts";

/** The parts of a spec that decide what a log may say. */
export type LogSpec = Pick<RunSpec, "runner" | "model" | "fallbackModels" | "verify" | "withheld">;

const MAX_NOTICE = 500;
const MAX_ATTEMPTS = 1_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Undefined if the line does not count. */
export function checkedLine(line: EventLine, spec: LogSpec): EventLine | undefined {
	if (isLifeCycleLine(line)) return line;
	switch (line.type) {
		case "question":
			return line.dialog === undefined && !mayAsk(spec) ? undefined : line;
		case "child_started":
		case "question_over":
		case "checkpoint":
		case "granted":
			return line;
		case "notice":
			return { ...line, text: clip(sanitize(line.text), MAX_NOTICE) };
		default: {
			const { at, seq, ...event } = line;
			const checked = checkedEvent(event as ChildEvent, spec);
			return checked && ({ at, ...defined({ seq }), ...checked } as EventLine);
		}
	}
}

function checkedEvent(event: ChildEvent, spec: LogSpec): ChildEvent | undefined {
	switch (event.type) {
		case "assistant_text": {
			const { type, text, stopReason, error, phases } = event;
			const retryAfterMs = within(event.retryAfterMs, DAY_MS);
			const isWorkflow = spec.runner === "workflow";
			const model = modelName(event.model);
			return {
				type,
				text,
				...defined({ stopReason, model, error, retryAfterMs, phases: isWorkflow ? phases : undefined }),
			};
		}
		case "usage": {
			const usage = checkedUsage(event.usage);
			return usage && { type: event.type, usage };
		}
		case "turn":
			return { type: event.type, ...defined({ contextPercent: within(event.contextPercent, 100) }) };
		case "compacted": {
			const { type, ok, reason } = event;
			return { type, ok, ...defined({ reason, tokensBefore: within(event.tokensBefore, 1e12) }) };
		}
		case "retrying":
			return isSane(event.attempt, event.maxAttempts, event.delayMs) ? event : undefined;
		case "falling_back": {
			const { type, from, to, error } = event;
			const others = spec.fallbackModels ?? [];
			return others.includes(to) && [spec.model, ...others].includes(from) ? { type, from, to, error } : undefined;
		}
		case "verifying": {
			const command = shownCommand(spec);
			return command === undefined ? undefined : { type: event.type, command };
		}
		case "verified":
			return checkedVerified(event, spec);
		default:
			return event;
	}
}

function isSane(attempt: number, maxAttempts: number, delayMs: number): boolean {
	return attempt <= MAX_ATTEMPTS && maxAttempts <= MAX_ATTEMPTS && delayMs <= DAY_MS;
}

/** Only the result says that a check has passed; until then it is over. */
function checkedVerified({ type, verification }: Verified, spec: LogSpec): ChildEvent | undefined {
	const command = shownCommand(spec);
	if (command === undefined) return undefined;
	if (verification.ok) return { type: "idle" };
	return { type, verification: { ok: false, command, problem: `${command} did not succeed` } };
}

function within(value: number | undefined, most: number): number | undefined {
	return value !== undefined && value >= 0 && value <= most ? value : undefined;
}
