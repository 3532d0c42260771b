/** `node storm/run.ts [--storms 20] [--agents 20] [--seed 1] [--full]`: storms in bulk, with figures at the end. */
import { parseArgs } from "node:util";
import { startStorms } from "./driver.ts";
import { planStorm } from "./plan.ts";

const { values } = parseArgs({
	options: {
		storms: { type: "string", default: "20" },
		agents: { type: "string", default: "20" },
		seed: { type: "string", default: "1" },
		full: { type: "boolean", default: false },
	},
});
const first = Number(values.seed);
const count = Number(values.storms);
const totals: Record<string, number> = {};
let [agents, violations] = [0, 0];
const heaps: number[] = [];
/** A pi that lives for ever would hide what it loses at its end; one for each storm would hide what it gathers. */
const STORMS_PER_PI = 50;

for (let seed = first; seed < first + count; ) {
	const storms = await startStorms({ join: heaps.length % 4 === 3 ? "smart" : "async" });
	for (let round = 0; round < STORMS_PER_PI && seed < first + count; round++, seed++) {
		const report = await storms.run(planStorm(seed, { agents: Number(values.agents), isFull: values.full }));
		agents += report.agents;
		for (const [act, times] of Object.entries(report.acts)) totals[act] = (totals[act] ?? 0) + times;
		for (const violation of report.violations) console.log(`seed ${seed}: ${violation}`);
		violations += report.violations.length;
		if ((seed - first + 1) % 10 === 0)
			console.log(`${seed - first + 1} storms, ${agents} agents, ${violations} violations`);
	}
	const end = await storms.end();
	await storms[Symbol.asyncDispose]();
	for (const violation of end.violations) console.log(`up to seed ${seed - 1}: ${violation}`);
	violations += end.violations.length;
	heaps.push(Math.round(end.heapMegabytes));
}
console.log(JSON.stringify({ storms: count, agents, violations, acts: totals, heapMegabytes: heaps }));
process.exitCode = violations > 0 ? 1 : 0;
