/**
 * Random programs against the real manager, delivery and journal, checked against what the documentation promises. The
 * error of a failure has the program, a step on each line, and the seed to repeat it:
 * `npm run test:fuzz -- --only "a program" --seed N`. The full run takes 20 minutes of them.
 */
import { expect, test } from "vitest";
import { knownDefects, languages } from "../src/programs/known.ts";
import { linesOf } from "../src/programs/program.ts";
import { runProgram } from "../src/programs/world.ts";
import { programTargets } from "../src/targets/programs.ts";

/** The same in every run, so that a failure is the change's. */
const SEED = 34_2027;

test.each(programTargets)("$name", async ({ run }) => {
	expect(await run({ seed: SEED, inputs: 500 })).toBeGreaterThanOrEqual(500);
});

test.each(knownDefects)("still broken: $what", async ({ program, breaks, words }) => {
	await expect(runProgram(program)).rejects.toThrow(breaks);
	for (const language of Object.values(languages)) expect(words.every((word) => language[word])).toBe(false);
});

test("a failure shows the program as lines, and what it breaks", async () => {
	const [defect] = knownDefects;
	if (!defect) return;
	const error: unknown = await runProgram(defect.program).catch((thrown: unknown) => thrown);
	expect(String(error)).toContain(linesOf(defect.program).join("\n"));
	expect(linesOf(defect.program)).toEqual([
		"maxConcurrent: 1",
		"1. the user launches (answers at once; ends in 1000 ms)",
		"2. the user says steer to agent 0",
	]);
});
