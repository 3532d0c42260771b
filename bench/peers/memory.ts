/** What agents take of pi's memory: while they live, when they have ended, and many of them together. */
import { setTimeout as pass } from "node:timers/promises";
import { callTool, converse, hang, lastUserSays, type Rule, say } from "@pi-subagents-dev/testkit";
import type { Comparison, Work } from "./comparison.ts";
import { type Contender, forEach } from "./contenders.ts";
import { memoryMbOf, onStage } from "./stage.ts";

const FINISHED = 20;
const LIVE = 50;
const CROWD = 100;
const LOOK = "Look around.";
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

/** In a pi that has seen one agent before: what was loaded for it stays, and counts for nobody. */
export const crowd: Comparison = {
	lines: [{ name: `memory added by ${CROWD} at once`, unit: "MB", floor, target: { ratio: 1.3 } }],
	work: forEach((contender) => () => {
		const begin = (count: number) =>
			converse(lastUserSays(`Begin ${count}.`), contender.ask(LOOK, { count }), say("Done."));
		const rules = [begin(1), begin(CROWD), converse(lastUserSays(LOOK), say("All seen."))];
		return onStage([contender.extension], rules, async ({ rpc }) => {
			const pi = rpc();
			const memoryMb = () => memoryMbOf(pi.pid ?? 0);
			await pi.prompt("Begin 1.");
			const before = await memoryMb();
			await pi.prompt(`Begin ${CROWD}.`);
			return [(await memoryMb()) - before];
		});
	}),
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
