/**
 * `node storm/run.ts [--storms 20] [--agents 20] [--seed 1] [--full] [--with none] [--pi 1.5.0] [--lanes 1]
 * [--plan]`: storms in bulk,
 * with figures at the end. `--with` names what they have besides agents; by default all, but MCP servers only where the
 * pi can have some.
 * With `--kills 100` it is the kill loop instead: pi ends so many times, at moments and in ways that the seed gives.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { availablePis, type PiBinary } from "@pi-subagents-dev/testkit";
import { inLanes } from "../support/rounds.ts";
import { startStorms } from "./driver.ts";
import { EXTRAS, type Extra } from "./extras.ts";
import { describeKill, planKill } from "./kill-plan.ts";
import { type KillReport, startKills } from "./kills.ts";
import { describePlan, planStorm } from "./plan.ts";

const { values } = parseArgs({
	options: {
		storms: { type: "string", default: "20" },
		agents: { type: "string", default: "20" },
		seed: { type: "string", default: "1" },
		full: { type: "boolean", default: false },
		with: { type: "string" },
		/** So many at once. */
		lanes: { type: "string", default: "1" },
		pi: { type: "string" },
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
	const pi = await wantedPi();
	const extras = extrasFrom(values.with, { hasMcp: pi !== undefined && !pi.version.startsWith("0.") });
	const planOf = (seed: number) => planStorm(seed, { agents: Number(values.agents), isFull: values.full, extras });
	const totals: Record<string, number> = {};
	const faults: Record<string, number> = {};
	const had: Record<string, number> = {};
	let [agents, violations, done] = [0, 0, 0];
	const heaps: number[] = [];
	/** A pi that lives for ever would hide what it loses at its end; one for each storm would hide what it gathers. */
	const STORMS_PER_PI = 50;

	if (values.plan) {
		for (const seed of seedsFor(count)) console.log(describePlan(planOf(seed)).join("\n"));
		return 0;
	}
	const seeds = seedsFor(count);
	const lanes = Number(values.lanes);
	const size = Math.min(STORMS_PER_PI, Math.ceil(count / lanes));
	const batches = seeds
		.filter((_, index) => index % size === 0)
		.map((start) => seeds.filter((seed) => seed >= start && seed < start + size));
	await inLanes(lanes, batches, async (batch) => {
		const isFourth = batches.indexOf(batch) % 4 === 3;
		const storms = await startStorms({ join: isFourth ? "smart" : "async", extras, pi });
		for (const seed of batch) {
			const report = await storms.run(planOf(seed));
			agents += report.agents;
			add(totals, report.acts);
			add(faults, report.faults);
			add(had, report.extras);
			for (const violation of report.violations) console.log(`seed ${seed}: ${violation}`);
			violations += report.violations.length;
			if (++done % 10 === 0) console.log(`${done} storms, ${agents} agents, ${violations} violations`);
		}
		const end = await storms.end();
		await storms[Symbol.asyncDispose]();
		for (const violation of end.violations) console.log(`up to seed ${batch.at(-1)}: ${violation}`);
		violations += end.violations.length;
		heaps.push(Math.round(end.heapMegabytes));
	});
	console.log(
		JSON.stringify({
			storms: count,
			agents,
			violations,
			acts: totals,
			extras: had,
			failedWrites: faults,
			heapMegabytes: heaps,
		}),
	);
	return violations;
}

function extrasFrom(wanted: string | undefined, { hasMcp }: { hasMcp: boolean }): Extra[] {
	if (wanted === undefined) return EXTRAS.filter((extra) => extra !== "mcp" || hasMcp);
	const names = wanted.split(",").filter((name) => name !== "none");
	const unknown = names.find((name) => !EXTRAS.includes(name as Extra));
	if (unknown !== undefined) throw new Error(`--with ${unknown}: there are ${EXTRAS.join(", ")}, and none.`);
	return names as Extra[];
}

async function runKills(count: number): Promise<number> {
	const pi = await wantedPi();
	const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
	const plans = seedsFor(count).map((seed) => planKill(seed, hasTmux ? {} : { runners: ["session", "process"] }));
	if (values.plan) {
		for (const plan of plans) console.log(describeKill(plan));
		return 0;
	}
	const ways: Record<string, number> = {};
	const agents: Record<string, number> = {};
	let [kills, completed, interrupted, violations] = [0, 0, 0, 0];
	const note = (report: KillReport) => {
		completed += report.completed;
		interrupted += report.interrupted;
		violations += report.violations.length;
		add(ways, { [report.plan.way]: 1 });
		for (const { tool, runner, kind } of report.plan.agents)
			for (const each of [tool, runner, kind]) add(agents, { [each]: 1 });
		for (const violation of report.violations) console.log(violation);
		if (++kills % 10 === 0) console.log(`${kills} kills, ${completed} answers, ${violations} violations`);
	};
	const lanes = Math.max(2, Number(values.lanes));
	await inLanes(
		lanes,
		Array.from({ length: lanes }, (_, lane) => plans.filter((_plan, index) => index % lanes === lane)),
		async (own) => {
			const loop = await startKills({ pi });
			try {
				for (const plan of own) note(await loop.run(plan));
			} finally {
				await loop[Symbol.asyncDispose]();
			}
		},
	);
	console.log(JSON.stringify({ kills, ways, agents, completed, interrupted, violations }));
	return violations;
}

/** The one that `--pi` names; by default the one that the workspace depends on. */
async function wantedPi(): Promise<PiBinary | undefined> {
	const pi = (await availablePis()).find(({ version }) => version === values.pi);
	if (values.pi !== undefined && !pi) throw new Error(`There is no pi ${values.pi} here.`);
	return pi;
}

function seedsFor(count: number): number[] {
	return Array.from({ length: count }, (_, index) => first + index);
}

function add(to: Record<string, number>, more: Record<string, number>): void {
	for (const [name, times] of Object.entries(more)) to[name] = (to[name] ?? 0) + times;
}
