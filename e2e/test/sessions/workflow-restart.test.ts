/** A workflow over the end of its pi and over /reload: what its agents had begun is continued, in its worktree too. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
	all,
	callTool,
	converse,
	hang,
	isFullRun,
	lastUserSays,
	type PiEnv,
	type PiRpc,
	type RequestView,
	say,
	startRpc,
	systemPromptSays,
	until,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { watcher } from "../../support/extensions/watcher.ts";
import { parentSays, type Scene, scene, scoutSays } from "../../support/scene.ts";
import { command, journal, offering, script, told } from "../../support/workflows.ts";

const isInterrupted = lastUserSays("was interrupted");
const RESULT = "did First and did Second";

/** The second agent reads a file and is then never answered; interrupted, it answers. */
function twoAgents(settings: object = {}): Promise<Scene> {
	const scout = '{ agentType: "repo-scout" }';
	const body = `return [await agent("First", ${scout}), await agent("Second", ${scout})].join(" and ")`;
	return scene(
		[
			parentSays(callTool("workflow", { script: script(body, "two") }), say("Started.")),
			scoutSays((request) => {
				if (isInterrupted(request)) return say("did Second");
				return request.lastUserText === "First" ? say("did First") : callTool("read", { path: "notes.txt" });
			}, hang()),
		],
		{ agentFiles: offering(settings), files: { "watcher.ts": watcher } },
	);
}

const isHalfDone = ({ lastUserText, turn }: RequestView) => lastUserText === "Second" && turn === 2;
const firsts = ({ server }: Scene) => server.requests.filter(({ lastUserText }) => lastUserText === "First");

/** The last line of a journal whose workflow has ended. */
const endIn = (env: PiEnv) =>
	until("the workflow has ended", async () => {
		const last = (await journal(env)).at(-1);
		return last?.type === "ended" ? last : undefined;
	});

/** Only what is on the disk can be continued: else the agent would run again. */
const firstStep = ({ agentDir }: PiEnv) =>
	until("the agent's first step is on the disk", async () => {
		const dir = join(agentDir, "state", "subagents", "sessions");
		const names = (await readdir(dir, { recursive: true }).catch(() => [])).filter((name) => name.endsWith(".jsonl"));
		const texts = await Promise.all(names.map((name) => readFile(join(dir, name), "utf8")));
		return texts.some((text) => text.includes('"toolResult"')) || undefined;
	});

async function kill(rpc: PiRpc): Promise<void> {
	process.kill(-(rpc.pid ?? 0), "SIGKILL");
	await rpc.close();
}

describe("in pi", () => {
	test("an agent with a worktree continues there after a kill", async () => {
		const isMender = systemPromptSays("You are the mender.");
		const mends = `return agent("Mend it.", { agentType: "mender", isolation: "worktree" })`;
		const writes = (path: string) => callTool("write", { path, content: "half of it\n" });
		await using it = await scene(
			[
				parentSays(callTool("workflow", { script: script(mends) }), say("Started.")),
				converse(all(isMender, isInterrupted), writes("second.txt"), say("Mended.")),
				converse(isMender, writes("first.txt"), hang()),
			],
			{
				files: {
					".pi/subagents/mender.md":
						"---\nname: mender\ndescription: mends things\nmodel: fake/fake-1\ntools: read,write\n---\nYou are the mender.\n",
				},
				agentFiles: offering({ workflows: { autoResume: true } }),
			},
		);
		const git = async (...args: string[]) => {
			const as = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
			return (await promisify(execFile)("git", [...as, ...args], { cwd: it.env.cwd })).stdout.trim();
		};
		await git("init", "--quiet", "--initial-branch=main");
		await git("add", ".");
		await git("commit", "--quiet", "-m", "first");
		const rpc = startRpc({ env: it.env });
		await rpc.prompt("Please delegate.");
		await it.server.nextRequest((request) => isMender(request) && request.turn === 2);
		await firstStep(it.env);
		await kill(rpc);
		await using _again = startRpc({ env: it.env, args: ["--continue"] });
		expect(await endIn(it.env)).toMatchObject({ status: "completed", value: expect.stringContaining("Mended.") });
		const branches = (await git("branch", "--list", "pi-subagents/*", "--format=%(refname:short)")).split("\n");
		expect(branches).toHaveLength(1);
		expect(await git("ls-tree", "--name-only", branches[0] ?? "")).toMatch(/first\.txt[\s\S]*second\.txt/);
		expect(await git("status", "--porcelain", "--", "*.txt")).toBe("");
	});

	test("/reload pauses it and says so; resumed, it asks no finished agent again and tells its result once", async () => {
		await using it = await twoAgents();
		await using rpc = startRpc({ env: it.env, extensions: ["watcher.ts"] });
		await rpc.prompt("Please delegate.");
		await it.server.nextRequest(isHalfDone);
		await firstStep(it.env);
		await rpc.send({ type: "prompt", message: "/again" }); // reloads
		await rpc.waitFor((event) => /Workflow .*two.* is paused: \/workflow resume/.test(JSON.stringify(event)));
		await expect.poll(async () => (await told(it.env, "continues it")).length).toBe(1);
		expect(await command(rpc, "/workflow resume")).toContain("continues");
		expect(await endIn(it.env)).toMatchObject({ value: RESULT });
		await expect.poll(async () => (await told(it.env, RESULT)).length).toBe(1);
		expect(firsts(it)).toHaveLength(1);
	});

	// It takes as long as a pi needs to notice that another is gone; for agents, the gate tries that in two-pis.
	if (isFullRun)
		test("a pi that has the session open, too, continues it when the first is killed, and tells only of the result", async () => {
			await using it = await twoAgents({ workflows: { autoResume: true } });
			const first = startRpc({ env: it.env });
			await first.prompt("Please delegate.");
			await it.server.nextRequest(isHalfDone);
			await firstStep(it.env);
			await using second = startRpc({ env: it.env, args: ["--continue"] });
			await second.waitFor((event) => /also open in another pi/.test(JSON.stringify(event)));
			await kill(first);
			expect(await endIn(it.env)).toMatchObject({ value: RESULT });
			await expect.poll(async () => (await told(it.env, RESULT)).length).toBe(1);
			expect(await told(it.env, "Interrupted after")).toEqual([]);
			expect(firsts(it)).toHaveLength(1);
		});

	if (isFullRun)
		test("two pis with the same session: one of them continues it, and the result is told once", async () => {
			await using it = await twoAgents({ workflows: { autoResume: true } });
			const rpc = startRpc({ env: it.env });
			await rpc.prompt("Please delegate.");
			await it.server.nextRequest(isHalfDone);
			await firstStep(it.env);
			await kill(rpc);
			const both = [1, 2].map(() => startRpc({ env: it.env, args: ["--continue"] }));
			await endIn(it.env);
			await expect.poll(async () => (await told(it.env, RESULT)).length).toBe(1);
			await Promise.all(both.map((each) => each.send({ type: "get_state" })));
			await Promise.all(both.map((each) => each.close()));
			expect((await journal(it.env)).filter(({ type }) => type === "ended")).toHaveLength(1);
			expect(await told(it.env, RESULT)).toHaveLength(1);
			expect(await told(it.env, "Interrupted after")).toEqual([]);
			expect(firsts(it)).toHaveLength(1);
		});
});
