/** Agents that are asked by one message of the parent, until the parent has all their answers. */
import { converse, lastUserSays, type Rule, say, when } from "@pi-subagents-dev/testkit";
import type { Comparison, Work } from "./comparison.ts";
import { type Contender, forEach } from "./contenders.ts";
import { onStage } from "./stage.ts";

const COUNTS = [1, 10, 50, 100] as const;
const TASK = "Look around.";
const floor = "bare sessions";

export const spawn: Comparison = {
	lines: [
		...COUNTS.map((count) => ({
			name: `${count} at once: from the call to all answers`,
			unit: "ms",
			floor,
			target: { ratio: 1.25 },
		})),
		{ name: "100 at once: until the first asks its model", unit: "ms", floor, target: { ratio: 1 } },
		...[1, 100].map((count) => ({
			name: `${count} at once: from the last one's question to its parent's next`,
			unit: "ms",
			floor,
			target: { ratio: 1.3 },
		})),
	],
	work: forEach(asking),
};

/** Seen by the model: when the parent was told to call, when its agents asked, and when it came back with the answers. */
interface Times {
	called: number;
	asked: number[];
	answered: number;
}

function asking(contender: Contender): Work {
	return async () => {
		const times: Times = { called: 0, asked: [], answered: 0 };
		return onStage([contender.extension], rulesFor(contender, times), async ({ rpc }) => {
			const pi = rpc();
			const ask = async (count: number) => {
				await pi.prompt(`Begin ${count}.`);
				if (times.asked.length < count) throw new Error(`only ${times.asked.length} of ${count} were at work`);
				const { called, asked, answered } = times;
				return { took: answered - called, first: Math.min(...asked) - called, told: answered - Math.max(...asked) };
			};
			await ask(1); // the first loads what is loaded late
			const measured: Awaited<ReturnType<typeof ask>>[] = [];
			for (const count of COUNTS) measured.push(await ask(count));
			const [one, hundred] = [measured[0], measured.at(-1)];
			return [...measured.map(({ took }) => took), ...[hundred?.first, one?.told, hundred?.told].map(Number)];
		});
	};
}

function rulesFor({ ask }: Contender, times: Times): Rule[] {
	return [
		converse(
			lastUserSays("Begin "),
			({ lastUserText }) => {
				times.called = performance.now();
				times.asked = [];
				return ask(TASK, { count: Number(/Begin (\d+)/.exec(lastUserText)?.[1]) });
			},
			() => {
				times.answered = performance.now();
				return say("Done.");
			},
		),
		when(lastUserSays(TASK), () => {
			times.asked.push(performance.now());
			return say("All seen.");
		}),
	];
}
