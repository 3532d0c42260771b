/** A short run of each target, the same every time. `npm run test:fuzz -- --minutes 60` is the long one. */
import { afterAll, expect, test } from "vitest";
import { removeRuns } from "../src/targets/runs.ts";
import { removeWorktrees } from "../src/targets/worktrees.ts";
import { slowTargets, targets } from "../src/targets.ts";

afterAll(removeRuns);
afterAll(removeWorktrees);

test.each(targets)("$name", async ({ run }) => {
	expect(await run({ seed: 20_270_101, inputs: 60 })).toBeGreaterThanOrEqual(60);
});

test.each(slowTargets)("$name", async ({ run }) => {
	expect(await run({ seed: 20_270_101, inputs: 5 })).toBeGreaterThanOrEqual(5);
});
