/** Converts between our statuses and those of version 2. Pure. */
import type { Status } from "@pi-subagents/progress";
import type { Outcome } from "./outcome.ts";

/** The statuses of version 2. `steered`: it reached its turn limit and was asked to finish. */
export type V2Status = "queued" | "running" | "completed" | "steered" | "error" | "stopped" | "aborted";

/** The status of version 2 for each cause of an abort. Unknown causes are `aborted`. */
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
 * The status of version 2.
 *
 * @example
 * ```ts
 * toV2Status("aborted", { status: "aborted", by: "user" }); // "stopped"
 * toV2Status("waiting"); // "running"
 * ```
 */
export function toV2Status(status: Status, outcome?: { status: string; by?: string; wrappedUp?: boolean }): V2Status {
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

/** Whether version 2 emits `failed` for it. */
export function isV2Failure(status: V2Status): boolean {
	return status === "error" || status === "stopped" || status === "aborted";
}

/**
 * The outcome of an agent in an untrusted message from the bus: the server's outcome if it has one, else derived from
 * version 2. `undefined` when the message is not about a settled agent.
 */
export function parseSettled(message: unknown): { id: string; outcome: Outcome } | undefined {
	try {
		const { id, status, result, error, outcome } = message as Record<string, unknown>;
		if (typeof id !== "string" || typeof status !== "string") return undefined;
		if (isOutcome(outcome)) return { id, outcome };
		return { id, outcome: fromV2(status, { result: textOf(result), error: textOf(error) }) };
	} catch {
		return undefined; // not an object, or a getter threw
	}
}

function isOutcome(value: unknown): value is Outcome {
	const { status, text, error, by } = Object(value) as Record<string, unknown>;
	if (status === "completed") return typeof text === "string";
	return status === "failed" ? typeof error === "string" : status === "aborted" && typeof by === "string";
}

function textOf(value: unknown): string | undefined {
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
