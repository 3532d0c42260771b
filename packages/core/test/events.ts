/** Builders that make event logs read as stories. */
import type { AgentEvent, AgentRecord, ChildEvent, LifeCycleEvent, Outcome, RunSpec } from "../src/index.ts";
import { reduce } from "../src/index.ts";

export const spec: RunSpec = {
	type: "scout",
	description: "look around",
	task: "Look around and report.",
	cwd: "/project",
	runner: "session",
	model: "fake/one",
	tools: ["read"],
	limits: {},
	origins: {},
	warnings: [],
};

export const queued: LifeCycleEvent = {
	type: "agent_queued",
	agent: {
		depth: 1,
		type: "scout",
		description: "look around",
		task: "Look.",
		cwd: "/project",
		runner: "session",
		isBackground: false,
	},
};
export const started: LifeCycleEvent = { type: "agent_started" };
export const settled = (outcome: Outcome): LifeCycleEvent => ({ type: "agent_settled", outcome });
export const said = (text: string): ChildEvent => ({ type: "assistant_text", text, stopReason: "stop" });
export const reading = (path: string): ChildEvent => ({
	type: "tool_call",
	callId: path,
	tool: "read",
	args: { path },
});

/** Events one second apart; a queued event after a settled one begins the next run. */
export function log(events: readonly (LifeCycleEvent | ChildEvent)[], agentId = "a1"): AgentEvent[] {
	let run = 1;
	let hasSettled = false;
	return events.map((event, index) => {
		if (event.type === "agent_queued" && hasSettled) run++;
		hasSettled = event.type === "agent_settled" || (hasSettled && event.type !== "agent_queued");
		return { ...event, agentId, run, seq: index + 1, at: index * 1_000 };
	});
}

export function replay(...events: (LifeCycleEvent | ChildEvent)[]): AgentRecord | undefined {
	return log(events).reduce<AgentRecord | undefined>(reduce, undefined);
}
