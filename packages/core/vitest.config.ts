/**
 * Many tests wait for processes, so two files run at once even where there are only two cores. Tests of memory and of a
 * thousand sessions need a process that did nothing else, so files share no modules.
 */
import { availableParallelism } from "node:os";
import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

export default mergeConfig(base, {
	test: { globalSetup: ["global-setup.ts"], isolate: true, maxWorkers: Math.max(2, availableParallelism() - 1) },
});
