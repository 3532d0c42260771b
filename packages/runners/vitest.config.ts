/**
 * Many tests wait for processes, so two files run at once even where there are only two cores. Tests that measure memory, or
 * what a thousand sessions leave behind, get a process that did nothing else; all other files share their modules.
 */
import { availableParallelism } from "node:os";
import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

const MEASURING = ["test/session/memory.test.ts", "test/session/scale.test.ts"];

const maxWorkers = Math.max(2, availableParallelism() - 1);
const shared = { ...base.test, globalSetup: ["global-setup.ts"], maxWorkers };

export default mergeConfig(base, {
	test: {
		maxWorkers,
		projects: [
			{ ...base, extends: false, test: { ...shared, name: "runners", exclude: MEASURING } },
			{
				...base,
				extends: false,
				test: { ...shared, name: "measuring", include: MEASURING, isolate: true },
			},
		],
	},
});
