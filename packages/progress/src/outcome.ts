/**
 * Describes how a run ended, in one sentence. Never throws, also not for an outcome of a newer version, because an error
 * while rendering would crash the host.
 */
import type { Aborted, AbortedBy, Outcome } from "./events.ts";
import { formatDuration } from "./format.ts";
import { sanitizeClipped } from "./sanitize.ts";

export interface OutcomeTextOptions {
	/** How long the run took. Omitted from the text when absent. */
	durationMs?: number;
}

/**
 * One sanitized line that says how a run ended.
 *
 * @example
 * ```ts
 * outcomeText({ status: "completed", text: "…" }, { durationMs: 12_000 }); // "Completed in 12s"
 * outcomeText({ status: "aborted", by: "idle" }); // "Stopped: no activity"
 * ```
 */
export function outcomeText(outcome: Outcome, options: OutcomeTextOptions = {}): string {
	const duration = options.durationMs === undefined ? undefined : formatDuration(options.durationMs);
	const after = duration === undefined ? "" : ` after ${duration}`;
	switch (outcome.status) {
		case "completed":
			if (outcome.wrappedUp) return `Wrapped up at its turn limit${after}`;
			return duration === undefined ? "Completed" : `Completed in ${duration}`;
		case "failed":
			return because(`Failed${after}`, sanitizeClipped(outcome.error, MAX_REASON_LENGTH));
		case "aborted":
			return abortedText(outcome, after);
		default:
			outcome satisfies never;
			return `Ended${after}`;
	}
}

const MAX_REASON_LENGTH = 400;

/** `cause` follows a colon where `head` does not give the reason. */
const STOPPED: Record<AbortedBy, { head: string; cause?: string }> = {
	user: { head: "Stopped by you" },
	parent: { head: "Stopped by its parent" },
	turns: { head: "Stopped", cause: "too many turns" },
	timeout: { head: "Timed out" },
	idle: { head: "Stopped", cause: "no activity" },
	budget: { head: "Stopped", cause: "budget used up" },
	shutdown: { head: "Interrupted", cause: "pi shut down" },
	lost: { head: "Lost", cause: "the agent ended without a result" },
};

function abortedText(outcome: Aborted, after: string): string {
	const { head, cause } = Object.hasOwn(STOPPED, outcome.by) ? STOPPED[outcome.by] : { head: "Stopped" };
	const reason = sanitizeClipped(outcome.reason, MAX_REASON_LENGTH);
	if (cause === undefined) return because(head + after, reason);
	return because(head + after, reason === "" ? cause : `${cause} (${reason})`);
}

function because(head: string, cause: string): string {
	return cause === "" ? head : `${head}: ${cause}`;
}
