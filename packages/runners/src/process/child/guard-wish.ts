/** How a child in its own process learns which guards it has: a variable of its environment. */
import type { GuardInChild } from "../../extensions/guarded-api.ts";

/** A guard that the child's process loads. */
export interface GuardFile extends GuardInChild {
	path: string;
}

/** The guards of the session that a worker on this machine serves, with their options on pi's command line. */
export interface GuardOrder {
	guards: readonly GuardFile[];
	flags: Readonly<Record<string, string | true>>;
}

const VARIABLE = "PI_SUBAGENTS_GUARDS";
const ORDER_VARIABLE = "PI_SUBAGENTS_SESSION_GUARDS";

/** The variables for the environment of such a worker. */
export function guardOrderVariables(order: GuardOrder): Record<string, string> {
	return { [ORDER_VARIABLE]: JSON.stringify(order) };
}

/** Undefined if the worker serves no session on this machine. What it starts does not see it. */
export function takeGuardOrder(env: NodeJS.ProcessEnv): GuardOrder | undefined {
	const said = env[ORDER_VARIABLE];
	delete env[ORDER_VARIABLE];
	return said ? (JSON.parse(said) as GuardOrder) : undefined; // written by `guardOrderVariables`
}

/** The variables for the child's environment. */
export function guardVariables(guards: readonly GuardFile[]): Record<string, string> {
	return guards.length === 0 ? {} : { [VARIABLE]: JSON.stringify(guards) };
}

export function readGuards(env: NodeJS.ProcessEnv): readonly GuardFile[] {
	return JSON.parse(env[VARIABLE] ?? "[]") as GuardFile[]; // written by `guardVariables`
}
