/**
 * How a program without pi's modules, such as a worker on another machine, learns which extensions guard the agents of
 * its pi: it starts that pi with an extension of ours, which answers on standard error. Loads without pi.
 */

import { isObject, parseJson } from "@pi-subagents/core/internal/base";

export interface ScoutOrder {
	/** pi's directory. */
	agentDir: string;
	/** Where the agent will work. */
	cwd: string;
	/** Whether extensions of that directory's project count. */
	isTrusted: boolean;
}

/** A guard, as its name and its path. */
export interface FoundGuard {
	name: string;
	path: string;
}

const VARIABLE = "PI_SUBAGENTS_SCOUT";
const TAG = "pi-subagents-guards:";

/** pi's arguments: it lists its models and ends. */
export function scoutArguments(entry: string): string[] {
	return ["--list-models", "--no-extensions", "--extension", entry];
}

/** The variables for its environment. */
export function scoutVariables(order: ScoutOrder): Record<string, string> {
	return { [VARIABLE]: JSON.stringify(order) };
}

export function readScoutOrder(env: NodeJS.ProcessEnv): ScoutOrder | undefined {
	const said = env[VARIABLE];
	return said ? (JSON.parse(said) as ScoutOrder) : undefined; // written by `scoutVariables`
}

/** A string is why it is not known. */
export function scoutAnswer(answer: readonly FoundGuard[] | string): string {
	return `\n${TAG}${JSON.stringify(answer)}\n`;
}

/** Undefined if the output holds no answer. */
export function parseScoutAnswer(output: string): FoundGuard[] | string | undefined {
	const line = output.split("\n").findLast((each) => each.startsWith(TAG));
	const answer = line === undefined ? undefined : parseJson(line.slice(TAG.length));
	if (typeof answer === "string") return answer;
	return Array.isArray(answer) && answer.every(isFound) ? answer : undefined;
}

function isFound(value: unknown): value is FoundGuard {
	return isObject(value) && typeof value.name === "string" && typeof value.path === "string";
}
