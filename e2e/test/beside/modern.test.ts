/** What pi 1.x has and the oldest supported pi lacks, used where it is. Unit tests cover in the gate what only a full run tries here. */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	all,
	callTool,
	converse,
	createGate,
	isFullRun,
	lastUserSays,
	runJson,
	say,
	secondPi,
	startRpc,
	startTui,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { linesOf } from "../../support/detached.ts";
import { homegrown } from "../../support/extensions/homegrown.ts";
import { enter, openMenu } from "../../support/keys.ts";
import { extensionDir, isScout, isSession, parentSays, scene, scoutSays } from "../../support/scene.ts";

const second = await secondPi();
const modern = second ? [second] : [];
const digs = callTool("Agent", { prompt: "Dig slowly.", description: "dig", subagent_type: "repo-scout" });

/** Holds up every run that starts while there is a file `hold`; sends a message that starts a turn. */
const starter = `
import { appendFileSync, existsSync } from "node:fs";
export default (pi) => {
	pi.on("before_agent_start", async () => {
		if (!existsSync("hold")) return;
		appendFileSync("log.jsonl", JSON.stringify({ isStarting: true }) + "\\n");
		while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
	});
	pi.registerCommand("nudge", {
		handler: () => pi.sendMessage({ customType: "nudge", content: "A nudge.", display: true }, { triggerTurn: true }),
	});
};`;

describe.each(isFullRun ? modern : [])("pi $version", (pi) => {
	test.each([
		["the user's prompt", "Are you there?"],
		["another extension's message", "/nudge"],
	])("a result that comes while %s starts a run takes no part of it away, and is told once", async (_what, message) => {
		const gate = createGate();
		await using it = await scene(
			[
				converse(all(isSession, lastUserSays("Please dig.")), digs, say("Dug.")),
				when(all(isSession, lastUserSays("<task-notification>")), say("News.")),
				when(all(isSession, lastUserSays("Are you there?")), say("Yes.")),
				when(all(isSession, lastUserSays("A nudge.")), say("Nudged.")),
				converse(isScout, say("Found gold.", { gate })),
			],
			{ files: { "starter.ts": starter }, extensions: [extensionDir, "starter.ts"] },
		);
		await using rpc = startRpc({ env: it.env, pi });
		await rpc.prompt("Please dig.");
		await writeFile(join(it.env.cwd, "hold"), "");
		void rpc.send({ type: "prompt", message });
		await until("a run starts", async () => (await linesOf(join(it.env.cwd, "log.jsonl"))).length === 1 || undefined);
		gate.open();
		const runs = join(it.env.cwd, ".pi", "subagents", "runs");
		await until(
			"the agent has ended",
			async () => (await readdir(runs, { recursive: true })).some((name) => name.endsWith("result.json")) || undefined,
		);
		await writeFile(join(it.env.cwd, "go"), "");
		await it.server.nextRequest(lastUserSays("<task-notification>"));
		const asked = it.server.requests.filter(isSession).map(({ lastUserText }) => lastUserText.slice(0, 19));
		const spoken = message === "/nudge" ? "A nudge." : message;
		expect(asked).toEqual(["Please dig.", "Please dig.", spoken, "<task-notification>"]);
	});

	test("a question of the menu tells the terminal that pi waits for the user", async () => {
		await using it = await scene([scoutSays({ ...say("never"), gate: createGate() })]);
		const variables = { ...it.env.variables, PI_PROGRAM_STATUS: "1" };
		await using tui = await startTui({ env: { ...it.env, variables }, pi }, { rows: 40 });
		enter(tui, "/subagent start repo-scout: Find the launch code. ");
		await tui.waitForText(/Started repo-scout as \w+\./);
		await openMenu(tui);
		await tui.waitForText("→ This session");
		tui.press("enter");
		await tui.waitForText(/→ ⠋ repo-scout/);
		expect(statuses(tui.raw)).not.toContainEqual(expect.stringMatching(/blocked/));
		tui.type("x");
		await tui.waitForText(/Stop repo-scout \w+\?[\s\S]*→ Keep it running/);
		expect(statuses(tui.raw).at(-1)).toMatch(/blocked.*Stop repo-scout \w+\?/);
		tui.press("escape");
		await tui.waitFor(() => !/blocked/.test(statuses(tui.raw).at(-1) ?? ""));
	});
});

describe.each(modern)("pi $version", (pi) => {
	test("costs that a provider reports are passed on as such", async () => {
		const usage = { input: 10, output: 5, cost: 0.25 };
		await using it = await scene([
			parentSays(callTool("subagent", { preset: "repo-scout", task: "Look.", model: "openrouter/oak" }), say("Done.")),
			scoutSays(say("Found it.", { usage })),
		]);
		const provider = JSON.stringify(homegrown(it.server.baseUrl));
		const file = join(it.env.root, "router.ts");
		await writeFile(file, `export default (pi) => pi.registerProvider("openrouter", ${provider});\n`);
		const { events } = await runJson({ env: it.env, pi, extensions: [file] }, "Please delegate.");
		const costs = events.flatMap((event) =>
			event.type === "message_end" && event.message.role === "toolResult" ? [event.message.usage?.cost] : [],
		);
		expect(costs).toMatchObject([{ total: 0.25, totalFromProvider: true }]);
	});
});

/** What pi has told the terminal about itself. */
function statuses(raw: string): string[] {
	return [...raw.matchAll(/\x1b\]7501;([^\x1b\x07]*)/g)].map(([, pairs = ""]) =>
		pairs.replace(/msg=([\w+/=]+)/, (_, text) => Buffer.from(text, "base64").toString()),
	);
}
