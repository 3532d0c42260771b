/** pi killed with -9 at each step of an agent's work in a worktree: nothing is lost, and nothing is left running. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
	callTool,
	hang,
	isFullRun,
	otherwise,
	type RequestView,
	requireTool,
	say,
	startRpc,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { textOf, toldIn, wrapperOf } from "../../support/detached.ts";
import { sessionIn } from "../../support/digs.ts";
import { trust } from "../../support/hostile/hostile-repository.ts";
import { asMender, launch, repository, worktreesOf } from "../../support/mender.ts";
import { parentSays, type Scene } from "../../support/scene.ts";

/** Says that it is reached, and waits for its end. The words are found among all processes. */
const waits = (token: string) => `touch "$HOME/reached"; exec sleep ${token}`;

const STEPS = {
	setup: (token: string) => `worktree: { setup: 'echo half > half.txt; ${waits(token)}' }`,
	verify: (token: string) => `verify: '${waits(token)}'`,
	repair: () => "verify: 'false'",
	launched: () => "launcher: jail",
};

/**
 * It changes a file and answers. Asked to repair, or inside the launcher, it runs a command that does not end. In an
 * agent inside pi that command would be pi's own, which outlives a killed pi; there its model is silent instead.
 */
const mends = (step: keyof typeof STEPS, runner: string, token: string) =>
	when(asMender, ({ lastUserText, lastToolResults }: RequestView) => {
		const isRepair = lastUserText.includes("does not pass its check");
		const stuck = callTool("bash", { command: runner === "session" ? 'touch "$HOME/reached"' : waits(token) });
		if (lastToolResults.length === 0)
			return isRepair ? stuck : callTool("write", { path: "work.txt", content: "work\n" });
		if (isRepair) return hang();
		return step === "launched" ? stuck : say("Mended.");
	});

/** Sees everything, so that only the end of its processes is tested here. */
const JAIL = ["bwrap", "--die-with-parent", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc"];

type Case = [step: keyof typeof STEPS, runner: "session" | "process", also: "pi" | "pi and the wrapper"];
const ALL: Case[] = [
	["verify", "session", "pi"],
	["setup", "session", "pi"],
	["repair", "session", "pi"],
	["setup", "process", "pi"],
	["verify", "process", "pi"],
	["repair", "process", "pi"],
	["verify", "process", "pi and the wrapper"],
	["repair", "process", "pi and the wrapper"],
	...(requireTool("bwrap")
		? ([
				["launched", "process", "pi"],
				["launched", "process", "pi and the wrapper"],
			] as Case[])
		: []),
];

test.each(isFullRun ? ALL : ALL.slice(0, 1))("during %s, runner: %s, killed: %s", async (step, runner, killed) => {
	const token = `1000.${Math.floor(Math.random() * 1e9)}1`;
	const { it, git } = await repository(
		`isolation: worktree\nrunner: ${runner}\n${STEPS[step](token)}`,
		[
			parentSays(launch({ run_in_background: true }), say("Started.")),
			mends(step, runner, token),
			otherwise(say("I see.")),
		],
		{ agentFiles: { "subagents.json": JSON.stringify({ launchers: { jail: { command: JAIL } } }) } },
	);
	await using _ = it;
	await trust(it.env);
	const sessions = join(it.env.home, "sessions");
	const rpc = startRpc({ env: it.env, args: ["--session-dir", sessions] });
	await rpc.send({ type: "prompt", message: "Please delegate." });
	await until("the step is reached", async () => textOf(join(it.env.home, "reached")));
	const pids = [rpc.pid ?? 0, ...(killed === "pi" ? [] : [await wrapperIn(it)])];
	for (const pid of pids) process.kill(pid, "SIGKILL");
	await rpc.close();
	await until("nothing of it runs", async () => !(await isRunning(token)) || undefined);
	const file = (await sessionIn(sessions)) ?? "";
	await using next = startRpc({ env: it.env, args: ["--session", file] });
	const told = await until("the session hears of it", async () => (await toldIn(file))[0]);
	expect(told).toMatchObject({ status: "aborted" });
	expect(told.summary).not.toMatch(/(?<!not )verified/i);
	await next.send({ type: "prompt", message: "/subagent doctor" }); // which lists the worktrees
	const id = told.runId;
	if (step === "setup") {
		await until("no worktree is left", async () => (await worktreesOf(it)).length === 0 || undefined);
		expect(await git("branch", "--format=%(refname:short)")).toBe("main");
		return;
	}
	const [left] = await worktreesOf(it);
	const root = join(it.env.agentDir, "state", "subagents", "worktrees", id, "work.txt");
	if (left !== undefined) expect(await readFile(root, "utf8")).toBe("work\n");
	else expect(await git("show", `pi-subagents/${id}:work.txt`)).toBe("work");
	expect(await git("status", "--porcelain")).toBe("");
});

/** The wrapper of the only run there is. */
async function wrapperIn({ env }: Scene): Promise<number> {
	const runs = join(env.cwd, ".pi", "subagents", "runs");
	const [run = ""] = (await readdir(runs)).filter((name) => !name.startsWith("."));
	return (await wrapperOf({ artifacts: join(runs, run) })) ?? 0;
}

/** Whether a process was started with this word, also in a namespace of its own. */
async function isRunning(token: string): Promise<boolean> {
	const { stdout } = await promisify(execFile)("ps", ["-eo", "args="]);
	return stdout.split("\n").some((line) => line.split(" ").includes(token));
}
