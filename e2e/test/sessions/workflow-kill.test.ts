/** A workflow whose pi is killed: opened again, the session continues it, asks no finished agent twice, and tells the result once. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
	callTool,
	createGate,
	isFullRun,
	patienceMs,
	say,
	startRpc,
	systemPromptSays,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { inLanes } from "../../support/rounds.ts";
import { parentSays, scene, scoutSays } from "../../support/scene.ts";
import {
	command,
	fuseVariables,
	type JournalLine,
	journal,
	offering,
	runs,
	script,
	told,
} from "../../support/workflows.ts";

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

const apart = "---\nname: apart\ndescription: Works apart\nmodel: fake/fake-1\nrunner: process\n---\nYou work apart.\n";
const isApart = systemPromptSays("You work apart.");

/** A pi that kills itself after so many entries of its journal; then the session is opened again. */
async function killedAfter(entries: number, { autoResume, seed }: { autoResume: boolean; seed: number }) {
	const it = await scene(rules(seed), { agentFiles: offering({ workflows: { autoResume } }) });
	const fuse = join(it.env.root, "fuse");
	await writeFile(fuse, String(entries));
	const variables = { ...it.env.variables, ...fuseVariables(fuse) };
	const rpc = startRpc({ env: { ...it.env, variables } });
	const prompt = rpc.send({ type: "prompt", message: "Please delegate." }).catch(() => undefined); // it may be killed first
	await rpc.waitFor(() => false).catch(() => undefined); // until pi is gone
	await prompt;
	expect(await rpc.close()).toMatchObject({ signal: "SIGKILL" });
	const before = await journal(it.env);
	expect(before).toHaveLength(entries);
	return { it, before, again: startRpc({ env: it.env, args: ["--continue"] }) };
}

const count = (list: readonly unknown[], wanted: unknown) => list.filter((each) => each === wanted).length;

/** Undefined if all is well. */
async function wrongAfter(entries: number): Promise<string | undefined> {
	const { it, again, before } = await killedAfter(entries, { autoResume: true, seed: entries });
	await using _scene = it;
	await using _rpc = again;
	const results = async () => (await told(it.env, RESULT)).length;
	const isDone = async () => (await results()) > 0 && (await journal(it.env)).at(-1)?.type === "ended";
	await expect.poll(isDone, { message: `killed after ${entries} entries` }).toBe(true);
	await again.close();
	const labels = new Map(before.flatMap((line) => (line.type === "called" ? [[line.path, line.label]] : [])));
	const answered = before.flatMap((line) => (line.type === "answered" ? [labels.get(line.path)] : []));
	const asked = it.server.requests.map(({ lastUserText }) => lastUserText);
	const twice = answered.filter((label) => count(asked, label) !== 1);
	const shown = await results();
	if (shown === 1 && twice.length === 0) return undefined;
	return `after ${entries} entries: ${shown} results, asked again: ${twice.join(" ")}`;
}

describe("a killed pi", { timeout: patienceMs(30) }, () => {
	test("after each of its entries: the workflow completes, no finished agent runs twice, the result comes once", async () => {
		// Started, two phases, three for each call, and the end.
		const last = 3 * CALLS + 4;
		const cuts = isFullRun ? Array.from({ length: last }, (_, index) => index + 1) : [5, last];
		const wrong: string[] = [];
		await inLanes(3, cuts, async (entries) => {
			const found = await wrongAfter(entries).catch((error: Error) => `after ${entries} entries: ${error.message}`);
			if (found !== undefined) wrong.push(found);
		});
		expect(wrong).toEqual([]);
	});

	test("without autoResume it is paused, reports that, and continues when asked to", async () => {
		const { it, again } = await killedAfter(6, { autoResume: false, seed: 6 });
		await using _scene = it;
		await using rpc = again;
		await rpc.waitFor((event) => JSON.stringify(event).includes("is paused: /workflow resume"));
		await expect.poll(async () => (await told(it.env, "It is paused")).length).toBe(1);
		expect(await command(rpc, "/workflow")).toMatch(/trial +paused/);
		expect(await command(rpc, "/workflow resume")).toContain("continues");
		await expect.poll(async () => (await told(it.env, RESULT)).length).toBe(1);
	});

	test("an agent in its own process keeps working meanwhile, and the workflow rejoins it", async () => {
		const gate = createGate();
		const body = `return [await agent("First.", ${scout}), await agent("Long work.", { agentType: "apart" })].join(" ")`;
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
		await expect.poll(async () => (await told(it.env, RESULTS)).length).toBe(1);
		expect(it.server.requests.filter(isApart)).toHaveLength(1);
	});

	test("a /reload does the same to a workflow that a call waits for, and the bus says how its agent ended", async () => {
		const gate = createGate();
		const listener = `import { appendFileSync } from "node:fs";
export default (pi) => {
	pi.registerCommand("again", { handler: (_args, ctx) => ctx.reload() });
	for (const what of ["started", "completed", "failed"])
		pi.events.on("subagents:" + what, ({ type }) => appendFileSync(process.env.HOME + "/bus", type + " " + what + "\\n"));
};`;
		await using it = await scene(
			[
				parentSays(runs('return await agent("Long work.", { agentType: "apart" })'), say("So be it.")),
				when(isApart, { ...say("did the long work"), gate }),
			],
			{
				files: { "listener.ts": listener },
				agentFiles: { ...offering({ workflows: { autoResume: true } }), "subagents/apart.md": apart },
			},
		);
		await using rpc = startRpc({ env: it.env, extensions: ["listener.ts"] });
		await rpc.send({ type: "prompt", message: "Please delegate." });
		await it.server.nextRequest(isApart);
		await rpc.send({ type: "prompt", message: "/again" });
		const launches = async () => (await journal(it.env)).filter(({ type }) => type === "launched").length;
		await expect.poll(launches, { message: "it was not rejoined" }).toBe(2);
		gate.open();
		await expect.poll(async () => (await told(it.env, "did the long work")).length).toBe(1);
		expect(it.server.requests.filter(isApart)).toHaveLength(1);
		const news = (await readFile(join(it.env.home, "bus"), "utf8")).trim().split("\n");
		const ofAgent = news.filter((line) => line.startsWith("apart"));
		expect(ofAgent).toEqual(["apart started", "apart completed"]);
	});

	if (isFullRun)
		test("a changed script replays what matches and says where it diverged", async () => {
			const { it, again, before } = await killedAfter(3 * CALLS - 2, { autoResume: false, seed: 0 });
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
			await expect.poll(async () => (await journal(it.env)).at(-1)?.type).toBe("ended");
			expect(looks()).toBe(looked);
			const lines = await journal(it.env);
			expect(lines.filter(({ type, label }) => type === "called" && label?.startsWith("Recheck"))).toHaveLength(
				CALLS / 2,
			);
		});
});
