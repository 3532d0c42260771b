/**
 * How every package is tested: on its sources (the `@pi-subagents/source` condition), so no build comes first,
 * with type tests beside the run-time ones. In CI a skipped test fails the run, since it would show nothing, and one that
 * fails is tried once more: machines there stall for seconds. It is named, so that a race does not hide behind that.
 */
import { defineConfig } from "vitest/config";
import type { Reporter, TestModule } from "vitest/node";

const conditions = ["@pi-subagents/source", "module", "node", "import", "default"];

const nothingSkipped: Reporter = {
	onTestRunEnd(modules: ReadonlyArray<TestModule>) {
		const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")].map((test) => test.fullName));
		if (skipped.length === 0) return;
		const list = skipped.map((name) => `  - ${name}`).join("\n");
		process.stderr.write(`\nSKIPPED ${skipped.length} test(s), which shows nothing:\n${list}\n`);
		if (process.env.CI) process.exitCode = 1;
	},
};

const secondTries: Reporter = {
	onTestRunEnd(modules: ReadonlyArray<TestModule>) {
		const tests = modules.flatMap((module) => [...module.children.allTests()]);
		const names = tests
			.filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
			.map((test) => `  - ${test.fullName}\n${(test.result().errors ?? []).map(({ message }) => message).join("\n")}`);
		if (names.length > 0) process.stderr.write(`\nTRIED AGAIN ${names.length} test(s):\n${names.join("\n")}\n`);
	},
};

export default defineConfig({
	resolve: { conditions },
	ssr: { resolve: { conditions, externalConditions: conditions } },
	test: {
		include: ["test/**/*.test.ts"],
		typecheck: { enabled: true, include: ["test/**/*.test-d.ts"] },
		reporters: ["default", nothingSkipped, secondTries],
		retry: process.env.CI ? 1 : 0,
		testTimeout: 30_000,
	},
});
