/** The words of a report about calls, and which calls wait for agents. Pure. */
import type { EventLine } from "@pi-subagents/core/runs";
import { beginningOf, describe, sanitize } from "@pi-subagents/progress";

const MAX_TASK = 200;

type Call = EventLine & { type: "tool_call" };

/** As the progress line says it: "Reading a.ts". A launch names the agent and its task. */
export function describeCall(line: Call): string {
	const { preset, subagent_type = preset, task, description = task } = line.args;
	const isLaunch = typeof subagent_type === "string" && typeof description === "string";
	if (isLaunch) return `Launching ${sanitize(subagent_type)}: ${sanitize(beginningOf(description, MAX_TASK))}`;
	return describe(undefined, line).line ?? sanitize(line.tool);
}

/** Files of older versions do not say which call launched an agent; then the tool's name does. */
export function waitsForAgents({ callId, tool, args }: Call, waited: ReadonlySet<string>): boolean {
	if (callId !== undefined && waited.has(callId)) return true;
	if (tool === "subagent") return true;
	if (tool === "Agent") return args.run_in_background === false;
	return tool === "get_subagent_result" && args.wait === true;
}
