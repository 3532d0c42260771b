/** Interactive pi while agents that it waits for talk, or say nothing: what it writes, how late it is, how busy. */
import { setTimeout as pass } from "node:timers/promises";
import { converse, hang, lastUserSays, type Rule, say, type Terminal } from "@pi-subagents-dev/testkit";
import type { Comparison, Work } from "./comparison.ts";
import { type Contender, forEach } from "./contenders.ts";
import { onStage, type Stage } from "./stage.ts";

const FEW = 20;
const MANY = 100;
/** 200 tokens a second each. */
const talk = (seconds: number) => say("word ".repeat(seconds * 200), { chunkSize: 5, chunkDelayMs: 5 });
const SAMPLE_MS = 4_000;
const WAIT = "Wait for ever.";
const floor = "bare sessions";

export const terminal: Comparison = {
	lines: [
		{ name: `terminal output, ${FEW} agents talk`, unit: "KB/s", floor, target: { ratio: 1.5 } },
		{ name: `pause of the event loop, ${FEW} agents talk, 99th percentile`, unit: "ms", floor, target: { ratio: 1.3 } },
		{
			name: `pause of the event loop, ${MANY} agents talk, 99th percentile`,
			unit: "ms",
			floor,
			target: { ratio: 1.5 },
		},
		{ name: `terminal output, ${FEW} agents say nothing`, unit: "KB/s", floor, target: { ratio: 2 } },
		{ name: `CPU of pi, ${FEW} agents say nothing`, unit: "ms/s", floor, target: { ratio: 2 } },
	],
	work: forEach(watching),
	rounds: 2,
};

function watching(contender: Contender): Work {
	return () =>
		onStage([contender.extension], rulesFor(contender), async (stage) => {
			const tui = await stage.tui();
			const few = await sample(stage, tui, "Talk a little.", FEW);
			await tui.waitForText("Talk a little. Done.");
			const many = await sample(stage, tui, "Talk a lot.", MANY);
			await tui.waitForText("Talk a lot. Done.");
			const silent = await sample(stage, tui, WAIT, FEW);
			return [few.kbPerSecond, few.delayP99Ms, many.delayP99Ms, silent.kbPerSecond, silent.cpuMsPerSecond];
		});
}

/** From when all agents are at work. */
async function sample({ asked, probe }: Stage, tui: Terminal, task: string, agents: number) {
	tui.submit(`Begin: ${task}`);
	await asked(task, agents + 1);
	const before = await probe(tui.pid);
	const { length } = tui.raw;
	const start = performance.now();
	await pass(SAMPLE_MS);
	const written = Buffer.byteLength(tui.raw.slice(length));
	const seconds = (performance.now() - start) / 1_000;
	const after = await probe(tui.pid);
	return {
		kbPerSecond: written / 1_024 / seconds,
		delayP99Ms: after.delayP99Ms,
		cpuMsPerSecond: (after.cpuMs - before.cpuMs) / seconds,
	};
}

function rulesFor({ ask }: Contender): Rule[] {
	const begin = (task: string, agents: number) =>
		converse(lastUserSays(`Begin: ${task}`), ask(task, { count: agents }), say(`${task} Done.`));
	return [
		begin("Talk a little.", FEW),
		begin("Talk a lot.", MANY),
		begin(WAIT, FEW),
		converse(lastUserSays("Talk a little."), talk(6)),
		converse(lastUserSays("Talk a lot."), talk(3)),
		converse(lastUserSays(WAIT), hang()),
	];
}
