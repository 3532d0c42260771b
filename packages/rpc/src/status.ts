/** Between our words for how an agent is and those of version 2, in both directions. Pure. */
import type { Outcome } from "./outcome.ts";

/** The words of version 2. `steered`: it reached its turn limit and was asked to finish. */
export type V2Status = "queued" | "running" | "completed" | "steered" | "error" | "stopped" | "aborted";

/** Who or what ended a run, by what version 2 calls that. Anything new counts as `aborted`. */
const BY: Readonly<Record<string, V2Status>> = {
	user: "stopped",
	parent: "stopped",
	shutdown: "stopped",
	turns: "aborted",
	timeout: "aborted",
	idle: "aborted",
	budget: "aborted",
	lost: "error",
};

/**
 * What version 2 calls it.
 *
 * @example
 * ```ts
 * toV2Status("aborted", { status: "aborted", by: "user" }); // "stopped"
 * toV2Status("waiting"); // "running"
 * ```
 */
export function toV2Status(
	status: "queued" | "running" | "waiting" | "completed" | "failed" | "aborted",
	outcome?: { status: string; by?: string; wrappedUp?: boolean },
): V2Status {
	switch (status) {
		case "queued":
		case "running":
			return status;
		case "waiting":
			return "running";
		case "completed":
			return outcome?.wrappedUp ? "steered" : "completed";
		case "failed":
			return "error";
		case "aborted":
			return (outcome?.by !== undefined && Object.hasOwn(BY, outcome.by) ? BY[outcome.by] : undefined) ?? "aborted";
	}
}

/** Whether version 2 tells of it with `failed`. */
export function isV2Failure(status: V2Status): boolean {
	return status === "error" || status === "stopped" || status === "aborted";
}

/**
 * How an agent settled, from what somebody on the bus says of it: in the server's words where it has some, else from what
 * version 2 says. `undefined` for what says nothing of the kind, whatever it is: the bus is open to everybody.
 */
export function settledIn(news: unknown): { id: string; outcome: Outcome } | undefined {
	try {
		const { id, status, result, error, outcome } = news as Record<string, unknown>;
		if (typeof id !== "string" || typeof status !== "string") return undefined;
		if (isOutcome(outcome)) return { id, outcome };
		return { id, outcome: fromV2(status, { result: textIn(result), error: textIn(error) }) };
	} catch {
		return undefined; // nothing that has fields, or they throw when one looks at them
	}
}

function isOutcome(value: unknown): value is Outcome {
	const { status, text, error, by } = Object(value) as Record<string, unknown>;
	if (status === "completed") return typeof text === "string";
	return status === "failed" ? typeof error === "string" : status === "aborted" && typeof by === "string";
}

function textIn(value: unknown): string | undefined {
	return typeof value === "string" ? value : undefined;
}

function fromV2(status: string, { result, error }: { result: string | undefined; error: string | undefined }): Outcome {
	const partial = result === undefined ? {} : { partialText: result };
	if (status === "error") return { status: "failed", error: error ?? "It failed.", ...partial };
	if (status === "stopped" || status === "aborted")
		return {
			status: "aborted",
			by: status === "aborted" ? "turns" : "unknown",
			...(error === undefined ? {} : { reason: error }),
			...partial,
		};
	return { status: "completed", text: result ?? "", ...(status === "steered" ? { wrappedUp: true } : {}) };
}
