/** Agents that are asked by one message of the parent, until the parent has all their answers. */
import { converse, lastUserSays, type Rule, say, when } from "@pi-subagents-dev/testkit";
import { median } from "../measure.ts";
import type { Comparison, Work } from "./comparison.ts";
import { type Contender, forEach } from "./contenders.ts";
import { onStage } from "./stage.ts";

/** How many are asked at once, and how often: the fewer, the more a single time is up to chance. The median counts. */
const COUNTS = [
	{ count: 1, rounds: 9 },
	{ count: 10, rounds: 5 },
	{ count: 50, rounds: 3 },
	{ count: 100, rounds: 3 },
] as const;
const TASK = "Look around.";
const floor = "bare sessions";

export const spawn: Comparison = {
	lines: [
		...COUNTS.map(({ count }) => ({
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

/** In milliseconds: until all answers, until the first question, and from the last question on. */
interface Asked {
	took: number;
	first: number;
	told: number;
}

function asking(contender: Contender): Work {
	return async () => {
		const times: Times = { called: 0, asked: [], answered: 0 };
		return onStage([contender.extension], rulesFor(contender, times), async ({ rpc }) => {
			const pi = rpc();
			const ask = async (count: number): Promise<Asked> => {
				await pi.prompt(`Begin ${count}.`);
				if (times.asked.length < count) throw new Error(`only ${times.asked.length} of ${count} were at work`);
				const { called, asked, answered } = times;
				return { took: answered - called, first: Math.min(...asked) - called, told: answered - Math.max(...asked) };
			};
			await ask(1); // the first loads what is loaded late
			const measured: Asked[] = [];
			for (const { count, rounds } of COUNTS) {
				const asked: Asked[] = [];
				for (let round = 0; round < rounds; round++) asked.push(await ask(count));
				const middle = (of: (one: Asked) => number) => median(asked.map(of));
				measured.push({
					took: middle(({ took }) => took),
					first: middle(({ first }) => first),
					told: middle(({ told }) => told),
				});
			}
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
