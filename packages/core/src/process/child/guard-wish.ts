/** How a child in its own process learns which guards it has: a variable of its environment. */
import type { GuardInChild } from "../../extensions/guarded-api.ts";

/** A guard that the child's process loads. */
export interface GuardFile extends GuardInChild {
	path: string;
}

const VARIABLE = "PI_SUBAGENTS_GUARDS";

/** The variables for the child's environment. */
export function guardVariables(guards: readonly GuardFile[]): Record<string, string> {
	return guards.length === 0 ? {} : { [VARIABLE]: JSON.stringify(guards) };
}

export function readGuards(env: NodeJS.ProcessEnv): readonly GuardFile[] {
	return JSON.parse(env[VARIABLE] ?? "[]") as GuardFile[]; // written by `guardVariables`
}
