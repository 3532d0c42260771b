/** The tree of agents above the editor, in real pi: three levels appear, change and settle while the user types. */
import {
	all,
	availablePis,
	callTool,
	callTools,
	converse,
	createGate,
	lastUserSays,
	offersTool,
	say,
	startRpc,
	startTui,
	systemPromptSays,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { scene } from "./scene.ts";

const preset = (name: string, more = "") =>
	`---\nname: ${name}\ndescription: ${name} of the test\nmodel: fake/fake-1\ntools: read\n${more}---\nYou are the ${name}.\n`;
const files = {
	".pi/subagents/boss.md": preset("boss", "subagents: '*'\n"),
	".pi/subagents/middle.md": preset("middle", "subagents: '*'\n"),
	".pi/subagents/leaf.md": preset("leaf"),
};
const agent = (subagent_type: string, description: string) =>
	callTool("Agent", { prompt: "Go on.", description, subagent_type });

function family() {
	const gate = createGate();
	const rules = [
		converse(
			all(offersTool("start_subagent"), lastUserSays("delegate")),
			agent("boss", "split the task"),
			say("They are off."),
		),
		when(all(offersTool("start_subagent"), lastUserSays("<task-notification>")), say("All is done.")),
		converse(systemPromptSays("You are the boss."), agent("middle", "inspect the flow"), say("Boss done.")),
		converse(
			systemPromptSays("You are the middle."),
			callTools(agent("leaf", "trace the owner"), agent("leaf", "look for tests")),
			say("Middle done."),
		),
		converse(systemPromptSays("You are the leaf."), callTool("read", { path: "notes.txt" }), {
			...say("Leaf done."),
			gate,
		}),
	];
	return { gate, rules };
}

describe.each(await availablePis())("pi $version", (pi) => {
	test("three levels appear, change and settle, and nothing that is typed or said gets lost", async () => {
		const { gate, rules } = family();
		await using it = await scene(rules, { files });
		await using tui = await startTui({ env: it.env, pi }, { cols: 100, rows: 40 });
		tui.type("Please delegate.");
		tui.press("enter");
		await tui.waitForText("● Agents 4 running · depth 3/4");
		await tui.waitForText("agents: 4 running");
		const shown = await tui.waitFor(
			(lines) => lines.filter((line) => line.includes("Finished reading notes.txt")).length === 2,
			{},
			"What the leaves do",
		);
		const tree = shown.slice(shown.findIndex((line) => line.startsWith("● Agents")));
		// The two of one message are launched at the same time, so either may come first.
		const leaf = (line: string) => line.replace(/leaf (trace the owner|look for tests)/, "leaf …");
		expect(
			tree.slice(0, 9).map((line) =>
				leaf(line)
					.replace(/[⠀-⣿]/, "⠋")
					.replace(/ · .*$/, ""),
			),
		).toEqual([
			"● Agents 4 running",
			"└─ ⠋ boss fake-1 split the task",
			"   ⎿ Running Agent",
			"   └─ ⠋ middle inspect the flow",
			"      ⎿ Running Agent",
			"      ├─ ⠋ leaf …",
			"      │  ⎿ Finished reading notes.txt",
			"      └─ ⠋ leaf …",
			"         ⎿ Finished reading notes.txt",
		]);
		tui.type("half a sentence");
		await tui.waitForText("half a sentence");
		gate.open();
		await tui.waitForText("All is done.");
		const after = tui.screen().join("\n");
		for (const text of ["They are off.", "Boss done.", "half a sentence"]) expect(after).toContain(text);
		await tui.waitFor((lines) => !lines.join("\n").includes("agents: "), {}, "A footer without agents");
		await tui.waitFor(
			(lines) => !lines.join("\n").includes("Agents "),
			{ timeoutMs: 60_000 },
			"A screen without the tree",
		);
		expect(tui.screen().join("\n")).toContain("half a sentence");
	});
});

test("rpc: a client gets the tree as plain lines", async () => {
	const { gate, rules } = family();
	await using it = await scene(rules, { files });
	await using rpc = startRpc({ env: it.env });
	await rpc.send({ type: "prompt", message: "Please delegate." });
	const event = await rpc.waitFor(
		(each) =>
			each.type === "extension_ui_request" &&
			each.method === "setWidget" &&
			(each.widgetLines ?? []).some((line) => line.includes("look for tests")),
	);
	if (event.type !== "extension_ui_request" || event.method !== "setWidget") throw new Error("no widget");
	expect(event.widgetLines?.join("\n")).not.toMatch(/\x1b/);
	expect(event.widgetLines?.[0]).toContain("● Agents 4 running");
	gate.open();
	await rpc.waitFor((each) => each.type === "message_end" && JSON.stringify(each).includes("All is done."));
});
