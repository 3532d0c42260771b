/**
 * How the state of an agent reads. Each status has one word, icon and colour, the same in the tree, rows, footer, lists
 * and messages. Never throws, not even for data of a newer version, because an error while rendering would crash the
 * host.
 */
import { sanitizeClipped } from "./sanitize.ts";

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
	return tally(agents)
		.map(({ count, word }) => `${count} ${word}`)
		.join(", ");
}

/**
 * How many agents there are in each state, with its word.
 *
 * @example
 * ```ts
 * tally(["completed", "running", "completed"]); // [{ count: 1, word: "running" }, { count: 2, word: "done" }]
 * ```
 */
export function tally(agents: readonly (StatusView | string)[]): { count: number; word: string }[] {
	const statuses = agents.map(viewOf).map((agent) => (isElsewhere(agent) ? "running" : agent.status));
	const known = Object.keys(STATUS_LOOKS);
	const others = new Set(statuses.filter((status) => !known.includes(status)));
	return [...known, ...others]
		.map((status) => ({ status, count: statuses.filter((each) => each === status).length }))
		.filter(({ count }) => count > 0)
		.map(({ status, count }) => ({ count, word: lookOf(status).word }));
}
