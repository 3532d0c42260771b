/** `@name message` in real pi: typed, completed, and acted on without a turn of the model. */
import {
	callTool,
	converse,
	createGate,
	gatePis,
	isFullRun,
	lastUserSays,
	offersTool,
	pipeToPrint,
	say,
	startRpc,
	startTui,
	systemPromptSays,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { scene, scoutSays, unfenced } from "../../support/scene.ts";

const isParent = offersTool("background_agent");

describe.each(await gatePis())("pi $version", (pi) => {
	test("a preset is completed and started, and its agent steered by its id while it works", async () => {
		const gate = createGate();
		const hears = scoutSays({ ...callTool("read", { path: "notes.txt" }), gate }, ({ messages }) =>
			say(`I heard: ${JSON.stringify(messages).includes("Look in the cellar.")}`),
		);
		await using it = await scene([hears]);
		await using tui = await startTui({ env: it.env, pi }, { rows: 40 });
		tui.type("@repo");
		await tui.waitForText(/→ @repo-scout +start: Fast repo exploration/);
		tui.press("tab");
		await tui.waitFor((lines) => !lines.some((line) => line.includes("start: Fast")));
		tui.type("Find the launch code.");
		await tui.waitForText("@repo-scout Find the launch code.");
		tui.press("enter");
		const screen = await tui.waitForText(/→ repo-scout \w+ has started; the result will appear here\./);
		const id = /→ repo-scout (\w+) has started/.exec(screen.join("\n"))?.[1] ?? "";
		tui.type(`@${id.slice(0, 4)}`);
		await tui.waitForText(new RegExp(`→ @${id} +running: repo-scout, Find the launch code`));
		tui.press("tab");
		tui.submit("Look in the cellar.");
		await tui.waitForText(`→ repo-scout ${id} has your message.`);
		gate.open();
		await tui.waitForText(/✓ repo-scout Find the launch code\.[\s\S]*I heard: true/);
		expect(it.server.requests.filter(isParent)).toEqual([]);
	});

	const runners = isFullRun ? ["session", "process"] : ["session"];
	test.each(runners)("a long conversation is resumed only after a warning, and compacted first: %s", async (runner) => {
		const usage = { input: 142_000, output: 10 };
		await using it = await scene(
			[
				when(systemPromptSays("summarization"), say("They found heliotrope.")),
				when(lastUserSays("Once more."), ({ messages }) =>
					say(JSON.stringify(messages).includes("They found heliotrope.") ? "I read the summary." : "I read it all."),
				),
				scoutSays(callTool("read", { path: "notes.txt" }), say("Found it.", { usage })),
			],
			{
				models: [
					{ id: "fake-1", contextWindow: 200_000, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3 } },
				],
				settings: { compaction: { enabled: true, reserveTokens: 1_000, keepRecentTokens: 1 } },
				agentFiles: { "subagents.json": JSON.stringify({ runner }) },
			},
		);
		await using tui = await startTui({ env: it.env, pi }, { rows: 40, cols: 80 });
		tui.submit("@repo-scout Find the launch code.");
		const screen = await tui.waitForText(/→ repo-scout \w+ has started; the result will appear here\./);
		const id = /→ repo-scout (\w+) has started/.exec(screen.join("\n"))?.[1] ?? "";
		await tui.waitForText(/✓ repo-scout Find the launch code\.[\s\S]*Found it\./);
		tui.submit(`@${id} Once more.`);
		await tui.waitForText(`Resume repo-scout ${id}?`);
		expect(tui.screen().join(" ").replace(/\s+/g, " ")).toContain("Each turn sends about 142k tokens (about $0.43,");
		tui.press("enter"); // too early: nothing is spent, and the text comes back
		await tui.waitFor((lines) => !lines.some((line) => line.includes("Each turn sends")));
		await tui.waitForText(`@${id} Once more.`);
		tui.press("enter");
		await tui.waitForText("→ Do not resume it");
		tui.press("down");
		await tui.waitForText("→ Compact first, then resume");
		tui.press("enter");
		await tui.waitForText(/I read the summary\./);
	});
});

test("print: the model delegates, since only its answer is printed", async () => {
	const delegates = converse(isParent, callTool("subagent", { preset: "repo-scout", task: "Go." }), (request) =>
		say(`It says: ${unfenced(request.lastToolResults[0]?.text)}`),
	);
	await using it = await scene([delegates, scoutSays(say("heliotrope"))]);
	const { stdout } = await pipeToPrint({ env: it.env }, "@repo-scout Find the launch code.");
	expect(stdout).toContain("It says: heliotrope");
	expect(it.server.requests[0]?.lastUserText).toBe(
		'@repo-scout Find the launch code.\n\n(This message addresses the preset "repo-scout": delegate this to a sub-agent of that preset.)',
	);
});

if (isFullRun)
	test("rpc: it acts as on the screen, and a notice says so", async () => {
		await using it = await scene([when(isParent, say("never")), scoutSays(say("heliotrope"))]);
		await using rpc = startRpc({ env: it.env });
		expect((await rpc.send({ type: "prompt", message: "@repo-scout Find the launch code." })).success).toBe(true);
		const said = await rpc.waitFor((each) => each.type === "extension_ui_request" && each.method === "notify");
		expect(String(said.message)).toMatch(/→ repo-scout \w+ has started; the result will appear here\./);
		await rpc.waitFor((each) => each.type === "message_end" && JSON.stringify(each).includes("heliotrope"));
		expect(it.server.requests.filter(isParent)).toEqual([]);
	});
