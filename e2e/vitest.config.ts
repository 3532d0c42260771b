/** Most of the time is waiting for real pi, so two files run at once even where there are only two cores. */
import { availableParallelism } from "node:os";
import { mergeConfig } from "vitest/config";
import base from "../vitest.base.ts";

/** Files in which all tests are for the full run: one without tests fails. */
const fullOnly = [
	"test/beside/guards.test.ts",
	...["fleet", "life", "newcomer"].map((name) => `test/remote/${name}.test.ts`),
];
const exclude = process.env.TEST_FULL === "1" ? [] : fullOnly;

export default mergeConfig(base, {
	test: {
		exclude,
		globalSetup: ["global-setup.ts"],
		maxWorkers: Math.max(2, availableParallelism() - 1),
	},
});
