/**
 * Real pi needs patience: a test may wait twice as long as any wait in it, so that the wait gets to say what it saw. And
 * since most of the time is waiting, two files are run at once even where there are only two cores.
 */
import { availableParallelism } from "node:os";
import { mergeConfig } from "vitest/config";
import base from "../vitest.base.ts";

export default mergeConfig(base, {
	test: {
		globalSetup: ["global-setup.ts"],
		isolate: true,
		testTimeout: 90_000,
		maxWorkers: Math.max(2, availableParallelism() - 1),
	},
});
