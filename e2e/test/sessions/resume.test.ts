/** A session that was left and is opened again: its agents are still known, can be read, and go on where they were. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import {
	all,
	availablePis,
	callTool,
	callTools,
	converse,
	hang,
	lastUserSays,
	type PiBinary,
	type PiRpc,
	type ReplySource,
	say,
	startRpc,
	startTui,
	when,
} from "@pi-subagents-dev/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isScout, isSession, type Scene, scene, unfenced } from "../../support/scene.ts";

/** Longer than what a session or a message keeps of a result. */
const LONG_ANSWER = `It begins. ${"All of it matters. ".repeat(600)}The last word is heliotrope.`;

const agent = (name: string, more: object = {}) =>
	callTool("Agent", { prompt: `Be the ${name}.`, description: name, subagent_type: "repo-scout", name, ...more });
const goOn = (name: string, prompt = "Which word did you say?") =>
	agent(name, { prompt, resume: name, run_in_background: false });
const session = (prompt: string, ...replies: readonly ReplySource[]) =>
	converse(all(isSession, lastUserSays(prompt)), ...replies, ({ lastToolResults }) =>
		say(`Heard: ${lastToolResults.map(({ text }) => unfenced(text)).join("\n---\n")}`),
	);
const scout = (prompt: string, reply: ReplySource) => when(all(isScout, lastUserSays(prompt)), reply);

const rules = [
	session(
		"Please begin.",
		callTools(
			agent("keeper", { run_in_background: false }),
			agent("loser", { run_in_background: false }),
			callTool("subagent", { preset: "repo-scout", task: "Be awaited." }),
		),
		agent("sleeper"),
	),
	session("Read the keeper.", callTool("get_subagent_result", { agent_id: "keeper" })),
	session("Read the loser.", callTool("get_subagent_result", { agent_id: "LOSER" })),
	session("Ask the keeper.", goOn("keeper")),
	session("Ask the sleeper.", goOn("sleeper", "What did you dream?")),
	session("Ask the loser.", goOn("loser")),
	scout("Be the keeper.", say(LONG_ANSWER)),
	scout("Be the loser.", { error: "out of credit" }),
	scout("Be awaited.", say("I was awaited.")),
	scout("Be the sleeper.", hang()),
	scout("Which word did you say?", ({ messages }) =>
		say(messages.some(({ text }) => text === LONG_ANSWER) ? "It was heliotrope." : "I do not know."),
	),
	scout("What did you dream?", ({ messages }) => say(`I know of ${messages.length} messages.`)),
];

/** Says something to pi and returns what its model says last. */
async function ask(rpc: PiRpc, message: string): Promise<string> {
	return JSON.stringify(await rpc.prompt(message));
}

/** What `/subagent list` says. */
async function list(rpc: PiRpc): Promise<string> {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message: "/subagent list" });
	const event = await rpc.waitFor((each) => each.type === "extension_ui_request" && each.method === "notify", { from });
	return event.type === "extension_ui_request" && event.method === "notify" ? event.message : "";
}

async function sessionWithAgents(pi: PiBinary): Promise<Scene> {
	const it = await scene(rules);
	await using rpc = startRpc({ env: it.env, pi });
	await rpc.prompt("Please begin.");
	await it.server.nextRequest(all(isScout, lastUserSays("Be the sleeper.")));
	return it;
}

describe.each(await availablePis())("pi $version", (pi) => {
	let it: Scene;
	let rpc: PiRpc;
	beforeAll(async () => {
		it = await sessionWithAgents(pi);
		rpc = startRpc({ env: it.env, pi, args: ["--continue"] });
	});
	afterAll(() => it[Symbol.asyncDispose]());

	test("the agents are listed, each as it ended", async () => {
		const shown = await list(rpc);
		expect(shown).toMatch(/^4 agents: 2 done, 1 failed, 1 stopped\n/);
		expect(shown).toMatch(/sleeper +repo-scout +stopped .*\n +Stopped: pi shut down/);
		expect(shown).toMatch(/loser +repo-scout +failed .*\n +Failed: .*out of credit/);
		expect(shown).toMatch(/keeper +repo-scout +done/);
		expect(shown).toMatch(/ repo-scout +done +\S+ +Be awaited\./);
	});

	test("a result is read by its agent's name, and whole", async () => {
		expect(await ask(rpc, "Read the keeper.")).toContain("The last word is heliotrope.");
		expect(await ask(rpc, "Read the loser.")).toContain("out of credit");
	});

	test("an agent that has ended goes on, and knows what was said", async () => {
		expect(await ask(rpc, "Ask the keeper.")).toContain("Heard: It was heliotrope.");
	});

	test("so does one that was interrupted", async () => {
		expect(await ask(rpc, "Ask the sleeper.")).toMatch(/Heard: I know of [1-9] messages\./);
	});

	test("one whose conversation is gone cannot go on, and the error says what to do", async () => {
		const conversations = join(it.env.agentDir, "state", "subagents", "sessions");
		for (const name of await readdir(conversations)) await rm(join(conversations, name), { recursive: true });
		const said = await ask(rpc, "Ask the loser.");
		expect(said).toMatch(/Agent \w+ cannot be resumed: its conversation is gone\. Launch a new agent and tell it/);
	});

	test("opened once more, what they did last is known", async () => {
		await rpc.close();
		await using tui = await startTui({ env: it.env, pi, args: ["--continue"] }, { cols: 120, rows: 60 });
		tui.submit("/subagent view keeper ");
		await tui.waitForText(/run +2.*It was heliotrope\./s);
		tui.submit("/subagent list ");
		await tui.waitForText("4 agents: 3 done, 1 failed");
	});
});
