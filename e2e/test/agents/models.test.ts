/** Which launches must name a model and which inherit the session's, in real pi, for a preset of the project's `subagents` directory. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	assistantTexts,
	callTool,
	converse,
	lastUserSays,
	offersTool,
	say,
	startRpc,
	systemPromptSays,
	when,
} from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { scene } from "../../support/scene.ts";

const bare = "---\nname: bare\ndescription: Names no model\n---\nYou are the bare one.\n";
const task = "Say hello.";
const prompt = { prompt: task, description: "hello" };

/** Another extension, which launches as soon as a command says so. */
const caller = `export default (pi) => pi.registerCommand("call", { handler: async () => {
	pi.events.emit("subagents:rpc:spawn", { requestId: "r1", type: "bare", prompt: "${task}" });
} });\n`;

test("only subagent and background_agent demand a model; Agent, start_subagent, /subagent start, RPC and schedules inherit the session's", async () => {
	const isBare = systemPromptSays("You are the bare one.");
	await using it = await scene(
		[
			when(isBare, say("Hello.")),
			converse(
				(request) => offersTool("subagent")(request) && lastUserSays("Please launch.")(request),
				callTool("subagent", { preset: "bare", task }),
				callTool("background_agent", { preset: "bare", task }),
				callTool("Agent", { ...prompt, subagent_type: "bare", run_in_background: false }),
				callTool("Agent", { ...prompt, subagent_type: "bare", schedule: "+1s; quiet" }),
				({ messages }) => say(messages.flatMap((each) => (each.role === "tool" ? [each.text] : [])).join("\n---\n")),
			),
			converse(
				(request) => offersTool("subagent")(request) && lastUserSays("Start one.")(request),
				callTool("start_subagent", { role: "bare", task }),
			),
			when(offersTool("subagent"), say("I see.")),
		],
		{ files: { ".pi/subagents/bare.md": bare }, models: [{ id: "fake-1" }, { id: "fake-2" }] },
	);
	const extension = join(it.env.root, "caller.ts");
	await writeFile(extension, caller);
	await using rpc = startRpc({ env: it.env, args: ["-e", extension, "--model", "fake/fake-2"] });
	const byBare = () => it.server.requests.filter(isBare).map(({ model }) => model);

	const [first, second] = (assistantTexts(await rpc.prompt("Please launch.")).at(-1) ?? "").split("\n---\n");
	for (const refused of [first, second])
		expect(refused).toMatch(/No model: the call gives none and preset "bare" has no default\./);
	await expect.poll(byBare).toEqual(["fake-2", "fake-2"]); // waited for, and scheduled
	await rpc.prompt("Start one.");
	await expect.poll(byBare).toHaveLength(3);
	await rpc.send({ type: "prompt", message: `/subagent start bare: ${task}` });
	await expect.poll(byBare).toHaveLength(4);
	await rpc.send({ type: "prompt", message: "/call" });
	await expect.poll(byBare).toEqual(Array.from({ length: 5 }, () => "fake-2"));
});
