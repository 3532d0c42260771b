import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { listWorktrees, worktreesDir } from "@pi-subagents/core/worktree";
import { callTool, createGate, say } from "@pi-subagents-dev/testkit";
import { expect, test, vi } from "vitest";
import { remoteRunner } from "../../src/index.ts";
import { remoteWorld, teeing } from "../fixtures/remote-world.ts";

const run = promisify(execFile);
const KEY = "sk-near-0123456789";
const IGNORED = "only-in-an-ignored-file";

test("an agent edits a repository that exists only near; its branch comes back, secrets and paths stay", async () => {
	const gate = createGate();
	await using world = await remoteWorld(({ messages }) =>
		messages.some(({ role }) => role === "tool")
			? say("Done.")
			: callTool("bash", { command: "cat draft.txt > copy.txt; echo more >> tracked.txt" }, { gate }),
	);
	const { env, options, spec, home } = world;
	const wire = await teeing(world);
	const repo = join(env.root, "their-project");
	const git = async (...args: string[]) => (await run("git", ["-C", repo, ...args])).stdout.trim();
	await mkdir(join(repo, "sub"), { recursive: true });
	await git("init", "-q", "-b", "main");
	await git("config", "user.email", "a@b");
	await git("config", "user.name", "A");
	await writeFile(join(repo, "tracked.txt"), "one\n");
	await writeFile(join(repo, ".gitignore"), "secret.env\n");
	await git("add", "-A");
	await git("commit", "-qm", "first");
	await writeFile(join(repo, "draft.txt"), "not committed\n");
	await writeFile(join(repo, "secret.env"), `${IGNORED}\n`);
	const before = [await git("status", "--porcelain"), await git("rev-parse", "HEAD"), await git("branch")];

	const runner = remoteRunner({ ...options, sessionCwd: () => repo });
	const given = {
		...spec,
		cwd: repo,
		task: `Copy ${join(repo, "draft.txt")}.`,
		systemPrompt: { mode: "append" as const, text: `Work in ${repo}.` },
	};
	process.env.NEAR_ONLY_KEY = KEY;
	const child = runner.start(given, () => undefined);
	await world.server.nextRequest();
	delete process.env.NEAR_ONLY_KEY;
	const far = await run("grep", ["-rlE", [KEY, IGNORED, "their-project"].join("|"), home]).catch(({ stdout }) => ({
		stdout,
	}));
	expect(far.stdout, "nothing of this on the other machine").toBe("");
	gate.open();
	const outcome = await child.settled;

	expect(outcome).toMatchObject({
		status: "completed",
		text: "Done.",
		worktree: {
			branch: "pi/a1",
			files: 2,
			insertions: 2,
			merge: expect.stringMatching(/^git cherry-pick [0-9a-f]{12}\.\.pi\/a1$/),
		},
	});
	expect(await git("show", "pi/a1:copy.txt")).toBe("not committed");
	expect(await git("show", "pi/a1:tracked.txt")).toBe("one\nmore");
	expect([
		await git("status", "--porcelain"),
		await git("rev-parse", "HEAD"),
		await git("branch", "--list", "main"),
	]).toEqual([before[0], before[1], before[2]]);
	expect(await git("for-each-ref", "refs/pi-subagents")).toBe("");
	const listed = await listWorktrees({ dir: worktreesDir(env.agentDir) });
	expect(listed.map(({ record, state }) => [record.branch, state])).toEqual([["pi/a1", "kept"]]);
	const task = world.server.requests[0]?.messages.find(({ role }) => role === "user")?.text ?? "";
	expect(task).toMatch(/^Copy \/.*\/checkouts\/a1-[0-9a-f]+\/trees\/a1\/draft\.txt\.$/);
	const sent = await wire();
	expect(sent).toContain("/pi-workspace/draft.txt");
	for (const secret of [KEY, IGNORED, "their-project", env.agentDir, env.root])
		expect(sent, secret).not.toContain(secret);
	expect(JSON.parse(await readFile(join(spec.artifacts, "meta.json"), "utf8"))).toMatchObject({
		machine: "local",
		spec: { runner: "remote" },
	});
}, 60_000);

test("a second order for the same repository brings only what changed", async () => {
	await using world = await remoteWorld(({ messages }) =>
		messages.some(({ role }) => role === "tool") ? say("Done.") : callTool("bash", { command: "echo x > x.txt" }),
	);
	const { env, options, spec, home } = world;
	const repo = join(env.root, "repo");
	const git = async (...args: string[]) =>
		(await run("git", ["-C", repo, "-c", "user.email=a@b", "-c", "user.name=A", ...args])).stdout.trim();
	await mkdir(repo);
	await git("init", "-q", "-b", "main");
	await writeFile(
		join(repo, "big.bin"),
		Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919 * (at % 251)) % 256)),
	);
	await git("add", "-A");
	await git("commit", "-qm", "first");
	const wire = await teeing(world);
	const runner = remoteRunner(options);
	const bytes: number[] = [];
	for (const agentId of ["a1", "a2"]) {
		const before = (await wire()).length;
		const outcome = await runner.start(
			{ ...spec, cwd: repo, agentId, artifacts: join(env.root, "runs", agentId) },
			() => undefined,
		).settled;
		expect(outcome).toMatchObject({
			status: "completed",
			worktree: { branch: `pi/${agentId}`, merge: `git merge pi/${agentId}` },
		});
		bytes.push((await wire()).length - before);
	}
	expect(bytes[1]).toBeLessThan((bytes[0] ?? 0) / 4);
	// The other machine keeps nothing of a run that is done.
	await vi.waitFor(async () => expect(await readdir(join(home, "runs"))).toEqual([]), { timeout: 10_000 });

	await git("branch", "pi/a3"); // so the commits of this one cannot be taken over
	const { worktree } = await runner.start(
		{ ...spec, cwd: repo, agentId: "a3", artifacts: join(env.root, "runs", "a3") },
		() => undefined,
	).settled;
	expect(worktree?.problems).toEqual([expect.stringMatching(/^Its commits are on local and could not be taken over/)]);
	const [key = ""] = await readdir(join(home, "checkouts"));
	const far = async (...args: string[]) =>
		(await run("git", ["-C", join(home, "checkouts", key, "main"), ...args])).stdout.trim();
	const branch = await far("for-each-ref", "--format=%(refname)", "refs/heads");
	expect(await far("show", `${branch}:x.txt`), "they are still there").toBe("x");
}, 60_000);
