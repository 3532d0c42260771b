/** Notifications outside pi, in real pi: what the terminal gets, and what a command of the user gets. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { callTool, createGate, gatePis, runPrint, say, startTui } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { delegate, parentSays, type Scene, scene, scoutSays } from "../../support/scene.ts";

const RECORDER =
	'import { appendFileSync } from "node:fs";\nlet text = "";\nfor await (const piece of process.stdin) text += piece;\nappendFileSync(process.argv[2], text);\n';

/** Each line that the command has got. */
const recorded = async (it: Scene): Promise<{ event: string; text: string }[]> => {
	const text = await readFile(join(it.env.agentDir, "heard.jsonl"), "utf8").catch(() => "");
	return text
		.trim()
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line));
};

async function notified(it: Scene, more: object): Promise<void> {
	const script = join(it.env.agentDir, "record.mjs");
	await writeFile(script, RECORDER);
	const command = [process.execPath, script, join(it.env.agentDir, "heard.jsonl")];
	const notifications = { on: ["question", "failed", "done"], minSeconds: 0, command, ...more };
	await writeFile(join(it.env.agentDir, "subagents.json"), JSON.stringify({ notifications }));
}

describe.each(await gatePis())("pi $version", (pi) => {
	test("the terminal shows a notification when an agent is done, and pi's screen stays whole", async () => {
		await using it = await scene([parentSays(delegate(), say("There it is.")), scoutSays(say("It is heliotrope."))]);
		await notified(it, { via: "osc" });
		await using tui = await startTui({ env: it.env, pi }, { rows: 30 });
		tui.submit("Please delegate.");
		await tui.waitForText("There it is.");
		expect(tui.raw.split("\x1b]777;notify;pi;")).toHaveLength(2);
		expect(tui.raw).toMatch(/\x1b\]777;notify;pi;✓ repo-scout: Done in [\d.]+s \(Find the launch code\.\)\x07/);
		expect(tui.screen().join("\n")).not.toContain("777");
		expect(await recorded(it)).toEqual([]);
	});

	test("a run that ends after pi has quit starts the command, once", async () => {
		const gate = createGate();
		const start = callTool("background_agent", { preset: "repo-scout", task: "Find the launch code." });
		await using it = await scene([
			parentSays(start, say("It is on its way.")),
			scoutSays({ ...say("It is heliotrope."), gate }),
		]);
		await notified(it, { via: "osc" });
		await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(await recorded(it)).toEqual([]);
		gate.open();
		await expect.poll(() => recorded(it)).toHaveLength(1);
		expect(await recorded(it)).toEqual([
			expect.objectContaining({
				event: "done",
				preset: "repo-scout",
				text: expect.stringMatching(/^✓ repo-scout: Done in/),
			}),
		]);
	});
});

test("a project that nobody trusts names no command", async () => {
	await using it = await scene([parentSays(delegate(), say("There it is.")), scoutSays(say("It is heliotrope."))]);
	await notified(it, { on: [], command: [] });
	const heard = join(it.env.agentDir, "heard.jsonl");
	const command = [process.execPath, join(it.env.agentDir, "record.mjs"), heard];
	const notifications = { on: ["done"], minSeconds: 0, via: "command", command };
	await writeFile(join(it.env.cwd, ".pi/subagents.json"), JSON.stringify({ notifications }));
	await using tui = await startTui({ env: it.env }, { rows: 30 });
	tui.submit("Please delegate.");
	await tui.waitForText("There it is.");
	expect(await recorded(it)).toEqual([]);
});
