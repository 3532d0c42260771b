import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { callTool, converse, isFullRun, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { Manager, type Outcome, type RunSpec, systemClock } from "../../../core/src/index.ts";
import { fakeRunner } from "../../../core/src/testing/index.ts";
import { spec as anySpec } from "../../../core/test/fixtures/events.ts";
import { checkWorktree, type Git, originOf, worktreeRunner } from "../../../worktree/src/index.ts";
import { type Repo, repo } from "../../../worktree/test/fixture.ts";
import { sessionRunner } from "../../src/session/index.ts";
import { sessionWorld } from "../fixtures/session.ts";

const isolation = { kind: "worktree", base: "head" } as const;
const specIn = (it: Repo, more: Partial<RunSpec> = {}) => ({
	...anySpec,
	cwd: it.main,
	isolation,
	agentId: "a1",
	run: 1,
	...more,
});

/** Runs one that is in the hands of the test, and lets it act in its checkout. */
async function acting(it: Repo, act: (root: string) => Promise<void>, more: Partial<RunSpec> = {}): Promise<Outcome> {
	const inner = fakeRunner((run) => void act(run.spec.cwd).then(() => run.answer("Done.")));
	return worktreeRunner(inner, { dir: it.dir, git: it.git, sessionCwd: () => it.main }).start(
		specIn(it, more),
		() => undefined,
	).settled;
}

test("a run without isolation is the inner runner's own", async () => {
	const inner = fakeRunner();
	const runner = worktreeRunner(inner, { dir: "/nowhere" });
	const run = runner.start({ ...anySpec, agentId: "a1", run: 1 }, () => undefined);
	expect(run).toBe(inner.runs[0]);
	expect(runner.attach?.({ ...anySpec, agentId: "a1", run: 1, artifacts: "/x" }, () => undefined)).toBe(inner.runs[1]);
	expect(worktreeRunner({ start: inner.start, keepsTime: true }, { dir: "/" })).toMatchObject({ keepsTime: true });
	expect(worktreeRunner({ start: inner.start }, { dir: "/" }).attach).toBeUndefined();
});

test("the outcome says on which branch the changes are", async () => {
	const it = await repo();
	const outcome = await acting(it, (root) => it.write("new.txt", "new\n", root));
	expect(outcome).toMatchObject({
		status: "completed",
		worktree: { branch: "pi-subagents/a1", files: 1, insertions: 1, deletions: 0, merge: "git merge pi-subagents/a1" },
	});
});

test("a run that changes nothing asks git no more than it must: each call takes longer than all that we do", async () => {
	const it = await repo();
	const calls: string[] = [];
	const git: Git = (args, options) => {
		calls.push(args[0] === "worktree" ? args.slice(0, 2).join(" ") : (args[0] ?? ""));
		return it.git(args, options);
	};
	await checkWorktree(it.main, { git });
	expect(calls.splice(0)).toEqual(["rev-parse", "config"]);
	const inner = fakeRunner((run) => void run.answer("Done."));
	await worktreeRunner(inner, { dir: it.dir, git }).start(specIn(it), () => undefined).settled;
	expect(calls).toEqual([
		...["rev-parse", "rev-parse", "config", "update-ref", "worktree add", "config", "grep", "reset"],
		...["rev-parse", "config", "config", "ls-files", "status", "update-ref", "worktree remove"],
	]);
	expect(await it.branches()).toEqual(["main"]);
});

test("somebody may look at the worktree of a run that ended by itself before it is closed; a stop does not wait", async () => {
	const it = await repo();
	const seen: string[][] = [];
	const inner = fakeRunner();
	const forever = new Promise(() => undefined);
	const runner = worktreeRunner(inner, {
		dir: it.dir,
		git: it.git,
		beforeClose: async (agentId, root) => {
			seen.push([agentId, ...(await readdir(root)).filter((name) => name === "new.txt")]);
			if (agentId === "a2") await forever;
			throw new Error("Not good."); // is only reported
		},
	});
	const start = async (agentId: string) => {
		const run = runner.start({ ...specIn(it), agentId }, () => undefined);
		await expect.poll(() => inner.runs.some(({ spec }) => spec.agentId === agentId)).toBe(true);
		const child = inner.runs.find(({ spec }) => spec.agentId === agentId);
		await it.write("new.txt", "new\n", child?.spec.cwd);
		child?.answer("Done.");
		return run;
	};
	expect(await (await start("a1")).settled).toMatchObject({ status: "completed", worktree: { files: 1 } });
	const held = await start("a2");
	await expect
		.poll(() => seen)
		.toEqual([
			["a1", "new.txt"],
			["a2", "new.txt"],
		]);
	held.abort({ by: "user" });
	expect(await held.settled).toMatchObject({ status: "completed", worktree: { files: 1 } });
});

test("a run in a place without a repository fails, and its child is never started", async () => {
	const it = await repo();
	await mkdir(join(it.home, "plain"));
	const inner = fakeRunner();
	const run = worktreeRunner(inner, { dir: it.dir, git: it.git }).start(
		specIn(it, { cwd: join(it.home, "plain") }),
		() => undefined,
	);
	expect(await run.settled).toMatchObject({
		status: "failed",
		error: expect.stringContaining("not in a git repository"),
	});
	expect(inner.runs).toEqual([]);
});

test("paths of the user's checkout lead into the worktree, in the task and in the prompt, and only whole ones", async () => {
	const it = await repo();
	const inner = fakeRunner((run) => void run.answer("ok"));
	const { main } = it;
	const task = `Look at ${main}/src/a.txt and "${main}", not ${main}-two/x, ${main}é/x, ${main}.git or /mnt${main}/y. See file://${main}/src.`;
	const spec = specIn(it, {
		task,
		systemPrompt: { mode: "replace", text: `You know ${main}.` },
		cwd: join(main, "src"),
	});
	await worktreeRunner(inner, { dir: it.dir, git: it.git }).start(spec, () => undefined).settled;
	const root = join(it.dir, "a1");
	const given = inner.runs[0]?.spec;
	expect(given?.task).toBe(
		`Look at ${root}/src/a.txt and "${root}", not ${main}-two/x, ${main}é/x, ${main}.git or /mnt${main}/y. See file://${root}/src.`,
	);
	expect(given?.systemPrompt?.mode).toBe("replace");
	expect(given?.systemPrompt?.text).toMatch(`You know ${root}.\n\nYou work in your own git worktree: ${root}`);
	expect(given).toMatchObject({ cwd: join(root, "src"), confinedTo: { root, origin: main, watches: [main] } });
});

test("a stop tells of the branch at once, and what was changed until then is on it", async () => {
	const it = await repo();
	const closed: unknown[] = [];
	const inner = fakeRunner();
	const runner = worktreeRunner(inner, {
		dir: it.dir,
		git: it.git,
		onClosed: (id, report) => void closed.push([id, report.files]),
	});
	const manager = new Manager({ runners: { session: runner }, clock: systemClock, newId: () => "a1" });
	manager.spawn({ ...anySpec, cwd: it.main, isolation });
	await expect.poll(() => inner.runs.length).toBe(1);
	await it.write("new.txt", "new\n", inner.runs[0]?.spec.cwd);
	manager.abort("a1", { by: "user" });
	expect(manager.store.record("a1")?.outcome).toMatchObject({
		status: "aborted",
		by: "user",
		worktree: { branch: "pi-subagents/a1" },
	});
	await manager.shutdown();
	expect(closed).toEqual([["a1", 1]]);
	expect(await it.run(["show", "pi-subagents/a1:new.txt"])).toBe("new");
});

test("a run that is rejoined is closed by whoever rejoined it", async () => {
	const it = await repo();
	const record = await it.open();
	await it.write("new.txt", "new\n", record.root);
	const inner = fakeRunner((run) => void run.settle({ status: "aborted", by: "lost" }));
	const confinedTo = { root: record.root, origin: it.main, watches: [it.main] };
	const run = worktreeRunner(inner, { dir: it.dir, git: it.git }).attach?.(
		{ ...specIn(it), confinedTo, artifacts: "/x" },
		() => undefined,
	);
	expect(await run?.settled).toMatchObject({
		status: "aborted",
		by: "lost",
		worktree: { branch: "pi-subagents/a1", files: 1 },
	});
});

test("a run that is stopped at once when it is rejoined hears of it: it runs already", async () => {
	const it = await repo();
	const record = await it.open();
	const inner = fakeRunner();
	const confinedTo = { root: record.root, origin: it.main, watches: [it.main] };
	const runner = worktreeRunner(inner, { dir: it.dir, git: it.git });
	const run = runner.attach?.({ ...specIn(it), confinedTo, artifacts: "/x" }, () => undefined);
	run?.abort({ by: "user" });
	expect(await run?.settled).toMatchObject({ status: "aborted", by: "user" });
	expect(inner.runs[0]?.stops).toEqual([{ by: "user" }]);
});

test("a run that is let go of while its checkout is made is started first", async () => {
	const it = await repo();
	const inner = fakeRunner();
	const run = worktreeRunner(inner, { dir: it.dir, git: it.git }).start(
		specIn(it, { outlives: true }),
		() => undefined,
	);
	run.granted = { maxTurns: 7 };
	await run.detach?.();
	expect(inner.runs[0]?.isDetached()).toBe(true);
	expect(run.granted).toEqual({ maxTurns: 7 });
});

const AGENTS = isFullRun ? 20 : 8;

test(`${AGENTS} agents that edit the same file at once have as many branches, and the user's checkout stays byte for byte`, async () => {
	const it = await repo();
	await it.write("src/a.txt", "not committed\n");
	await it.write("staged.txt", "staged\n");
	await it.run(["add", "staged.txt"]);
	const before = await it.state();
	await using world = await sessionWorld((request) => {
		const number = /number (\d+)/.exec(request.messages.find(({ role }) => role === "user")?.text ?? "")?.[1];
		const calls = request.messages.filter(({ role }) => role === "tool").length;
		if (calls === 0) return callTool("read", { path: "src/a.txt" });
		if (calls === 1)
			return callTool("edit", { path: "src/a.txt", edits: [{ oldText: "two", newText: `agent ${number}` }] });
		return say("Edited.");
	});
	const session = worktreeRunner(sessionRunner(world.host), { dir: it.dir, git: it.git });
	let next = 0;
	const manager = new Manager({
		runners: { session },
		clock: systemClock,
		newId: () => `w${++next}`,
		slots: { maxConcurrent: AGENTS, whenFull: "queue" },
	});
	const numbers = Array.from({ length: AGENTS }, (_, index) => index + 1);
	for (const number of numbers)
		manager.spawn({
			...anySpec,
			cwd: it.main,
			isolation,
			model: world.spec.model,
			tools: ["read", "edit"],
			task: `You are number ${number}.`,
		});
	const outcomes = await Promise.all(numbers.map((number) => manager.wait(`w${number}`)));
	expect(outcomes.filter(({ status }) => status !== "completed")).toEqual([]);
	expect(outcomes.map(({ worktree }) => worktree?.branch)).toEqual(numbers.map((number) => `pi-subagents/w${number}`));
	const held = await Promise.all(numbers.map((number) => it.run(["show", `pi-subagents/w${number}:src/a.txt`])));
	expect(held).toEqual(numbers.map((number) => `one\nagent ${number}\nthree`));
	expect(await it.state()).toEqual(before);
	expect((await readdir(it.dir)).filter((name) => !name.endsWith(".json"))).toEqual([]);
});

describe("the guard, in a real session", () => {
	/** What the model was told of each of its tool calls, and the outcome. */
	async function told(it: Repo, calls: { tool: string; args: Record<string, unknown> }[], more: Partial<RunSpec> = {}) {
		await using world = await sessionWorld(
			converse(() => true, ...calls.map(({ tool, args }) => callTool(tool, args)), say("Done.")),
		);
		const runner = worktreeRunner(sessionRunner(world.host), { dir: it.dir, git: it.git });
		const errors: boolean[] = [];
		const spec = specIn(it, { model: world.spec.model, tools: ["edit", "write", "bash", "read"], ...more });
		const outcome = await runner.start(spec, (event) => {
			if (event.type === "tool_result") errors.push(event.isError);
		}).settled;
		const results = world.model.requests.at(-1)?.messages.filter(({ role }) => role === "tool") ?? [];
		return { outcome, errors, texts: results.map(({ text }) => text) };
	}

	test("a file outside of its checkout is refused as a tool error that says where it may write", async () => {
		const it = await repo();
		const before = await it.state();
		const { errors, texts, outcome } = await told(it, [
			{ tool: "write", args: { path: join(it.main, "outside.txt"), content: "x" } },
			{ tool: "write", args: { path: "inside.txt", content: "x" } },
		]);
		expect(errors).toEqual([true, false]);
		expect(texts[0]).toContain(`Write only below ${join(it.dir, "a1")}.`);
		expect(await it.state()).toEqual(before);
		expect(outcome.worktree).toMatchObject({ files: 1 });
	});

	test("no way of writing a path leads around it", async () => {
		const it = await repo();
		await symlink(it.main, join(it.home, "link"));
		const paths = [
			"../../../../../app/x.txt",
			pathToFileURL(join(it.main, "x.txt")).href,
			join(it.home, "link", "x.txt"),
			"way-out/x.txt",
			"way-out/src/a.txt",
			`@${it.main}/x.txt`,
			".git",
		];
		const before = await it.state();
		const { errors } = await told(it, [
			{ tool: "bash", args: { command: `ln -s '${it.main}' way-out` } },
			...paths.map((path) => ({ tool: "write", args: { path, content: "x" } })),
		]);
		expect(errors).toEqual([false, ...paths.map(() => true)]);
		expect(await it.state()).toEqual(before);
	});

	if (isFullRun)
		test("its notes may be written beside its checkout", async () => {
			const it = await repo();
			const memoryDir = join(it.home, "notes");
			await mkdir(memoryDir);
			const { errors } = await told(it, [{ tool: "write", args: { path: join(memoryDir, "n.md"), content: "x" } }], {
				memoryDir,
			});
			expect(errors).toEqual([false]);
		});

	test("a command that changes the user's checkout is a tool error, and the report tells of it", async () => {
		const it = await repo();
		await it.write("dirty.txt", "dirty\n");
		const { errors, texts, outcome } = await told(it, [
			{ tool: "bash", args: { command: "echo inside > made.txt" } },
			{ tool: "bash", args: { command: `echo x > '${it.main}/src/a.txt'; echo y > '${it.main}/new.txt'` } },
			{ tool: "bash", args: { command: `echo again >> '${it.main}/dirty.txt'; false` } },
			{ tool: "bash", args: { command: `git -C '${it.main}' checkout -q -b elsewhere` } },
			{ tool: "bash", args: { command: "git add . && git stash -q && git stash apply -q" } },
		]);
		expect(errors).toEqual([false, true, true, true, true]);
		expect(texts[1]).toContain(`another checkout changed: ${it.main} (src/a.txt, new.txt)`);
		expect(texts[2]).toContain("dirty.txt");
		expect(texts[3]).toContain("HEAD");
		expect(texts[4]).toContain(`${it.main} (the stash)`);
		expect(outcome.worktree?.problems).toHaveLength(4);
		expect(outcome.worktree?.problems?.[0]).toContain("src/a.txt, new.txt");
		expect(outcome.worktree?.files).toBe(1);
	});

	test("a change that the user made between two commands is nobody's fault", async () => {
		const it = await repo();
		await using world = await sessionWorld(
			converse(() => true, callTool("bash", { command: "true" }), callTool("bash", { command: "true" }), say("Done.")),
		);
		const runner = worktreeRunner(sessionRunner(world.host), { dir: it.dir, git: it.git });
		let results = 0;
		const spec = specIn(it, { model: world.spec.model, tools: ["bash"] });
		const checkpoint = async () => {
			await it.write("mine.txt", `${++results}`);
			return "go" as const;
		};
		const outcome = await runner.start(spec, () => undefined, checkpoint).settled;
		expect(outcome.worktree).toEqual({ base: expect.any(String), files: 0, insertions: 0, deletions: 0 });
	});
});

test("a worktree within a worktree leaves both others alone", async () => {
	const it = await repo();
	const outer = await it.open({ id: "outer" });
	const inner = fakeRunner((run) => void run.answer("ok"));
	const spec = specIn(it, { cwd: outer.cwd, confinedTo: { root: outer.root, origin: it.main, watches: [it.main] } });
	await worktreeRunner(inner, { dir: it.dir, git: it.git }).start(spec, () => undefined).settled;
	expect(inner.runs[0]?.spec.confinedTo).toEqual({
		root: join(it.dir, "a1"),
		origin: it.main,
		watches: [outer.root, it.main],
	});
});

test("a worktree of another repository is trusted as that one is, whoever launched the agent", async () => {
	const it = await repo();
	const outer = await it.open({ id: "outer" });
	const other = join(it.home, "other");
	await it.run(["clone", "--quiet", it.main, other]);
	const inner = fakeRunner((run) => void run.answer("ok"));
	const spec = specIn(it, { cwd: other, confinedTo: { root: outer.root, origin: it.main, watches: [it.main] } });
	await worktreeRunner(inner, { dir: it.dir, git: it.git }).start(spec, () => undefined).settled;
	const given = inner.runs[0]?.spec;
	expect(given && originOf(given)).toBe(other);
	expect(given?.confinedTo?.watches).toEqual([other, it.main]);
});

test("a checkout that vanished while its agent worked is told of, with what its branch holds", async () => {
	const it = await repo();
	const outcome = await acting(it, async (root) => {
		await writeFile(join(root, "one.txt"), "one");
		await it.run(["add", "."], root);
		await it.run(["commit", "--quiet", "-m", "one"], root);
		await rm(root, { recursive: true });
	});
	expect(outcome.worktree).toMatchObject({ branch: "pi-subagents/a1", files: 1 });
	expect(outcome.worktree?.problems?.join()).toMatch(/is gone/);
});
