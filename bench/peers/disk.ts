/** What a long answer costs: in the session's file, and in the parent's next request to its model. */
import { stat } from "node:fs/promises";
import { converse, lastUserSays, type PiRpc, type Rule, say } from "@pi-subagents-dev/testkit";
import type { Comparison, Work } from "./comparison.ts";
import { type Contender, forEach } from "./contenders.ts";
import { onStage } from "./stage.ts";

const SENTENCE = "There is more to be said about it. ";
const ANSWER = SENTENCE.repeat(Math.ceil(100_000 / SENTENCE.length));
const TASK = "Tell at length.";
const floor = "a bare tool";

export const disk: Comparison = {
	lines: [
		{
			name: "a long answer: bytes in the session for each of its own",
			unit: "",
			floor,
			target: { value: 1.1 },
		},
		{ name: "a long answer: characters of the parent's next request", unit: "KB", floor },
	],
	work: forEach(telling),
	rounds: 1,
};

function telling(contender: Contender): Work {
	return () =>
		onStage([contender.extension], rulesFor(contender), async ({ rpc, server }) => {
			const pi = rpc();
			await pi.prompt("Good morning.");
			const before = await sessionBytes(pi);
			await pi.prompt("Begin.");
			const last = server.requests.at(-1);
			return [((await sessionBytes(pi)) - before) / ANSWER.length, JSON.stringify(last?.raw).length / 1_024];
		});
}

async function sessionBytes(pi: PiRpc): Promise<number> {
	const response = await pi.send({ type: "get_state" });
	if (!response.success || response.command !== "get_state" || !response.data.sessionFile)
		throw new Error("pi does not say where its session is");
	return (await stat(response.data.sessionFile)).size;
}

function rulesFor({ ask }: Contender): Rule[] {
	return [
		converse(lastUserSays("Good morning."), say("Good morning.")),
		converse(lastUserSays("Begin."), ask(TASK), say("Done.")),
		converse(lastUserSays(TASK), say(ANSWER)),
	];
}
