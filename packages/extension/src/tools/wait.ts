/** Waits for an agent inside a tool call. Giving up the call stops the agent. */
import type { AgentRecord, Outcome } from "@pi-subagents/core";
import { reportFor } from "./report.ts";

export interface Awaited {
	wait: () => Promise<Outcome>;
	stop: () => void;
	/** As it is once it has settled. */
	record: () => AgentRecord;
	warnings: readonly string[];
}

/** A run that did not complete is a tool error, so that the model cannot take it for an answer. */
export async function answerOf(
	{ wait, stop, record, warnings }: Awaited,
	signal: AbortSignal | undefined,
): Promise<string> {
	signal?.addEventListener("abort", stop, { once: true });
	try {
		const outcome = await wait();
		const text = reportFor(outcome, record(), warnings);
		if (outcome.status !== "completed") throw new Error(text);
		return text;
	} finally {
		signal?.removeEventListener("abort", stop);
	}
}
