import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { listWorktrees } from "@pi-subagents/worktree";
import { callTool, createGate, isFullRun, type RequestView, say } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { remoteRunner } from "../../src/index.ts";
import { leaks, SECRETS } from "../fixtures/leaks.ts";
import { type RemoteWorld, remoteWorld, shimmed, teeing } from "../fixtures/remote-world.ts";

const run = promisify(execFile);
/** A repository with uncommitted work, and secrets beside it: in a variable, in pi's own directory and in an ignored file. */
async function nearOnly(world: RemoteWorld) {
	const repo = join(world.env.root, "their-project");
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
	await writeFile(join(repo, "secret.env"), `TOKEN=${SECRETS.ignored}\n`);
	const agentDir = join(world.env.root, "near-agent");
	await mkdir(agentDir);
	await writeFile(join(agentDir, "auth.json"), JSON.stringify({ anthropic: { type: "api_key", key: SECRETS.login } }));
	vi.stubEnv("ANTHROPIC_API_KEY", SECRETS.variable);
	onTestFinished(() => void vi.unstubAllEnvs());
	return { repo, git, agentDir };
}

/** The agent shows all its variables, works, and waits. */
function working(gate: Promise<unknown>) {
	const command = "env > env.txt; cat draft.txt > copy.txt; echo more >> tracked.txt; rm env.txt";
	return ({ messages }: RequestView) => {
		const isDone = messages.some(({ role }) => role === "tool");
		return isDone ? { ...say("Done."), gate } : callTool("bash", { command: `${command}; env` });
	};
}

test("an agent edits a repository that exists only near; its branch comes back, secrets and paths stay", async () => {
	const gate = createGate();
	await using world = await remoteWorld(working(gate));
	const { env, options, spec } = world;
	const wire = await teeing(world);
	const { repo, git, agentDir } = await nearOnly(world);
	const before = [await git("status", "--porcelain"), await git("rev-parse", "HEAD"), await git("branch")];

	const runner = remoteRunner({ ...options, agentDir, sessionCwd: () => repo });
	const given = {
		...spec,
		cwd: repo,
		task: `Copy ${join(repo, "draft.txt")}.`,
		systemPrompt: { mode: "append" as const, text: `Work in ${repo}.` },
	};
	const child = runner.start(given, () => undefined);
	await world.server.nextRequest(({ number }) => number === 2);
	const hidden = [...Object.values(SECRETS), "their-project"];
	expect(await leaks(hidden, { far: env.agentDir }), "nothing of this on the other machine").toEqual([]);
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
	const listed = await listWorktrees({ agentDir });
	expect(listed.map(({ record, state }) => [record.branch, state])).toEqual([["pi/a1", "kept"]]);
	const task = world.server.requests[0]?.messages.find(({ role }) => role === "user")?.text ?? "";
	expect(task).toMatch(/^Copy \/.*\/checkouts\/a1-[0-9a-f]+\/trees\/a1\/draft\.txt\.$/);
	const sent = await wire();
	expect(sent).toContain("/pi-workspace/draft.txt");
	expect(await leaks([...hidden, agentDir, env.root], { wire: sent })).toEqual([]);
	expect(JSON.parse(await readFile(join(spec.artifacts, "meta.json"), "utf8"))).toMatchObject({
		machine: "local",
		spec: { runner: "remote" },
	});
});

/** What the test above would see if one of them were shipped. */
if (isFullRun)
	test.each([
		["a variable", SECRETS.variable, "child-session.jsonl"],
		["a login", SECRETS.login, "what was sent"],
		["an ignored file", SECRETS.ignored, "git of "],
	] as const)("%s that is shipped on purpose is found", async (what, secret, where) => {
		const gate = createGate();
		await using world = await remoteWorld(working(gate));
		const wire = await teeing(world);
		const { repo, agentDir } = await nearOnly(world);
		const isVariable = what === "a variable";
		if (isVariable) Object.assign(world.machinesOptions, { env: { ...world.env.variables, KEY: secret } });
		if (what === "an ignored file") await rm(join(repo, ".gitignore"));
		const task = what === "a login" ? `Use ${await readFile(join(agentDir, "auth.json"), "utf8")}.` : "Copy it.";
		const child = remoteRunner({ ...world.options, agentDir }).start(
			{ ...world.spec, cwd: repo, task },
			() => undefined,
		);
		await world.server.nextRequest(({ number }) => number === 2);
		const found = await leaks(Object.values(SECRETS), { wire: await wire(), far: world.env.agentDir });
		expect(found.filter((each) => each.startsWith(secret)).join("\n")).toContain(where);
		expect(found.filter((each) => !each.startsWith(secret))).toEqual([]);
		gate.open();
		await child.settled;
	});

if (isFullRun)
	test("the connection ends while the commits come back: they are fetched again, and then the run settles", async () => {
		const gate = createGate();
		gate.open();
		await using world = await remoteWorld(working(gate));
		const worker = await shimmed(world, [], { endsAt: '"does":"read"' });
		const { repo, git, agentDir } = await nearOnly(world);
		const outcome = await remoteRunner({ ...world.options, agentDir }).start(
			{ ...world.spec, cwd: repo, task: "Copy it." },
			() => undefined,
		).settled;
		expect(outcome.worktree).toMatchObject({ branch: "pi/a1" });
		expect(outcome.worktree).not.toHaveProperty("problems");
		expect(await git("show", "pi/a1:copy.txt")).toBe("not committed");
		expect(worker.starts()).toBe(2);
	});

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
	await expect.poll(() => readdir(join(home, "runs"))).toEqual([]);

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
});
