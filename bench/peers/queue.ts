/** A thousand agents that are asked for by one message and share a few places: until the parent has all their answers. */
import { converse, lastUserSays, say, when } from "@pi-subagents-dev/testkit";
import type { Comparison, Work } from "./comparison.ts";
import { agentFiles, type Contender, forEach } from "./contenders.ts";
import { onStage, type Stage } from "./stage.ts";

const COUNT = 1_000;
const AT_ONCE = 8;
const TASK = "Look around.";
const floor = "bare sessions";

export const queue: Comparison = {
	lines: [
		{
			name: `${COUNT} queued, ${AT_ONCE} at a time: from the call to all answers`,
			unit: "ms",
			floor,
			target: { ratio: 1.5 },
		},
		{ name: `${COUNT} queued, ${AT_ONCE} at a time: most memory of pi`, unit: "MB", floor, target: { value: 275 } },
	],
	work: forEach((contender, who) =>
		who === "process rival" ? "its script starts all that it is given" : draining(contender),
	),
	rounds: 2,
};

function draining(contender: Contender): Work {
	return () => {
		let called = 0;
		let answered = 0;
		let asked = 0;
		const rules = [
			converse(
				lastUserSays("Begin."),
				() => {
					called = performance.now();
					return contender.ask(TASK, { count: COUNT, atOnce: AT_ONCE });
				},
				() => {
					answered = performance.now();
					return say("Done.");
				},
			),
			when(lastUserSays(TASK), () => {
				asked++;
				return say("All seen.");
			}),
		];
		const work = async ({ rpc, probe }: Stage) => {
			const pi = rpc();
			await pi.prompt("Begin.");
			if (asked < COUNT) throw new Error(`only ${asked} of ${COUNT} were at work`);
			return [answered - called, (await probe(pi.pid)).maxRssMb];
		};
		const files = { ...agentFiles, "subagents.json": JSON.stringify({ maxConcurrent: AT_ONCE }) };
		return onStage([contender.extension], rules, work, files);
	};
}
