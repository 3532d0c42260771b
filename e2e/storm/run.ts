/**
 * `node storm/run.ts [--storms 20] [--agents 20] [--seed 1] [--full] [--plan]`: storms in bulk, with figures at the end.
 * With `--kills 100` it is the kill loop instead: pi ends so many times, at moments and in ways that the seed gives.
 */
import { parseArgs } from "node:util";
import { inLanes } from "../support/rounds.ts";
import { startStorms } from "./driver.ts";
import { describeKill, planKill } from "./kill-plan.ts";
import { type KillReport, startKills } from "./kills.ts";
import { describePlan, planStorm } from "./plan.ts";

const { values } = parseArgs({
	options: {
		storms: { type: "string", default: "20" },
		agents: { type: "string", default: "20" },
		seed: { type: "string", default: "1" },
		full: { type: "boolean", default: false },
		kills: { type: "string" },
		/** Only says what would happen. */
		plan: { type: "boolean", default: false },
	},
});
const first = Number(values.seed);
const violations =
	values.kills === undefined ? await runStorms(Number(values.storms)) : await runKills(Number(values.kills));
process.exitCode = violations > 0 ? 1 : 0;

async function runStorms(count: number): Promise<number> {
	const planOf = (seed: number) => planStorm(seed, { agents: Number(values.agents), isFull: values.full });
	const totals: Record<string, number> = {};
	const faults: Record<string, number> = {};
	let [agents, violations] = [0, 0];
	const heaps: number[] = [];
	/** A pi that lives for ever would hide what it loses at its end; one for each storm would hide what it gathers. */
	const STORMS_PER_PI = 50;

	if (values.plan) {
		for (const seed of seedsFor(count)) console.log(describePlan(planOf(seed)).join("\n"));
		return 0;
	}
	for (let seed = first; seed < first + count; ) {
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
	console.log(
		JSON.stringify({ storms: count, agents, violations, acts: totals, failedWrites: faults, heapMegabytes: heaps }),
	);
	return violations;
}

async function runKills(count: number): Promise<number> {
	const plans = seedsFor(count).map(planKill);
	if (values.plan) {
		for (const plan of plans) console.log(describeKill(plan));
		return 0;
	}
	const ways: Record<string, number> = {};
	let [kills, completed, interrupted, violations] = [0, 0, 0, 0];
	const note = (report: KillReport) => {
		completed += report.completed;
		interrupted += report.interrupted;
		violations += report.violations.length;
		add(ways, { [report.plan.way]: 1 });
		for (const violation of report.violations) console.log(violation);
		if (++kills % 10 === 0) console.log(`${kills} kills, ${completed} answers, ${violations} violations`);
	};
	const LANES = 2;
	await inLanes(
		LANES,
		Array.from({ length: LANES }, (_, lane) => plans.filter((_plan, index) => index % LANES === lane)),
		async (own) => {
			const loop = await startKills();
			try {
				for (const plan of own) note(await loop.run(plan));
			} finally {
				await loop[Symbol.asyncDispose]();
			}
		},
	);
	console.log(JSON.stringify({ kills, ways, completed, interrupted, violations }));
	return violations;
}

function seedsFor(count: number): number[] {
	return Array.from({ length: count }, (_, index) => first + index);
}

function add(to: Record<string, number>, more: Record<string, number>): void {
	for (const [name, times] of Object.entries(more)) to[name] = (to[name] ?? 0) + times;
}
