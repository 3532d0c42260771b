/** A few storms of each kind, the same ones every time. `npm run test:faults` runs as many as one likes. */
import { expect, test } from "vitest";
import { startStorms } from "../storm/driver.ts";
import { planStorm } from "../storm/plan.ts";

async function weather(seeds: readonly number[], isFull: boolean, agents = 20): Promise<void> {
	await using storms = await startStorms({ join: "async" });
	for (const seed of seeds) {
		const { violations } = await storms.run(planStorm(seed, { agents, isFull }));
		expect({ seed, violations }).toEqual({ seed, violations: [] });
	}
	expect((await storms.end()).violations).toEqual([]);
}

test("agents inside pi: each settles once, is told once, and nothing is left", { timeout: 180_000 }, () =>
	weather([9], false),
);

test("the same on disks that are full or read-only, and by a clock that is set", { timeout: 180_000 }, () =>
	weather([8, 11, 21], false),
);

test("the same with processes of their own and kills", { timeout: 180_000 }, () => weather([7], true));

test("the same when files were spoiled before pi is started again", { timeout: 180_000 }, () => weather([6, 18], true));
