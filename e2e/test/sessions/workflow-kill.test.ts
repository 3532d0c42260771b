/** A workflow whose pi is killed: opened again, the session continues it, asks no finished agent twice, and tells the result once. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
	callTool,
	createGate,
	isFullRun,
	type PiEnv,
	say,
	startRpc,
	systemPromptSays,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parentSays, scene, scoutSays } from "../../support/scene.ts";
import { command, type JournalLine, journal, offering, script } from "../../support/workflows.ts";

const scout = '{ agentType: "repo-scout" }';
const CALLS = isFullRun ? 30 : 6;
/** The seed decides how many run at once, and so in which order entries are written. */
const bodyFor = (seed: number) => `
	const names = Array.from({ length: ${CALLS / 2} }, (_, i) => "n" + i)
	phase("Look")
	const seen = await map(names, (name) => agent("Look at " + name + ".", ${scout}), { concurrency: ${1 + (seed % 3)} })
	phase("Check")
	return (await map(seen, (text, index) => agent("Check " + names[index] + ".", ${scout}), { concurrency: ${1 + (seed % 5)} })).join(" ")`;
const RESULT = Array.from({ length: CALLS / 2 }, (_, i) => `did Check n${i}.`).join(" ");

const rules = (seed: number) => [
	parentSays(callTool("workflow", { script: script(bodyFor(seed)) }), say("Started.")),
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
async function killedAfter(lines: number, autoResume: boolean, seed = lines) {
	const it = await scene(rules(seed), { agentFiles: offering({ workflows: { autoResume } }) });
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
	// Started, two phases, and three for each call; one more ends it.
	const cuts = isFullRun ? Array.from({ length: 3 * CALLS + 3 }, (_, index) => index + 1) : [5];
	test.each(cuts)(
		"after %i entries, which are also the seed: the workflow completes, no finished agent runs twice, the result comes once",
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

	test("an agent in a process of its own works on meanwhile, and the workflow rejoins it", async () => {
		const gate = createGate();
		const body = `return [await agent("First.", ${scout}), await agent("Long work.", { agentType: "apart" })].join(" ")`;
		const apart =
			"---\nname: apart\ndescription: Works apart\nmodel: fake/fake-1\nrunner: process\n---\nYou work apart.\n";
		const isApart = systemPromptSays("You work apart.");
		const it = await scene(
			[
				parentSays(callTool("workflow", { script: script(body) }), say("Started.")),
				scoutSays(say("did First")),
				when(isApart, { ...say("did the long work"), gate }),
			],
			{ agentFiles: { ...offering({ workflows: { autoResume: true } }), "subagents/apart.md": apart } },
		);
		await using _scene = it;
		const rpc = startRpc({ env: it.env });
		void rpc.send({ type: "prompt", message: "Please delegate." }).catch(() => undefined); // it is killed meanwhile
		await it.server.nextRequest(isApart);
		await expect.poll(async () => (await journal(it.env)).filter(({ type }) => type === "launched").length).toBe(2);
		process.kill(-(rpc.pid ?? 0), "SIGKILL");
		await rpc.close();
		gate.open();
		await using _again = startRpc({ env: it.env, args: ["--continue"] });
		const RESULTS = "did First did the long work";
		await expect.poll(async () => (await told(it.env)).join("").includes(RESULTS), { timeout: 60_000 }).toBe(true);
		expect(it.server.requests.filter(isApart)).toHaveLength(1);
		expect((await told(it.env)).filter((line) => line.includes(RESULTS))).toHaveLength(1);
	});

	if (isFullRun)
		test("a changed script replays what matches and says where it diverged", async () => {
			const { it, again, before } = await killedAfter(3 * CALLS - 2, false, 0);
			await using _scene = it;
			await using rpc = again;
			await rpc.waitFor((event) => JSON.stringify(event).includes("is paused: /workflow resume"));
			const changed = join(it.env.agentDir, "workflows", "changed.js");
			await mkdir(dirname(changed), { recursive: true });
			await writeFile(changed, script(bodyFor(0).replace('"Check " +', '"Recheck " +')));
			const looks = () => it.server.requests.filter(({ lastUserText }) => lastUserText.startsWith("Look at")).length;
			const looked = looks();
			const [first] = before as (JournalLine & { id?: string })[];
			const diverged = rpc.waitFor((event) => JSON.stringify(event).includes("the script has changed"));
			await rpc.send({ type: "prompt", message: `/workflow resume ${first?.id} ${changed}` });
			await diverged;
			await expect.poll(async () => (await journal(it.env)).at(-1)?.type, { timeout: 30_000 }).toBe("ended");
			expect(looks()).toBe(looked);
			const lines = await journal(it.env);
			expect(lines.filter(({ type, label }) => type === "called" && label?.startsWith("Recheck"))).toHaveLength(
				CALLS / 2,
			);
		});
});
