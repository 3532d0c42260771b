/** Agents that launch agents, in real pi: three levels, only where the preset allows it, and a question on the way. */
import {
	callTool,
	converse,
	gatePis,
	lastUserSays,
	offersTool,
	runPrint,
	say,
	systemPromptSays,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parentSays, scene, unfenced } from "../../support/scene.ts";

const preset = (name: string, fields: string) =>
	`---\nname: ${name}\ndescription: ${name} of the test\nmodel: fake/fake-1\ntools: read\n${fields}---\nYou are the ${name}.\n`;
const files = {
	".pi/subagents/boss.md": preset("boss", "subagents: middle\n"),
	".pi/subagents/middle.md": preset("middle", "subagents: '*'\n"),
	".pi/subagents/leaf.md": preset("leaf", ""),
};
const launch = (subagent_type: string) =>
	callTool("Agent", { prompt: "Go on.", description: "next level", subagent_type });
const tells =
	(who: string) =>
	({ lastToolResults }: { lastToolResults: readonly { text: string }[] }) =>
		say(
			`${who} heard: ${lastToolResults.map(({ text }) => unfenced(text).replace(":\n", ": ").split("\n")[0]).join(" | ")}`,
		);
const parent = parentSays(callTool("subagent", { preset: "boss", task: "Go on." }), tells("parent"));

describe.each(await gatePis())("pi $version", (pi) => {
	test("three levels deep, the answers come up one by one", async () => {
		await using it = await scene(
			[
				parent,
				converse(systemPromptSays("You are the boss."), launch("middle"), tells("boss")),
				converse(systemPromptSays("You are the middle."), launch("leaf"), tells("middle")),
				converse(systemPromptSays("You are the leaf."), ({ tools }) =>
					say(`leaf has ${tools.map(({ name }) => name).join(",")}`),
				),
			],
			{ files },
		);
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(stdout).toContain("parent heard: boss heard: middle heard: leaf has read,ask_main_session");
	});

	test("a child asks the agent above it, which answers", async () => {
		const middleId = (text: string) => /Agent (\w+)(?:,| \(middle\))/.exec(text)?.[1];
		await using it = await scene(
			[
				parent,
				// The question comes as a message, with which a new count of turns begins.
				converse(
					lastUserSays(/asks:\n<question-\w+>\nWhich door\?/),
					({ lastUserText }) => callTool("reply_subagent", { id: middleId(lastUserText), feedback: "the left one" }),
					({ lastUserText }) => callTool("get_subagent_result", { agent_id: middleId(lastUserText), wait: true }),
					tells("boss"),
				),
				converse(
					systemPromptSays("You are the boss."),
					callTool("Agent", {
						prompt: "Go on.",
						description: "x",
						subagent_type: "middle",
						run_in_background: true,
					}),
				),
				// Busy with something else until the question comes.
				when(systemPromptSays("You are the boss."), callTool("read", { path: "notes.txt" })),
				converse(
					systemPromptSays("You are the middle."),
					callTool("ask_main_session", { question: "Which door?" }),
					tells("middle"),
				),
			],
			{ files },
		);
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(stdout).toContain("boss heard: middle heard: Answer from the agent that launched you: the left one");
	});
});

test("a preset that its own does not allow is refused, with what is allowed; one that allows none has no such tool", async () => {
	await using it = await scene(
		[parent, converse(systemPromptSays("You are the boss."), launch("leaf"), tells("boss"))],
		{ files },
	);
	const { stdout } = await runPrint({ env: it.env }, "Please delegate.");
	expect(stdout).toContain('boss heard: This agent may not launch "leaf". Allowed: middle.');
	const ofLeaves = it.server.requests.filter(({ systemPrompt }) => systemPrompt.includes("You are the leaf."));
	expect(ofLeaves.filter(offersTool("Agent"))).toEqual([]);
});
