/** A few storms of each kind, the same ones every time. `npm run test:faults` runs as many as one likes. */
import { availablePis, isFullRun, type PiBinary, patienceMs } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { startStorms } from "../../storm/driver.ts";
import { EXTRAS, type Extra } from "../../storm/extras.ts";
import { planKill } from "../../storm/kill-plan.ts";
import { startKills } from "../../storm/kills.ts";
import { planStorm } from "../../storm/plan.ts";

interface Kind {
	isFull: boolean;
	extras?: readonly Extra[];
	pi?: PiBinary | undefined;
}

async function weather(seeds: readonly number[], { isFull, extras = [], pi }: Kind): Promise<void> {
	await using storms = await startStorms({ join: "async", extras, pi });
	for (const seed of seeds) {
		const { violations } = await storms.run(planStorm(seed, { agents: 20, isFull, extras }));
		expect({ seed, violations }).toEqual({ seed, violations: [] });
	}
	expect((await storms.end()).violations).toEqual([]);
}

test("agents inside pi: each settles once, is delivered once, and nothing is left", () =>
	weather([9], { isFull: false, extras: ["workflow", "verify"] }));

test("the same on disks that are full or read-only, and with a changed clock", () =>
	weather(isFullRun ? [8, 11, 21] : [8], { isFull: false }));

test("the same with agents in their own processes, and kills", () =>
	weather([7], { isFull: true, extras: ["launcher"] }));

if (isFullRun) {
	test("the same with workflows, checks, launchers and another machine", { timeout: patienceMs(20) }, () =>
		weather([2, 16], { isFull: true, extras: EXTRAS.filter((extra) => extra !== "mcp") }),
	);

	test("the same with MCP servers", { timeout: patienceMs(20) }, async () => {
		const pi = (await availablePis()).find(({ version }) => !version.startsWith("0."));
		await weather([1, 4], { isFull: false, extras: ["mcp", "workflow"], pi });
	});
}

/**
 * Each of these lost an answer once: a kill while one call of a message waits and another's agent has answered; a kill
 * and a quit while files are late, with answers of 40 KB; SIGTERM and SIGHUP as soon as an agent has answered; and a
 * result that another call has just read.
 */
const KILLS = isFullRun ? [30, 32, 70, 3, 13, 43] : [30, 32];

test("pi ends at some moment, in every way: each answer is delivered once, and complete", async () => {
	await using kills = await startKills();
	for (const seed of KILLS) {
		const { violations } = await kills.run(planKill(seed, { runners: ["session", "process"] }));
		expect({ seed, violations }).toEqual({ seed, violations: [] });
	}
});

test("the same when files are damaged before pi is started again", () =>
	weather(isFullRun ? [6, 18] : [6], { isFull: true }));
