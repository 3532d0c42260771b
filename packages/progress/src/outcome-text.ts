/**
 * How the end of a run reads: one sentence for a model, one for people, and what belongs to it. No other file words how a
 * run ended. Never throws, not even for data of a newer version, because an error while rendering would crash the host.
 */
import { clip } from "./clip.ts";
import { fence } from "./fence.ts";
import { formatDuration } from "./format.ts";
import { sanitizeBlock, sanitizeClipped } from "./sanitize.ts";
import type { Aborted, Completed, Failed, Outcome, OutcomeFacts, Verification } from "./schema/outcome.ts";
import type { AbortedBy, ClaimedBy, CutBy } from "./schema/vocabulary.ts";

export interface OutcomeTextOptions {
	/** How long the run took. Omitted from the text when absent. */
	durationMs?: number;
}

/** Options of {@link outcomeText}. */
export interface ModelTextOptions extends OutcomeTextOptions {
	/** Puts what an agent, a file or a server may have said between tags. */
	isForModel?: boolean;
	/** Changes text of others outside of these tags, where it stands inside an element. */
	escapeText?: (text: string) => string;
}

/**
 * One sanitized line that says how a run ended. What only a file or another machine says is quoted as such. For a model
 * (`isForModel`), an error or a reason is fenced, since it may quote the agent, a file or a server.
 *
 * @example
 * ```ts
 * outcomeText({ status: "completed", text: "…" }, { durationMs: 12_000 }); // "Completed in 12s"
 * outcomeText({ status: "aborted", by: "idle" }); // "Stopped: no activity"
 * outcomeText({ status: "failed", error: "Boom.", claimedBy: "file" }); // 'Failed, its file says: "Boom."'
 * ```
 */
export function outcomeText(outcome: Outcome | OutcomeFacts, options: ModelTextOptions = {}): string {
	const { isForModel = false, escapeText = asItIs } = options;
	const { took, after } = timeOf(options);
	const quote = isForModel ? quoteForModel : escapeText;
	switch (outcome.status) {
		case "completed":
			if (outcome.wrappedUp)
				return withVerification(`Wrapped up at its ${limitName(outcome)}${after}`, outcome, escapeText);
			return withVerification(took === "" ? "Completed" : `Completed in ${took}`, outcome, escapeText);
		case "failed":
			// The process that ran the check words why it failed.
			return because(`Failed${after}`, errorOf(outcome, isOurs(outcome) ? escapeText : quote), outcome.claimedBy);
		case "aborted":
			return abortedText(outcome, after, quote);
		default:
			outcome satisfies never;
			return `Ended${after}`;
	}
}

/**
 * {@link outcomeText} for people, in the words of `STATUS_LOOKS`: done, failed or stopped. Models read the other one.
 *
 * @example
 * ```ts
 * endText({ status: "aborted", by: "timeout" }, { durationMs: 60_000 }); // "Stopped after 1m: timed out"
 * ```
 */
export function endText(outcome: Outcome | OutcomeFacts, options: OutcomeTextOptions = {}): string {
	const { durationMs } = options;
	const { took, after } = timeOf(options);
	if (outcome.status === "completed" && !outcome.wrappedUp)
		return withVerification(took === "" ? "Done" : `Done in ${took}`, outcome, asItIs);
	if (outcome.status !== "aborted") return outcomeText(outcome, durationMs === undefined ? {} : { durationMs });
	const { head, cause, forPeople = cause } = stoppedBy(outcome);
	const reason = reasonOf(outcome);
	if (outcome.claimedBy) return because(`Stopped${after}`, because(cause ?? head, reason), outcome.claimedBy);
	if (forPeople === undefined) return because(head + after, reason);
	return because(`Stopped${after}`, reason === "" ? forPeople : `${forPeople} (${reason})`);
}

/**
 * {@link endText} beside an icon that says that the run failed, and a column that says after how long: of a failure, only
 * why.
 *
 * @example
 * ```ts
 * whyText({ status: "failed", error: "No API key" }, { durationMs: 2_000 }); // "No API key"
 * whyText({ status: "aborted", by: "user" }, { durationMs: 2_000 }); // "Stopped by you after 2s"
 * ```
 */
export function whyText(outcome: Outcome | OutcomeFacts, options: OutcomeTextOptions = {}): string {
	const error = outcome.status === "failed" ? errorOf(outcome, asItIs) : "";
	if (outcome.status !== "failed" || error === "") return endText(outcome, options);
	return outcome.claimedBy === undefined ? error : claimText(error, outcome.claimedBy);
}

/** Whether it simply completed: nothing stopped it, and it was not asked to finish early. */
export function isPlainSuccess(outcome: Outcome | OutcomeFacts): boolean {
	return outcome.status === "completed" && !outcome.wrappedUp;
}

function timeOf({ durationMs }: OutcomeTextOptions): { took: string; after: string } {
	const took = durationMs === undefined ? "" : formatDuration(durationMs);
	return { took, after: took === "" ? "" : ` after ${took}` };
}

type Quote = (text: string) => string;

const asItIs: Quote = (text) => text;

const quoteForModel: Quote = (text) => (text === "" ? "" : fence("cause", text, { isLine: true }));

const MAX_REASON_LENGTH = 400;

function errorOf({ error }: Pick<Failed, "error">, quote: Quote): string {
	return quote(sanitizeClipped(readableError(error), MAX_REASON_LENGTH));
}

function isOurs({ verification, claimedBy }: Pick<Failed, "verification" | "claimedBy">): boolean {
	return verification !== undefined && claimedBy === undefined;
}

const LIMIT_NAMES: Record<CutBy | "turns", string> = { turns: "turn limit", timeout: "time limit", budget: "budget" };

function limitName({ by }: Pick<Completed, "by">): string {
	const limit = by ?? "turns";
	return Object.hasOwn(LIMIT_NAMES, limit) ? LIMIT_NAMES[limit] : "limit";
}

/** `cause` follows a colon where `head` does not give the reason. `forPeople` is what follows "Stopped" for them. */
const STOPPED: Record<AbortedBy, StopWords> = {
	user: { head: "Stopped by you" },
	parent: { head: "Stopped by its parent" },
	turns: { head: "Stopped", cause: "too many turns" },
	timeout: { head: "Timed out", forPeople: "timed out" },
	idle: { head: "Stopped", cause: "no activity" },
	budget: { head: "Stopped", cause: "budget used up" },
	shutdown: { head: "Interrupted", cause: "pi shut down" },
	lost: { head: "Lost", cause: "the agent ended without a result" },
};

interface StopWords {
	head: string;
	cause?: string;
	forPeople?: string;
}

function abortedText(outcome: AbortedFacts, after: string, quote: Quote): string {
	const { head, cause } = stoppedBy(outcome);
	const reason = quote(reasonOf(outcome));
	if (outcome.claimedBy) return because(`Stopped${after}`, because(cause ?? head, reason), outcome.claimedBy);
	if (cause === undefined) return because(head + after, reason);
	return because(head + after, reason === "" ? cause : `${cause} (${reason})`);
}

type AbortedFacts = Pick<Aborted, "by" | "reason" | "claimedBy">;

function stoppedBy({ by, reason }: AbortedFacts): StopWords {
	if (by === "shutdown" && reason === RELOAD)
		return { head: "Interrupted by reload", forPeople: "interrupted by reload" };
	return Object.hasOwn(STOPPED, by) ? STOPPED[by] : { head: "Stopped" };
}

/** The reason of a shutdown that the words for it already give. */
const RELOAD = "reload";

function reasonOf({ by, reason }: AbortedFacts): string {
	return by === "shutdown" && reason === RELOAD ? "" : sanitizeClipped(reason, MAX_REASON_LENGTH);
}

/** A cause that only a file or a machine gives is its word, not ours. */
function because(head: string, cause: string, claimedBy?: ClaimedBy): string {
	if (cause === "") return head;
	return claimedBy === undefined ? `${head}: ${cause}` : `${head}, ${claimText(cause, claimedBy)}`;
}

/**
 * Whether the work of a run was verified, and how: one sanitized line.
 *
 * @example
 * ```ts
 * verificationText({ ok: true, command: "npm test", durationMs: 12_300 }); // "verified: npm test (12.3s)"
 * verificationText({ ok: false, problem: "project not trusted" }); // "not verified: project not trusted"
 * ```
 */
export function verificationText({ ok, command, durationMs, problem, on }: Verification): string {
	const what = sanitizeClipped((ok ? command : problem) || "no reason given", MAX_COMMAND_LENGTH);
	const took = durationMs === undefined || !ok ? "" : ` (${formatDuration(durationMs)})`;
	const where = on === undefined ? "" : ` on ${sanitizeClipped(on, MAX_NAME)}`;
	return `${ok ? "verified" : "not verified"}${where}: ${what}${took}`;
}

const MAX_COMMAND_LENGTH = 120;
const MAX_NAME = 40;

/** Enough to see what failed; the files of the run have more. */
const CHECK_LINES = 20;
const CHECK_LINE_LENGTH = 400;

/**
 * The last lines of what the command printed that did not accept a run's work, sanitized; `""` if there are none. Which
 * command it was and how it ended is in {@link outcomeText}.
 *
 * @example
 * ```ts
 * const verification = { ok: false, command: "npm test", tail: "not ok 3\n3 tests failed" };
 * checkOutput({ status: "failed", error: "Not verified", verification }); // "not ok 3\n3 tests failed"
 * ```
 */
export function checkOutput(outcome: Outcome | OutcomeFacts | undefined): string {
	const tail = outcome?.status === "failed" ? sanitizeBlock(outcome.verification?.tail ?? "") : "";
	const lines = tail.trimEnd().split("\n").slice(-CHECK_LINES);
	return lines.map((line) => clip(line.trimEnd(), CHECK_LINE_LENGTH)).join("\n");
}

function withVerification(text: string, { verification }: Pick<Completed, "verification">, quote: Quote): string {
	return verification ? `${text}, ${quote(verificationText(verification))}` : text;
}

/**
 * Text that only a file or another machine gives, as its own words: it cannot end the quotation. Sanitize it first.
 *
 * @example
 * ```ts
 * claimText("Boom.", "file"); // 'its file says: "Boom."'
 * ```
 */
export function claimText(text: string, claimedBy: ClaimedBy): string {
	return `its ${claimedBy === "machine" ? "machine" : "file"} says: "${text.replaceAll('"', "'")}"`;
}

/** Of a provider's error: deeper nesting is no message. */
const MAX_DEPTH = 5;
/** Errors are short; more would only cost time. */
const MAX_JSON = 20_000;

/**
 * The message inside a provider's error.
 *
 * @example
 * ```ts
 * readableError('429 {"error":{"type":"rate_limit_error","message":"Slow down."}}'); // "429: Slow down."
 * ```
 */
export function readableError(error: string): string {
	const text = typeof error === "string" ? error : "";
	const start = text.indexOf("{");
	const end = text.lastIndexOf("}");
	if (start < 0 || end < start || end - start > MAX_JSON) return text;
	const message = messageIn(parsed(text.slice(start, end + 1)), MAX_DEPTH);
	if (message === undefined) return text;
	const before = text.slice(0, start).replace(/[\s:(["'-]+$/, "");
	return before === "" || message.startsWith(before) ? message : `${before}: ${message}`;
}

const KEYS = ["message", "error", "detail", "details", "errors", "error_description"] as const;

/** The first text under one of these names. A list speaks through its first item. */
function messageIn(value: unknown, depth: number): string | undefined {
	if (typeof value === "string") return value.trim() === "" ? undefined : readableError(value);
	if (depth === 0 || typeof value !== "object" || value === null) return undefined;
	if (Array.isArray(value)) return messageIn(value[0], depth - 1);
	for (const key of KEYS) {
		const found = Object.hasOwn(value, key) ? messageIn((value as Record<string, unknown>)[key], depth - 1) : undefined;
		if (found !== undefined) return found;
	}
	return undefined;
}

function parsed(json: string): unknown {
	try {
		return JSON.parse(json);
	} catch {
		return undefined; // a brace in plain words
	}
}
