#!/usr/bin/env node
/**
 * `npm run test:full`: everything that takes too long for the gate; run it before you call an issue resolved. Each step
 * starts only if the previous one passed; the last line lists how long each took.
 */
import { spawnSync } from "node:child_process";

const node = ["node", "--disable-warning=ExperimentalWarning"];
const STEPS = [
	["all tests, every combination", ["node", "scripts/check.mjs"]],
	[
		"random programs",
		[...node, "--conditions=@pi-subagents/source", "tools/fuzz/run.ts", "--minutes", "20", "--only", "a program"],
	],
	["storms inside pi", [...node, "e2e/storm/run.ts", "--storms", "20"]],
	["pi killed at random moments", [...node, "e2e/storm/run.ts", "--kills", "40"]],
	["storms with processes and kills", [...node, "e2e/storm/run.ts", "--storms", "5", "--full"]],
];

const times = [];
for (const [name, [command, ...args]] of STEPS) {
	console.log(`\n=== ${name}`);
	const start = Date.now();
	const { status } = spawnSync(command, args, {
		stdio: "inherit",
		env: { ...process.env, TEST_FULL: "1" },
	});
	if (status !== 0) {
		console.error(`${name}: failed`);
		process.exit(status ?? 1);
	}
	times.push(`${name}: ${Math.round((Date.now() - start) / 1000)}s`);
}
console.log(`\n${times.join("; ")}`);
