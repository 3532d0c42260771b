/** How a run ended, judged by the child's last message. Pure, and the same for every runner. */
import type { AssistantText, Outcome } from "@pi-subagents/progress";
import type { Stop } from "./runner.ts";

/**
 * A child that gave no answer, or half of one, did not complete: callers must be able to trust `completed`. `said` is
 * its last non-blank text.
 */
export function outcomeOf(last: AssistantText | undefined, said?: string): Outcome {
	const text = said?.trim() || last?.text.trim() || "";
	if (!last) return { status: "failed", error: "The agent ended without an answer." };
	if (last.error !== undefined || last.stopReason === "error" || last.stopReason === "aborted") {
		return failed(last.error ?? `The model stopped with "${last.stopReason}".`, text);
	}
	if (last.stopReason === "length") return failed("The answer was cut off at the model's output limit.", text);
	if (last.stopReason === "toolUse") return failed("The agent ended while it was still using tools.", text);
	if (last.text.trim() === "") return failed("The agent's answer was empty.", text);
	return { status: "completed", text: last.text };
}

/** The outcome of a stopped run, with what the child had said. */
export function abortedOutcome(stop: Stop, said: string | undefined): Outcome {
	return { status: "aborted", ...stop, ...partial(said?.trim() ?? "") };
}

function failed(error: string, text: string): Outcome {
	return { status: "failed", error, ...partial(text) };
}

function partial(text: string): { partialText?: string } {
	return text === "" ? {} : { partialText: text };
}
