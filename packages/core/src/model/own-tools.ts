/** Which tools an agent has in all: those of its spec, and ours, with which it asks and launches agents. Pure. */
import { ASK_TOOL } from "./question-text.ts";
import type { RunSpec } from "./runner.ts";

/** With these an agent launches agents and deals with them. `@pi-subagents/tools` makes them. */
export const LAUNCH_TOOLS: readonly string[] = [
	"Agent",
	"get_subagent_result",
	"steer_subagent",
	"stop_subagent",
	"reply_subagent",
];

type ToolFields = Pick<RunSpec, "tools" | "runner" | "subagents" | "withheld">;

/** Ours, without those that are withheld. Only an agent inside pi can launch agents. */
function ownTools({ runner, subagents = [], withheld = [] }: Omit<ToolFields, "tools">): string[] {
	const launching = runner === "session" && subagents.length > 0 ? LAUNCH_TOOLS : [];
	return [ASK_TOOL.name, ...launching].filter((name) => !withheld.includes(name));
}

/** Whether it can ask the session or the user. One that cannot asks nobody, whatever its log or its process say. */
export function mayAsk({ withheld = [] }: Pick<RunSpec, "withheld">): boolean {
	return !withheld.includes(ASK_TOOL.name);
}

/** All of them, each once. */
export function allTools(spec: ToolFields): string[] {
	return [...new Set([...spec.tools, ...ownTools(spec)])];
}
