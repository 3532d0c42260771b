/** Random programs over the life of a session and its agents. */
import { languages } from "../programs/known.ts";
import { programs } from "../programs/program.ts";
import { runProgram } from "../programs/world.ts";
import { type Target, target } from "../target.ts";

export const programTargets: readonly Target[] = Object.entries(languages).map(([about, language]) =>
	target(`a program about ${about} keeps every promise`, programs(language), runProgram),
);
