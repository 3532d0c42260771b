/** A pi that is killed while an agent is at work: what the session is told when it is continued. */
import { setTimeout as pass } from "node:timers/promises";
import { converse, createGate, lastUserSays, type Reply, say } from "@pi-subagents-dev/testkit";
import type { Cell, Comparison, Work } from "./comparison.ts";
import { forEach } from "./contenders.ts";
import { onStage, type Stage, until } from "./stage.ts";

const TASK = "Look for the treasure.";
const ANSWER = "The treasure is under the oak.";
const FIRST_WORDS = "I have begun to dig.";
/** Who has something to tell has done so by then. */
const PATIENCE_MS = 15_000;

const line = { unit: "", floor: "" };

export const kill: Comparison[] = [
	{
		lines: [{ ...line, name: "kill -9 of pi, an agent in it: told at --continue" }],
		work: { ...forEach(({ extension, launch }) => killing(extension, launch)), floor: "" },
		rounds: 1,
	},
	{
		lines: [{ ...line, name: "kill -9 of pi, an agent in its own process: told at --continue" }],
		work: { ...forEach(({ extension, detach }) => killing(extension, detach)), floor: "" },
		rounds: 1,
	},
];

function killing(extension: string, call: ((task: string) => Reply) | string): Work | string {
	if (typeof call === "string") return call;
	return () => {
		const gate = createGate();
		const rules = [
			converse(lastUserSays("Begin."), call(TASK), say("It is off.")),
			converse(lastUserSays(TASK), say(`${FIRST_WORDS} ${ANSWER}`, { gate, chunksBeforeGate: 1, chunkSize: 21 })),
			converse(lastUserSays("Any news?"), say("Let me see.")),
			() => say("I have heard."), // whatever it is told by itself
		];
		return onStage([extension], rules, async (stage) => {
			const first = stage.rpc();
			await first.prompt("Begin.");
			await stage.asked(TASK, 1);
			await pass(500); // the first words have arrived
			process.kill(first.pid ?? 0, "SIGKILL");
			await first.close();
			gate.open(); // an agent that has outlived it can end now
			return [await toldAfterwards(stage)];
		});
	};
}

/** What the model learns, by itself or when the user says something. */
async function toldAfterwards({ rpc, server }: Stage): Promise<Cell> {
	const second = rpc(["--continue"]);
	await second.send({ type: "get_state" });
	const seen = server.requests.length;
	// An agent that has outlived its parent may still have to write down its answer.
	await until("it is told", async () => (server.requests.length > seen ? true : undefined), PATIENCE_MS).catch(
		() => undefined,
	);
	await second.prompt("Any news?");
	const request = server.requests.find(({ lastUserText }) => lastUserText === "Any news?");
	const messages = (request?.raw as { messages: { role: string; content: unknown }[] } | undefined)?.messages ?? [];
	const begin = messages.findIndex(({ content }) => JSON.stringify(content).includes("It is off."));
	const news = JSON.stringify(messages.slice(begin + 1, -1));
	if (news.includes(ANSWER)) return "its answer";
	if (news.includes(FIRST_WORDS)) return "that it was stopped, and what it had said";
	return messages.slice(begin + 1, -1).some(({ role }) => role === "user") ? "that it was stopped" : "nothing";
}
