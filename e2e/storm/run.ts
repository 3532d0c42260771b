/** `node storm/run.ts [--storms 20] [--agents 20] [--seed 1] [--full] [--plan]`: storms in bulk, with figures at the end. */
import { parseArgs } from "node:util";
import { startStorms } from "./driver.ts";
import { describePlan, planStorm } from "./plan.ts";

const { values } = parseArgs({
	options: {
		storms: { type: "string", default: "20" },
		agents: { type: "string", default: "20" },
		seed: { type: "string", default: "1" },
		full: { type: "boolean", default: false },
		/** Only says what would happen. */
		plan: { type: "boolean", default: false },
	},
});
const first = Number(values.seed);
const count = Number(values.storms);
const planOf = (seed: number) => planStorm(seed, { agents: Number(values.agents), isFull: values.full });
const totals: Record<string, number> = {};
const faults: Record<string, number> = {};
let [agents, violations] = [0, 0];
const heaps: number[] = [];
/** A pi that lives for ever would hide what it loses at its end; one for each storm would hide what it gathers. */
const STORMS_PER_PI = 50;

const add = (to: Record<string, number>, more: Record<string, number>) => {
	for (const [name, times] of Object.entries(more)) to[name] = (to[name] ?? 0) + times;
};

for (let seed = first; values.plan && seed < first + count; seed++) console.log(describePlan(planOf(seed)).join("\n"));
for (let seed = first; !values.plan && seed < first + count; ) {
	const storms = await startStorms({ join: heaps.length % 4 === 3 ? "smart" : "async" });
	for (let round = 0; round < STORMS_PER_PI && seed < first + count; round++, seed++) {
		const report = await storms.run(planOf(seed));
		agents += report.agents;
		add(totals, report.acts);
		add(faults, report.faults);
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
if (!values.plan)
	console.log(
		JSON.stringify({ storms: count, agents, violations, acts: totals, failedWrites: faults, heapMegabytes: heaps }),
	);
process.exitCode = violations > 0 ? 1 : 0;
