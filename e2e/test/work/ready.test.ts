/** Worktrees that are ready to work in, in real pi with real git: links, copies and a set-up command. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
	callTool,
	converse,
	gatePis,
	isFullRun,
	otherwise,
	type RequestView,
	runPrint,
	say,
	startRpc,
	systemPromptSays,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { isRunning, until } from "../../support/detached.ts";
import { trust } from "../../support/hostile/hostile-repository.ts";
import { parentSays, type Scene, scene, unfenced } from "../../support/scene.ts";

const preset = (fields: string) =>
	`---\nname: mender\ndescription: mends things\nmodel: fake/fake-1\ntools: read,write,bash\nisolation: worktree\n${fields}\n---\nYou are the mender.\n`;
const tellsParent = ({ lastToolResults }: RequestView) =>
	say(`Heard: ${lastToolResults.map(({ text }) => unfenced(text)).join("\n")}`);
const launch = callTool("Agent", {
	prompt: "Mend it.",
	description: "mend",
	subagent_type: "mender",
	run_in_background: false,
});
/** It says what it finds, and leaves a file. */
const looks = converse(
	systemPromptSays("You are the mender."),
	callTool("bash", { command: "cat node_modules/pad/index.js .env made.txt 2>&1; echo new > new.txt" }),
	({ lastToolResults }) => say(`Found: ${lastToolResults[0]?.text}`),
);

async function repository(fields: string, rules = [parentSays(launch, tellsParent), looks, otherwise(say("I see."))]) {
	const it = await scene(rules, {
		files: {
			".pi/subagents/mender.md": preset(fields),
			".gitignore": "node_modules/\n.env\n.pi/subagents/runs\n",
			".worktreeinclude": ".env\n",
			"node_modules/pad/index.js": "pad\n",
			".env": "KEY=1\n",
		},
	});
	const git = async (...args: string[]) =>
		(
			await promisify(execFile)("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
				cwd: it.env.cwd,
			})
		).stdout.trim();
	await git("init", "--quiet", "--initial-branch=main");
	await git("add", ".");
	await git("commit", "--quiet", "-m", "first");
	return { it, git };
}

const worktreesOf = async ({ env }: Scene) =>
	(await readdir(join(env.agentDir, "state", "subagents", "worktrees")).catch(() => [])).filter(
		(name) => !name.endsWith(".json"),
	);
const READY = "worktree: { link: [node_modules], setup: 'echo ready > made.txt; rm -f made.tmp' }";
const RUNNERS = isFullRun ? (["session", "process"] as const) : (["session"] as const);

describe.each(await gatePis())("pi $version", { timeout: 120_000 }, (pi) => {
	test.each(RUNNERS)(
		"an agent finds what it needs, and only its own work is on its branch, runner: %s",
		async (runner) => {
			const { it, git } = await repository(`runner: ${runner}\nverify: test -f new.txt\n${READY}`);
			await using _ = it;
			await trust(it.env);
			const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(stdout).toContain("Found: pad\nKEY=1\nready");
			expect(stdout).toMatch(/verified: test -f new\.txt/);
			const branch = /branch (pi-subagents\/[\w-]+)/.exec(stdout)?.[1] ?? "none";
			expect(await git("diff", "--name-only", "main", branch)).toBe("made.txt\nnew.txt");
			expect(await worktreesOf(it)).toEqual([]);
			expect(await readFile(join(it.env.cwd, "node_modules/pad/index.js"), "utf8")).toBe("pad\n");
		},
	);

	test("a set-up that fails is a failed launch with its output", async () => {
		const { it } = await repository("worktree: { setup: 'echo no network; exit 3' }");
		await using _ = it;
		await trust(it.env);
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(stdout).toMatch(/setup: echo no network; exit 3 exited with code 3/);
		expect(stdout).not.toContain("Found:");
		expect(await worktreesOf(it)).toEqual([]);
	});

	test("a project that is not trusted sets up, links and copies nothing", async () => {
		const { it } = await repository("worktree: { link: [../..], setup: 'touch \"$HOME/ran-setup\"' }");
		await using _ = it;
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(stdout).toContain("Found: cat: node_modules/pad/index.js: No such file");
		expect(stdout).not.toContain("KEY=1");
		expect(stdout).toContain("sets worktree; that counts only in a project you have trusted");
		expect((await readdir(it.env.home)).filter((name) => name.startsWith("ran-"))).toEqual([]);
	});
});

test("the user's own settings make every worktree ready, and a pi killed during the set-up leaves no command", async () => {
	const { it } = await repository("", [parentSays(launch, tellsParent), looks, otherwise(say("I see."))]);
	await using _ = it;
	const settings = join(it.env.agentDir, "subagents.json");
	await writeFile(settings, JSON.stringify({ worktree: { setup: 'echo $$ > "$HOME/setup.pid"; exec sleep 1000' } }));
	await mkdir(it.env.home, { recursive: true });
	const rpc = startRpc({ env: it.env, timeoutMs: 60_000 });
	await rpc.send({ type: "prompt", message: "Please delegate." });
	const pid = await until("the set-up runs", async () => {
		const text = await readFile(join(it.env.home, "setup.pid"), "utf8").catch(() => "");
		return Number(text) || undefined;
	});
	process.kill(rpc.pid ?? 0, "SIGKILL");
	await rpc.close();
	await until("the set-up is gone", async () => !isRunning(pid) || undefined);
	await writeFile(settings, JSON.stringify({ worktree: { link: ["node_modules"], include: [".env"] } }));
	const { stdout } = await runPrint({ env: it.env }, "Please delegate.");
	expect(stdout).toContain("Found: pad\nKEY=1\n");
}, 120_000);
