/** `@name message` in real pi: typed, completed, and acted on without a turn of the model. */
import {
	callTool,
	converse,
	createGate,
	gatePis,
	isFullRun,
	offersTool,
	pipeToPrint,
	say,
	startRpc,
	startTui,
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
		tui.type("Look in the cellar.");
		tui.press("enter");
		await tui.waitForText(`→ repo-scout ${id} has your message.`);
		gate.open();
		await tui.waitForText(/✓ repo-scout Find the launch code\.[\s\S]*I heard: true/);
		expect(it.server.requests.filter(isParent)).toEqual([]);
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
