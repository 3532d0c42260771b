/** What one guard costs: the same agents, of a user who has an extension that looks at every tool call. */
import { type Benchmark, timed } from "../measure.ts";
import { directories, guardedManager, here, newManager, runIn } from "../worlds/spawn.ts";

const COUNT = 100;
const guarded = await guardedManager();
const plain = newManager();
const trees = await directories(COUNT);

export const guards: Benchmark[] = [
	["in one directory", Array.from({ length: COUNT }, () => here)] as const,
	["each in its own directory, as in worktrees", trees] as const,
].map(([where, cwds]) => ({
	name: `guards: ${COUNT} agents at once with one guard, ${where}`,
	target: 1.5,
	unit: "ms",
	rounds: 11,
	ours: timed("one guard", () => runIn(guarded, cwds)),
	against: timed("no guard", () => runIn(plain, cwds)),
}));
