import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WorktreeReport } from "@pi-subagents/progress";
import { isFullRun } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { deadProcess } from "../../runs/test/fixtures/run-dir.ts";
import {
	closeWorktree,
	createCheckoutGuard,
	type Git,
	GitError,
	listWorktrees,
	readWorktreeRecord,
	type WorktreeRecord,
} from "../src/index.ts";
import { writeWorktreeRecord } from "../src/worktree-record.ts";
import { type Repo, repo } from "./fixture.ts";

/** The record as it is written down. */
async function noted(record: WorktreeRecord): Promise<WorktreeRecord> {
	return (await readWorktreeRecord(record)) ?? record;
}

/** One that was closed, and whose directory was only half removed when whoever did it was killed. */
async function halfRemoved(it: Repo): Promise<WorktreeRecord> {
	const record = await it.open();
	await it.write("new.txt", "new\n", record.root);
	await closeWorktree(record, { git: it.git });
	await it.run(["worktree", "add", "--quiet", record.root, record.branch]);
	await rm(join(record.root, "src"), { recursive: true });
	return noted(record);
}

/** A git that stands still, as if we were killed, when it is to do this. */
function standsStillAt(git: Git, command: string): { git: Git; reached: Promise<void> } {
	const { promise, resolve } = Promise.withResolvers<void>();
	return {
		reached: promise,
		git: (args, options) => {
			if (args[0] !== command) return git(args, options);
			resolve();
			return new Promise(() => undefined);
		},
	};
}

describe("files that are gone because somebody was killed do not count as deleted by the agent", () => {
	test("while its directory was removed, when the agent goes on", async () => {
		const it = await repo();
		await halfRemoved(it);
		const again = await it.open({ run: 2 });
		await it.write("more.txt", "more\n", again.root);
		expect(await closeWorktree(again, { git: it.git })).toMatchObject({ files: 2, insertions: 2, deletions: 0 });
	});

	test("while its directory was made anew", async () => {
		const it = await repo();
		const record = await it.open();
		await it.write("new.txt", "new\n", record.root);
		await closeWorktree(record, { git: it.git });
		const { git, reached } = standsStillAt(it.git, "reset");
		void it.open({ run: 2, git });
		await reached;
		const report = await closeWorktree(await noted(record), { git: it.git });
		expect(report).toMatchObject({ branch: "pi-subagents/a1", files: 1, insertions: 1, deletions: 0 });
	});

	test("nor is anything lost when somebody else has closed it meanwhile, directory and all", async () => {
		const it = await repo();
		const record = await it.open();
		await it.write("new.txt", "new\n", record.root);
		let first: WorktreeReport | undefined;
		const overtaken: Git = async (...call) => {
			first ??= await closeWorktree(record, { git: it.git });
			return it.git(...call);
		};
		expect(await closeWorktree(record, { git: overtaken })).toEqual(first);
		expect((await noted(record)).report).toEqual(first);
		expect(first).not.toHaveProperty("problems");
	});

	test("nor because others close it at the same time: all say the same of it", async () => {
		const it = await repo();
		for (let number = 0; number < 100; number++) await it.write(`many/${number}.txt`, "x\n");
		await it.run(["add", "."]);
		await it.run(["commit", "--quiet", "-m", "many"]);
		const record = await it.open();
		await it.write("new.txt", "new\n", record.root);
		const reports = await Promise.all([1, 2, 3, 4].map(() => closeWorktree(record, { git: it.git })));
		expect(new Set(reports.map((report) => JSON.stringify(report))).size).toBe(1);
		expect(reports[0]).toMatchObject({ files: 1, insertions: 1, deletions: 0 });
		expect((await noted(record)).report).toEqual(reports[0]);
		expect(await it.run(["rev-list", "--count", "main..pi-subagents/a1"])).toBe("1");
	});
});

test("what a killed removal has left is removed by the next look, and only if nobody is at work on it", async () => {
	const it = await repo();
	const record = await it.open();
	await closeWorktree(record, { git: it.git });
	await mkdir(record.root);
	await writeFile(join(record.root, "rest"), "x");
	const inADay = { agentDir: it.dir, dir: it.dir, git: it.git, now: Date.now() + 2 * 24 * 60 * 60_000 };
	await listWorktrees(inADay);
	expect(await readdir(it.dir)).toEqual(["a1", "a1.json"]);
	await writeWorktreeRecord({ ...(await noted(record)), owner: await deadProcess() });
	await listWorktrees(inADay);
	expect(await readdir(it.dir)).toEqual([]);
});

test("a checkout that cannot be looked at in time holds up one command, not all, and the report says so", async () => {
	const it = await repo();
	const record = await it.open();
	let looks = 0;
	const git: Git = (args, options) => {
		if (args[0] !== "status") return it.git(args, options);
		looks++;
		const about = { isMissing: false, stdout: "", stderr: "", status: undefined };
		return Promise.reject(new GitError("git status failed: it took longer than 10 s", about));
	};
	const guard = createCheckoutGuard({ root: record.root, watches: [it.main] }, { git });
	for (const id of ["1", "2"]) {
		await guard.before({ id, tool: "bash", input: { command: "make" }, cwd: record.cwd });
		expect(await guard.after({ id, tool: "bash" })).toBeUndefined();
	}
	expect(looks).toBe(1);
	const { problems } = await closeWorktree(record, { git: it.git });
	expect(problems).toEqual([
		`${it.main} could not be checked within 10 s. It is unknown whether a command changed it.`,
	]);
});

describe("changes that git does not see at a glance are kept", () => {
	if (isFullRun)
		test("of the same length, written in the same moment as the index", async () => {
			const it = await repo();
			await it.run(["config", "core.checkStat", "minimal"]);
			await it.run(["config", "core.trustctime", "false"]);
			const record = await it.open();
			const file = join(record.root, "src/a.txt");
			const moment = 1_700_000_000;
			await utimes(file, moment, moment);
			await it.run(["update-index", "--refresh"], record.root);
			await utimes(join(record.gitDir ?? "", "index"), moment, moment);
			await writeFile(file, "ONE\ntwo\nthree\n");
			await utimes(file, moment, moment);
			expect(await closeWorktree(record, { git: it.git })).toMatchObject({ files: 1 });
		});

	test("in files that the agent told git not to look at", async () => {
		const it = await repo();
		await it.write("src/b.txt", "b\n");
		await it.run(["add", "."]);
		await it.run(["commit", "--quiet", "-m", "b"]);
		const record = await it.open();
		await it.run(["update-index", "--assume-unchanged", "src/a.txt"], record.root);
		await it.run(["update-index", "--skip-worktree", "src/b.txt"], record.root);
		await it.write("src/a.txt", "changed\n", record.root);
		await it.write("src/b.txt", "changed\n", record.root);
		expect(await closeWorktree(record, { git: it.git })).toMatchObject({ files: 2 });
	});
});
