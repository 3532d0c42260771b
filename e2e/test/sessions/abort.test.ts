/** The user stops a turn in every phase of what it launched, in real pi: all of it ends, and nothing goes on unseen. */
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import {
	callTool,
	createGate,
	gatePis,
	hang,
	httpError,
	type PiEvent,
	type PiRpc,
	rateLimited,
	say,
	startRpc,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { textOf } from "../../support/detached.ts";
import { delegate, parentSays, type Scene, scene, scoutSays } from "../../support/scene.ts";
import { isScout } from "../../support/visits.ts";

/** Since the call of the tool: while the child is set up, asks, waits. */
const MOMENTS_MS = [0, 3, 10, 25, 60, 150, 400, 1_200];

const ONE_AT_A_TIME = { "subagents.json": JSON.stringify({ maxConcurrent: 1 }) };

const isCall = (event: PiEvent) => event.type === "tool_execution_start";
const isOver = (event: PiEvent) => event.type === "agent_settled";

/** Sends the prompt, stops the turn when `reached`, and waits until it is over. */
async function stopped(rpc: PiRpc, reached: (from: number) => Promise<unknown>): Promise<void> {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message: "Please delegate." });
	await reached(from);
	await rpc.send({ type: "abort" });
	await rpc.waitFor(isOver, { from });
}

async function listed(rpc: PiRpc): Promise<string> {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message: "/subagent list" });
	const event = await rpc.waitFor((each) => each.type === "extension_ui_request" && each.method === "notify", { from });
	return event.type === "extension_ui_request" && event.method === "notify" ? event.message : "";
}

/** Every request of a scout has ended, and none comes any more. */
async function isQuiet({ server }: Scene): Promise<void> {
	const scouts = () => server.requests.filter(isScout);
	await until("the scouts' requests have ended", async () =>
		scouts().every(({ aborted, answered }) => aborted || answered) ? true : undefined,
	);
	const count = scouts().length;
	await delay(300); // real time: a child that lived on would ask again by now
	expect(scouts()).toHaveLength(count);
}

/** A repository, and a git that makes no checkout in it before it is killed. */
async function stallingGit({ env }: Scene) {
	const bin = join(env.root, "bin");
	const reached = join(env.root, "git-waits");
	const run = async (...args: string[]) =>
		(
			await promisify(execFile)("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
				cwd: env.cwd,
			})
		).stdout.trim();
	await run("init", "--quiet", "--initial-branch=main");
	await run("add", ".");
	await run("commit", "--quiet", "-m", "first");
	await mkdir(bin);
	const script = `#!/bin/sh
case " $* " in *" worktree add "*) echo now > "${reached}"; exec sleep 600;; esac
PATH="\${PATH#*:}" exec git "$@"
`;
	await writeFile(join(bin, "git"), script);
	await chmod(join(bin, "git"), 0o755);
	return { reached, run, variables: { ...env.variables, PATH: `${bin}:${env.variables.PATH}` } };
}

describe.each(await gatePis())("pi $version", (pi) => {
	const open = (it: Scene) => startRpc({ env: it.env, pi });

	test("at any moment after the call: the child asks nothing more, and its slot is free", async () => {
		await using it = await scene([parentSays(delegate()), scoutSays(hang())], {
			agentFiles: ONE_AT_A_TIME,
		});
		await using rpc = open(it);
		for (const ms of MOMENTS_MS)
			await stopped(rpc, async (from) => {
				await rpc.waitFor(isCall, { from });
				await delay(ms); // real time: the moment of the stop
			});
		await isQuiet(it);
		const ends = rpc.events.filter((event) => event.type === "tool_execution_end" && event.isError);
		expect(ends).toHaveLength(MOMENTS_MS.length);
		expect(await listed(rpc)).toMatch(/^(\d) agents: \1 stopped\n/); // the first stops may come before the launch
	});

	test("in the queue: the child never asks, and the one before it continues", async () => {
		const gate = createGate();
		const busy = callTool("Agent", { prompt: "Be busy.", description: "busy", subagent_type: "repo-scout" });
		await using it = await scene(
			[
				when(({ lastUserText }) => lastUserText.includes("task-notification"), say("Noted.")),
				parentSays(busy, delegate()),
				scoutSays({ ...say("Done with it."), gate }),
			],
			{ agentFiles: ONE_AT_A_TIME },
		);
		await using rpc = open(it);
		await stopped(rpc, async () => {
			await it.server.nextRequest(isScout);
			await until("the second is queued", async () => ((await listed(rpc)).includes("1 queued") ? true : undefined));
		});
		expect(await listed(rpc)).toMatch(/^2 agents: 1 running, 1 stopped\n/);
		gate.open();
		await until("the first is done", async () => ((await listed(rpc)).includes("1 done") ? true : undefined));
		expect(it.server.requests.filter(isScout)).toHaveLength(1);
	});

	test("while it waits for a result: the wait ends at once, and the agent continues", async () => {
		const gate = createGate();
		const launch = { prompt: "Dig.", description: "dig", subagent_type: "repo-scout", name: "digger" };
		await using it = await scene([
			when(({ lastUserText }) => lastUserText.includes("task-notification"), say("Noted.")),
			parentSays(callTool("Agent", launch), callTool("get_subagent_result", { agent_id: "digger", wait: true })),
			scoutSays({ ...say("Found gold."), gate }),
		]);
		await using rpc = open(it);
		await stopped(rpc, (from) =>
			rpc.waitFor((event) => isCall(event) && JSON.stringify(event).includes("get_subagent_result"), { from }),
		);
		expect(await listed(rpc)).toMatch(/^1 agent: 1 running\n/);
		gate.open();
		await until("it is done", async () => ((await listed(rpc)).includes("1 done") ? true : undefined));
	});

	test.each([
		["pi waits to make a failed request again", httpError(503, "overloaded")],
		["its provider wants a pause", rateLimited({ retryAfterSeconds: 600 })],
	])("while %s: nothing is asked again", async (_when, trouble) => {
		await using it = await scene([parentSays(delegate()), scoutSays(trouble)], {
			settings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000 } },
		});
		await using rpc = open(it);
		await stopped(rpc, (from) =>
			rpc.waitFor((event) => event.type === "tool_execution_update" && /retr|again|wait/i.test(JSON.stringify(event)), {
				from,
			}),
		);
		await isQuiet(it);
		expect(it.server.requests.filter(isScout)).toHaveLength(1);
		expect(await listed(rpc)).toMatch(/^1 agent: 1 stopped\n/);
	});

	test.runIf(process.platform !== "win32")("while its worktree is created: nothing of it is left", async () => {
		const isolated = { prompt: "Dig.", description: "dig", subagent_type: "repo-scout", run_in_background: false };
		await using it = await scene([parentSays(callTool("Agent", { ...isolated, isolation: "worktree" }))]);
		const git = await stallingGit(it);
		await using rpc = startRpc({ env: { ...it.env, variables: git.variables }, pi });
		await stopped(rpc, () => until("git makes the worktree", () => textOf(git.reached)));
		expect(await listed(rpc)).toMatch(/^1 agent: 1 stopped\n/);
		await rpc.close();
		expect(it.server.requests.filter(isScout)).toEqual([]);
		expect(await git.run("for-each-ref", "--format=%(refname)", "refs/heads")).toBe("refs/heads/main");
		expect(await git.run("worktree", "list")).not.toContain("worktrees");
		const dir = join(it.env.agentDir, "state", "subagents", "worktrees");
		expect((await readdir(dir)).filter((name) => !name.startsWith("."))).toEqual([]);
	});
});
