/** What agents hold of pi's memory: while they live, and when they have ended. */
import { setTimeout as pass } from "node:timers/promises";
import { callTool, converse, hang, lastUserSays, type Rule, say } from "@pi-subagents-dev/testkit";
import type { Comparison, Work } from "./comparison.ts";
import { type Contender, forEach } from "./contenders.ts";
import { onStage } from "./stage.ts";

const FINISHED = 20;
const LIVE = 50;
const READ = "Read the notes five times.";
const WAIT = "Wait for ever.";
const floor = "bare sessions";

export const memory: Comparison = {
	lines: [
		{ name: "heap held for an agent that has ended (5 reads of 30 KB)", unit: "KB", floor, target: { value: 60 } },
		{ name: "heap held by an agent that lives", unit: "KB", floor, target: { ratio: 1.5 } },
	],
	work: forEach(holding),
	rounds: 2,
};

function holding(contender: Contender): Work {
	return () =>
		onStage([contender.extension], rulesFor(contender), async ({ rpc, probe, asked }) => {
			const pi = rpc();
			const heapKb = () => atRest(async () => (await probe(pi.pid)).heapKb);
			await pi.prompt("Begin many."); // what is loaded and kept once is there now
			const before = await heapKb();
			await pi.prompt("Begin many.");
			const ended = await heapKb();
			await pi.send({ type: "prompt", message: "Begin live." });
			await asked(WAIT, LIVE);
			const live = await heapKb();
			return [(ended - before) / FINISHED, (live - ended) / LIVE];
		});
}

/** Some of it is let go of only after a while. */
async function atRest(heap: () => Promise<number>): Promise<number> {
	const seen: number[] = [];
	for (let look = 0; look < 4; look++) {
		await pass(500);
		seen.push(await heap());
	}
	return Math.min(...seen);
}

function rulesFor({ ask }: Contender): Rule[] {
	const read = callTool("read", { path: "notes.txt" });
	return [
		converse(lastUserSays("Begin many."), ask(READ, { count: FINISHED }), say("Done.")),
		converse(lastUserSays("Begin live."), ask(WAIT, { count: LIVE })),
		converse(lastUserSays(READ), read, read, read, read, read, say("All read.")),
		converse(lastUserSays(WAIT), hang()),
	];
}
