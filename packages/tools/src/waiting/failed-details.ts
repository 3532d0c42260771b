/**
 * The details of calls that failed. pi takes only the text of an error that a tool throws; a handler of `tool_result` can
 * add the details again, so that people see the agents of such a call, like those of any other.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { isObject } from "@pi-subagents/core/internal/base";

/** Keeps the details of a call that is about to fail. */
export type KeepDetails = (callId: string, details: object) => void;

/** The tools whose rows show agents. */
const TOOLS: readonly string[] = ["Agent", "subagent", "workflow"];

/** More calls are never on their way at the same time; what pi did not ask for is not kept forever. */
const MAX_KEPT = 200;

/** Give what it returns to the tools as `onFailed`. */
export function keepFailedDetails(pi: Pick<ExtensionAPI, "on">): KeepDetails {
	const kept = new Map<string, object>();
	pi.on("tool_result", ({ toolName, toolCallId, isError, details: own }) => {
		const details = kept.get(toolCallId);
		kept.delete(toolCallId);
		if (details) return { details };
		// An error that was returned has its details. One that was thrown without any is about no agent.
		const isBare = isError && (!isObject(own) || Object.keys(own).length === 0);
		return isBare && TOOLS.includes(toolName) ? { details: { agents: [] } } : undefined;
	});
	return (callId, details) => {
		kept.set(callId, details);
		for (const oldest of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(oldest);
	};
}
