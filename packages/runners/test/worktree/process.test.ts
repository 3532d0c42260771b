import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { callTool, createGate, type Reply, type RequestView, say } from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { claimRun, RUN_FILES, readMeta, readResult } from "../../../runs/src/index.ts";
import { listWorktrees, worktreeRunner } from "../../../worktree/src/index.ts";
import { type Repo, repo } from "../../../worktree/test/fixture.ts";
import { processRunner } from "../../src/process/index.ts";
import { type ProcessWorld, processWorld } from "../fixtures/process-world.ts";

const toolResults = ({ messages }: RequestView) => messages.filter(({ role }) => role === "tool");

/** A run in a process of its own, whose model writes a file and then does what `reply` says. */
async function world(reply: (request: RequestView) => Reply) {
	const it = await repo();
	const made = await processWorld((request) =>
		toolResults(request).length === 0 ? callTool("write", { path: "new.txt", content: "new\n" }) : reply(request),
	);
	onTestFinished(() => made[Symbol.asyncDispose]());
	const spec = {
		...made.spec,
		cwd: it.main,
		tools: ["write", "bash"],
		isolation: { kind: "worktree", base: "head" } as const,
	};
	return { it, world: { ...made, spec } };
}

function runnerFor({ options }: ProcessWorld, it: Repo) {
	return worktreeRunner(processRunner(options), { dir: it.dir, git: it.git, sessionCwd: () => it.main });
}

/** Another process that starts the world's run, which outlives it. */
function parentOf({ options, spec }: ProcessWorld, it: Repo) {
	const script = fileURLToPath(new URL("./launching-parent.ts", import.meta.url));
	const { isProjectTrusted: _, ...plain } = options;
	const child = spawn(
		process.execPath,
		[
			"--conditions=@pi-subagents/source",
			"--disable-warning=ExperimentalWarning",
			script,
			JSON.stringify({ options: plain, spec: { ...spec, outlives: true }, dir: it.dir }),
		],
		{ stdio: ["ignore", "inherit", "inherit"], env: it.env },
	);
	onTestFinished(() => void child.kill("SIGKILL"));
	return { child, exited: once(child, "exit") };
}

async function killWrapper({ spec }: ProcessWorld): Promise<void> {
	const { pid } = JSON.parse(await readFile(join(spec.artifacts, RUN_FILES.wrapper), "utf8"));
	process.kill(pid, "SIGKILL");
}

const states = async (it: Repo, agentDir: string) =>
	(await listWorktrees({ agentDir, dir: it.dir, git: it.git })).map(({ record, state, isChanged }) => [
		record.name,
		state,
		isChanged,
	]);

const kept = { branch: "pi-subagents/a1", files: 1, insertions: 1, deletions: 0 };

describe("a run in a process of its own", () => {
	test("closes its worktree itself, and is refused outside of it", async () => {
		const { it, world: w } = await world((request) => {
			const done = toolResults(request).length;
			if (done === 1) return callTool("write", { path: join(it.main, "outside.txt"), content: "x" });
			if (done === 2) return callTool("bash", { command: `echo x > '${it.main}/by-bash.txt'` });
			return say("Done.");
		});
		const errors: boolean[] = [];
		const outcome = await runnerFor(w, it).start(w.spec, (event) => {
			if (event.type === "tool_result") errors.push(event.isError);
		}).settled;
		expect(errors).toEqual([false, true, true]);
		const told = toolResults(w.server.requests.at(-1) as RequestView).map(({ text }) => text);
		expect(told[1]).toContain("Write only below");
		expect(told[2]).toContain("by-bash.txt");
		expect(outcome).toMatchObject({ status: "completed", worktree: kept });
		expect(outcome.worktree?.problems?.join()).toContain("by-bash.txt");
		expect((await readResult(w.spec.artifacts))?.outcome.worktree).toEqual(outcome.worktree);
		expect(await stat(join(it.main, "outside.txt")).catch(() => "none")).toBe("none");
	});

	test("whose wrapper is killed loses none of its changes", async () => {
		const { it, world: w } = await world(() => callTool("bash", { command: "sleep 1000" }));
		const run = runnerFor(w, it).start(w.spec, () => undefined);
		await w.server.nextRequest(({ number }) => number === 2);
		await killWrapper(w);
		expect(await run.settled).toMatchObject({ status: "aborted", by: "lost", worktree: kept });
		expect(await it.run(["show", "pi-subagents/a1:new.txt"])).toBe("new");
		expect((await readResult(w.spec.artifacts))?.outcome.worktree).toMatchObject(kept); // also for who looks later
	});

	test("whose parent is killed goes on, and says in its result where the changes are", async () => {
		const gate = createGate();
		const { it, world: w } = await world(() => say("Done.", { gate }));
		const parent = parentOf(w, it);
		await w.server.nextRequest(({ number }) => number === 2);
		parent.child.kill("SIGKILL");
		await parent.exited;
		expect(await states(it, w.options.agentDir)).toEqual([["a1", "in use", true]]);
		gate.open();
		await expect.poll(() => readResult(w.spec.artifacts)).toBeDefined();
		expect((await readResult(w.spec.artifacts))?.outcome).toMatchObject({ status: "completed", worktree: kept });
		expect(await states(it, w.options.agentDir)).toEqual([["a1", "kept", true]]);
	});

	test("that is killed with its parent is found again with its changes, and closed by whoever rejoins it", async () => {
		const { it, world: w } = await world(() => callTool("bash", { command: "exec sleep 30" }));
		const parent = parentOf(w, it);
		await w.server.nextRequest(({ number }) => number === 2);
		parent.child.kill("SIGKILL");
		await parent.exited;
		await killWrapper(w);
		await expect.poll(() => states(it, w.options.agentDir)).toEqual([["a1", "left", true]]);
		const meta = await readMeta(w.spec.artifacts);
		if (typeof meta === "string") throw new Error(meta);
		expect(await claimRun({ agentDir: w.options.agentDir, runDir: w.spec.artifacts })).toEqual({ isOurs: true });
		const { artifacts } = w.spec;
		const run = runnerFor(w, it).attach?.({ ...meta.spec, agentId: "a1", run: 1, artifacts }, () => undefined);
		expect(await run?.settled).toMatchObject({ status: "aborted", by: "lost", worktree: kept });
		expect(await states(it, w.options.agentDir)).toEqual([["a1", "kept", true]]);
	});
});
