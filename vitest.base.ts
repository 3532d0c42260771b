/**
 * How every package is tested: on its sources (the `@pi-subagents/source` condition), so no build comes first. Type tests
 * (`*.test-d.ts`) are checked with all other types. Skipped tests are listed; a test that needs a tool named in `REQUIRE_TOOLS` fails
 * instead of being skipped. In CI a failing test is tried once more, because shared machines stall for seconds. How long a
 * test may take depends on how busy the machine is (`vitest.setup.ts`). Files share their modules, since importing pi takes
 * longer than most tests: a test undoes what it changes in its process.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import type { Reporter, TestModule } from "vitest/node";

const conditions = ["@pi-subagents/source", "module", "node", "import", "default"];

const loudSkips: Reporter = {
	onTestRunEnd(modules: ReadonlyArray<TestModule>) {
		const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")].map((test) => test.fullName));
		if (skipped.length === 0) return;
		const list = skipped.map((name) => `  - ${name}`).join("\n");
		process.stderr.write(`\nSKIPPED ${skipped.length} test(s), which shows nothing:\n${list}\n`);
	},
};

/**
 * Names and counts the tests that passed only on their second try. `RETRY_HISTORY` is a directory that outlives the
 * checkout: a test that needed a second try in the last run too has a race, and fails this one.
 */
const secondTries: Reporter = {
	onTestRunEnd(modules: ReadonlyArray<TestModule>) {
		const tests = modules.flatMap((module) => [...module.children.allTests()]);
		const retried = tests.filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0);
		const names = retried.map((test) => `${test.module.relativeModuleId} > ${test.fullName}`);
		const again = names.filter((name) => retriedBefore().includes(name));
		keepRetried(names);
		if (names.length === 0) return;
		const told = retried.map((test, index) => {
			const errors = (test.result().errors ?? []).map(({ message }) => message).join("\n");
			return `  - ${names[index]}\n${errors}`;
		});
		process.stderr.write(`\nTRIED AGAIN ${names.length} of ${tests.length} test(s):\n${told.join("\n")}\n`);
		if (again.length === 0) return;
		const list = again.map((name) => `  - ${name}`).join("\n");
		process.stderr.write(`\nFAILED: tried again in the last run too:\n${list}\n`);
		process.exitCode = 1;
	},
};

/** One file for each package, written anew by each run of it. */
const historyFile = process.env.RETRY_HISTORY && join(process.env.RETRY_HISTORY, basename(process.cwd()));

function retriedBefore(): string[] {
	return historyFile && existsSync(historyFile) ? readFileSync(historyFile, "utf8").split("\n") : [];
}

function keepRetried(names: readonly string[]): void {
	if (!historyFile) return;
	mkdirSync(dirname(historyFile), { recursive: true });
	writeFileSync(historyFile, names.join("\n"));
}

export default defineConfig({
	resolve: { conditions },
	ssr: { resolve: { conditions, externalConditions: conditions } },
	test: {
		include: ["test/**/*.test.ts"],
		reporters: ["default", loudSkips, secondTries],
		isolate: false,
		retry: process.env.CI ? 1 : 0,
		setupFiles: [fileURLToPath(new URL("vitest.setup.ts", import.meta.url))],
	},
});
