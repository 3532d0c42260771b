/**
 * The limits of time that the manager itself holds for a run on another machine. The wrapper there enforces those of the
 * spec; a machine that is broken or lies might not, and would keep whoever waits for the agent. Pure.
 */
import type { Stop } from "../model/runner.ts";
import type { Limits } from "../model/schema/spec.ts";
import { LONGEST_PAUSE_MS } from "../queue/rate-gate.ts";

/**
 * How much longer than its limits a run may be seen to take: it starts its pi there, wraps up, commits its work, and what
 * it wrote is still being copied.
 */
const BACKSTOP_MS = 2 * 60_000;

/** A run there may also rest for its provider, which is not seen here. */
export function backstopOf({ timeoutMs, toolTimeoutMs, idleTimeoutMs, ...others }: Limits): Limits {
	return {
		...others,
		...later("timeoutMs", timeoutMs, BACKSTOP_MS),
		...later("toolTimeoutMs", toolTimeoutMs, BACKSTOP_MS + LONGEST_PAUSE_MS),
		...later("idleTimeoutMs", idleTimeoutMs, BACKSTOP_MS + LONGEST_PAUSE_MS),
	};
}

/** What is told of a run that only the backstop ended. */
export function endedHere({ by, reason }: Stop): Stop {
	return { by, reason: `${reason ?? "its limit has passed"}, and its machine did not end it` };
}

function later(name: keyof Limits, ms: number | undefined, moreMs: number): Limits {
	return ms === undefined ? {} : { [name]: ms + moreMs };
}
