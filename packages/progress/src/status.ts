/**
 * How the state of an agent reads. Each status has one word, icon and colour, the same in the tree, rows, footer, lists
 * and messages; the end of a run is one sentence. Never throws, not even for data of a newer version, because an error
 * while rendering would crash the host.
 */
import { clip } from "./clip.ts";
import { fence } from "./fence.ts";
import { formatDuration } from "./format.ts";
import { sanitizeBlock, sanitizeClipped } from "./sanitize.ts";
import type { Aborted, Completed, Outcome, Verification } from "./schema/outcome.ts";
import type { AbortedBy, ClaimedBy, CutBy } from "./schema/vocabulary.ts";

/** The word, the icon (one column wide), and the name of the colour in pi's themes. */
export interface StatusLook {
	readonly word: string;
	readonly icon: string;
	readonly color: "accent" | "warning" | "muted" | "success" | "error";
}

/** The frames of a running agent's icon. */
export const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;

/** In the order in which they are counted. */
export const STATUS_LOOKS = {
	running: { word: "running", icon: "⠋", color: "accent" },
	waiting: { word: "waiting for you", icon: "?", color: "warning" },
	queued: { word: "queued", icon: "◦", color: "muted" },
	completed: { word: "done", icon: "✓", color: "success" },
	failed: { word: "failed", icon: "✗", color: "error" },
	aborted: { word: "stopped", icon: "■", color: "warning" },
} as const satisfies Readonly<Record<string, StatusLook>>;

/**
 * The look of a status, also of one that a newer version wrote. An agent that asked another agent instead of the user
 * looks like a running one, and its word names whom it waits for.
 *
 * @example
 * ```ts
 * lookOf("aborted"); // { word: "stopped", icon: "■", color: "warning" }
 * lookOf({ status: "waiting", waitsFor: { who: "agent", name: "Plan" } }).word; // "waiting for Plan"
 * ```
 */
export function lookOf(agent: StatusView | string): StatusLook {
	const { status, waitsFor } = viewOf(agent);
	if (waitsFor && isElsewhere({ status, waitsFor })) return { ...STATUS_LOOKS.running, word: elsewhereWord(waitsFor) };
	if (Object.hasOwn(STATUS_LOOKS, status)) return STATUS_LOOKS[status as keyof typeof STATUS_LOOKS];
	return { word: sanitizeClipped(status, MAX_UNKNOWN) || "unknown", icon: "●", color: "accent" };
}

const MAX_UNKNOWN = 20;

/** Whom a waiting agent asked, with the name of that agent if it was one. */
export interface WaitsFor {
	readonly who: "agent" | "session" | "user";
	readonly name?: string;
}

/** The state of an agent, as far as its word depends on it. */
export interface StatusView {
	readonly status: string;
	/** By default, an agent that waits does so for the user. */
	readonly waitsFor?: WaitsFor | undefined;
}

function viewOf(agent: StatusView | string): StatusView {
	return typeof agent === "string" ? { status: agent } : agent;
}

function elsewhereWord({ who, name = "" }: WaitsFor): string {
	return who === "session" ? "waiting for pi" : `waiting for ${sanitizeClipped(name, MAX_NAME) || "its parent"}`;
}

const MAX_NAME = 40;

/** Whether it waits for someone other than the user. */
export function isElsewhere({ status, waitsFor }: StatusView): boolean {
	return status === "waiting" && waitsFor !== undefined && waitsFor.who !== "user";
}

/**
 * How many agents have each status. An agent that waits for another agent counts as running: nothing is asked of the
 * user.
 *
 * @example
 * ```ts
 * tallyText(["completed", "running", "completed"]); // "1 running, 2 done"
 * ```
 */
export function tallyText(agents: readonly (StatusView | string)[]): string {
	const statuses = agents.map(viewOf).map((agent) => (isElsewhere(agent) ? "running" : agent.status));
	const known = Object.keys(STATUS_LOOKS);
	const others = new Set(statuses.filter((status) => !known.includes(status)));
	return [...known, ...others]
		.map((status) => ({ status, count: statuses.filter((each) => each === status).length }))
		.filter(({ count }) => count > 0)
		.map(({ status, count }) => `${count} ${lookOf(status).word}`)
		.join(", ");
}

export interface OutcomeTextOptions {
	/** How long the run took. Omitted from the text when absent. */
	durationMs?: number;
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
export function outcomeText(outcome: Outcome, options: OutcomeTextOptions & { isForModel?: boolean } = {}): string {
	const duration = options.durationMs === undefined ? undefined : formatDuration(options.durationMs);
	const after = duration === undefined ? "" : ` after ${duration}`;
	const quote = options.isForModel ? quoteForModel : plain;
	switch (outcome.status) {
		case "completed":
			if (outcome.wrappedUp)
				return withVerification(`Wrapped up at its ${LIMIT_NAMES[outcome.by ?? "turns"]}${after}`, outcome);
			return withVerification(duration === undefined ? "Completed" : `Completed in ${duration}`, outcome);
		case "failed": {
			const error = sanitizeClipped(readableError(outcome.error), MAX_REASON_LENGTH);
			// The process that ran the check words why it failed.
			const isOurs = outcome.verification !== undefined && outcome.claimedBy === undefined;
			return because(`Failed${after}`, isOurs ? error : quote(error), outcome.claimedBy);
		}
		case "aborted":
			return abortedText(outcome, after, quote);
		default:
			outcome satisfies never;
			return `Ended${after}`;
	}
}

type Quote = (text: string) => string;

const plain: Quote = (text) => text;

const quoteForModel: Quote = (text) => (text === "" ? "" : fence("cause", text, { isLine: true }));

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
export function checkOutput(outcome: Outcome | undefined): string {
	const tail = outcome?.status === "failed" ? sanitizeBlock(outcome.verification?.tail ?? "") : "";
	const lines = tail.trimEnd().split("\n").slice(-CHECK_LINES);
	return lines.map((line) => clip(line.trimEnd(), CHECK_LINE_LENGTH)).join("\n");
}

function withVerification(text: string, { verification }: Completed): string {
	return verification ? `${text}, ${verificationText(verification)}` : text;
}

/**
 * {@link outcomeText} for people, in the words of `STATUS_LOOKS`: done, failed or stopped. Models read the other one.
 *
 * @example
 * ```ts
 * endText({ status: "aborted", by: "timeout" }, { durationMs: 60_000 }); // "Stopped after 1m: timed out"
 * ```
 */
export function endText(outcome: Outcome, options: OutcomeTextOptions = {}): string {
	if (outcome.status === "completed" && !outcome.wrappedUp) {
		const done = options.durationMs === undefined ? "Done" : `Done in ${formatDuration(options.durationMs)}`;
		return withVerification(done, outcome);
	}
	if (outcome.status !== "aborted") return outcomeText(outcome, options);
	const after = options.durationMs === undefined ? "" : ` after ${formatDuration(options.durationMs)}`;
	const { head, cause } = stoppedBy(outcome);
	const reason = reasonOf(outcome);
	if (outcome.claimedBy) return because(`Stopped${after}`, because(cause ?? head, reason), outcome.claimedBy);
	if (head.startsWith("Stopped by")) return because(head + after, reason);
	const why = cause ?? (head === "Stopped" ? "" : head.toLowerCase());
	return because(`Stopped${after}`, why === "" || reason === "" ? why || reason : `${why} (${reason})`);
}

const MAX_REASON_LENGTH = 400;

const LIMIT_NAMES: Record<CutBy | "turns", string> = { turns: "turn limit", timeout: "time limit", budget: "budget" };

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

function abortedText(outcome: Aborted, after: string, quote: Quote): string {
	const { head, cause } = stoppedBy(outcome);
	const reason = quote(reasonOf(outcome));
	if (outcome.claimedBy) return because(`Stopped${after}`, because(cause ?? head, reason), outcome.claimedBy);
	if (cause === undefined) return because(head + after, reason);
	return because(head + after, reason === "" ? cause : `${cause} (${reason})`);
}

function stoppedBy({ by, reason }: Aborted): { head: string; cause?: string } {
	if (by === "shutdown" && reason === RELOAD) return { head: "Interrupted by reload" };
	return Object.hasOwn(STOPPED, by) ? STOPPED[by] : { head: "Stopped" };
}

/** The reason of a shutdown that the words for it already give. */
const RELOAD = "reload";

function reasonOf({ by, reason }: Aborted): string {
	return by === "shutdown" && reason === RELOAD ? "" : sanitizeClipped(reason, MAX_REASON_LENGTH);
}

/** A cause that only a file or a machine gives is its word, not ours. */
function because(head: string, cause: string, claimedBy?: ClaimedBy): string {
	if (cause === "") return head;
	return claimedBy === undefined ? `${head}: ${cause}` : `${head}, ${claimText(cause, claimedBy)}`;
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
