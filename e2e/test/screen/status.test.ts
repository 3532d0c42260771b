/** What people read about an agent at this moment, on the screens of real pi: what it asks whom, why it waits, what its model does. */
import { callTool, createGate, gatePis, say, startTui } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parentSays, scene, scoutSays } from "../../support/scene.ts";

describe.each(await gatePis())("pi $version", (pi) => {
	test("a queued agent says why, a silent one that it thinks or writes, and one that asks what and whom", async () => {
		const writing = createGate();
		const tasks = ["first", "second"].map((task) => ({ preset: "repo-scout", task }));
		await using it = await scene(
			[
				parentSays(callTool("subagent", { tasks }), say("Both are back.")),
				scoutSays(
					{
						...callTool("ask_main_session", { question: "Which colour?", default_answer: "red" }),
						text: "One moment, let me think about the doors.",
						...{ gate: writing, chunkSize: 12, chunkDelayMs: 250 },
					},
					say("It is done."),
				),
			],
			{ agentFiles: { "subagents.json": JSON.stringify({ maxConcurrent: 1 }) } },
		);
		await using tui = await startTui({ env: it.env, pi }, { cols: 80, rows: 40 });
		tui.submit("Please delegate.");
		await tui.waitForText("waiting for a slot (next)");
		await tui.waitForText("thinking…");
		await tui.waitForText("agents: 1 running, 1 queued · quitting stops them");
		writing.open();
		await tui.waitForText("writing…");
		await tui.waitForText("asks you: Which colour?");
		await tui.waitForText("waiting for you (Which colour?)");
		expect(tui.screen().join("\n")).not.toContain("ask_main_session");
	});
});
