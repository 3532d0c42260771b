/** A workflow whose pi is killed: opened again, the session continues it, asks no finished agent twice, and tells the result once. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { callTool, isFullRun, type PiEnv, say, startRpc } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parentSays, scene, scoutSays } from "../../support/scene.ts";
import { command, journal, offering, script } from "../../support/workflows.ts";

const scout = '{ agentType: "repo-scout" }';
const CALLS = isFullRun ? 30 : 6;
const body = `
	const names = Array.from({ length: ${CALLS / 2} }, (_, i) => "n" + i)
	phase("Look")
	const seen = await map(names, (name) => agent("Look at " + name + ".", ${scout}), { concurrency: 2 })
	phase("Check")
	return (await map(seen, (text, index) => agent("Check " + names[index] + ".", ${scout}), { concurrency: 3 })).join(" ")`;
const RESULT = Array.from({ length: CALLS / 2 }, (_, i) => `did Check n${i}.`).join(" ");

const rules = () => [
	parentSays(callTool("workflow", { script: script(body) }), say("Started.")),
	scoutSays(({ lastUserText }) => say(`did ${/(Look at|Check) n\d+\./.exec(lastUserText)?.[0]}`)),
];

/** The texts of all messages that brought results, in every file of the session. */
async function told({ agentDir, cwd }: PiEnv): Promise<string[]> {
	const dirs = await readdir(join(agentDir, "sessions"));
	const dir = join(agentDir, "sessions", dirs.find((name) => name.includes(cwd.split("/").at(-1) ?? "")) ?? "");
	const files = (await readdir(dir)).filter((name) => name.endsWith(".jsonl"));
	const lines = await Promise.all(files.map((name) => readFile(join(dir, name), "utf8")));
	return lines
		.join("")
		.split("\n")
		.filter((line) => line.includes('"subagent-notification"') && line.includes('"custom_message"'));
}

/** Kills pi when its journal has so many lines, opens the session again, and returns when the workflow has ended. */
async function killedAfter(lines: number, autoResume: boolean) {
	const it = await scene(rules(), { agentFiles: offering({ workflows: { autoResume } }) });
	const rpc = startRpc({ env: it.env });
	void rpc.send({ type: "prompt", message: "Please delegate." }).catch(() => undefined); // it may be killed first
	await expect
		.poll(async () => (await journal(it.env)).length, { interval: 1, timeout: 30_000 })
		.toBeGreaterThanOrEqual(lines);
	process.kill(-(rpc.pid ?? 0), "SIGKILL");
	await rpc.close();
	const before = await journal(it.env);
	const again = startRpc({ env: it.env, args: ["--continue"] });
	return { it, again, before };
}

describe("a killed pi", { timeout: 600_000 }, () => {
	const cuts = isFullRun ? Array.from({ length: 3 * CALLS }, (_, index) => index + 2) : [5];
	test.each(cuts)(
		"after %i entries: the workflow completes, no finished agent runs twice, the result comes once",
		async (lines) => {
			const { it, again, before } = await killedAfter(lines, true);
			await using _scene = it;
			await using _rpc = again;
			await expect.poll(async () => (await told(it.env)).join("").includes(RESULT), { timeout: 30_000 }).toBe(true);
			expect((await told(it.env)).filter((line) => line.includes(RESULT))).toHaveLength(1);
			const labels = new Map(before.flatMap((line) => (line.type === "called" ? [[line.path, line.label]] : [])));
			const answered = before.flatMap((line) => (line.type === "answered" ? [labels.get(line.path)] : []));
			const asked = it.server.requests.map(({ lastUserText }) => lastUserText);
			for (const label of answered)
				expect(
					asked.filter((text) => text === label),
					label,
				).toHaveLength(1);
		},
	);

	test("without autoResume it is paused, says so, and continues when asked to", async () => {
		const { it, again } = await killedAfter(6, false);
		await using _scene = it;
		await using rpc = again;
		await rpc.waitFor((event) => JSON.stringify(event).includes("is paused: /workflow resume"));
		await expect
			.poll(async () => (await told(it.env)).join("").includes("It is paused"), { timeout: 30_000 })
			.toBe(true);
		expect(await command(rpc, "/workflow")).toMatch(/trial +paused/);
		expect(await command(rpc, "/workflow resume")).toContain("continues");
		await expect.poll(async () => (await told(it.env)).join("").includes(RESULT), { timeout: 30_000 }).toBe(true);
	});
});
