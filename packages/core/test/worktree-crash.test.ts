import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WorktreeReport } from "@pi-subagents/progress";
import { describe, expect, test } from "vitest";
import {
	closeWorktree,
	createGuard,
	type Git,
	GitError,
	listWorktrees,
	type Place,
	readPlace,
} from "../src/worktree/index.ts";
import { writePlace } from "../src/worktree/place.ts";
import { deadProcess } from "./process-fixture.ts";
import { type Repo, repo } from "./worktree-fixture.ts";

const TIMEOUT = 60_000;

/** The place as it is written down. */
async function noted(place: Place): Promise<Place> {
	return (await readPlace(place.root)) ?? place;
}

/** One that was closed, and whose directory was only half removed when whoever did it was killed. */
async function halfRemoved(it: Repo): Promise<Place> {
	const place = await it.open();
	await it.write("new.txt", "new\n", place.root);
	await closeWorktree(place, { git: it.git });
	await it.run(["worktree", "add", "--quiet", place.root, place.branch]);
	await rm(join(place.root, "src"), { recursive: true });
	return noted(place);
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
		const place = await it.open();
		await it.write("new.txt", "new\n", place.root);
		await closeWorktree(place, { git: it.git });
		const { git, reached } = standsStillAt(it.git, "reset");
		void it.open({ run: 2, git });
		await reached;
		const report = await closeWorktree(await noted(place), { git: it.git });
		expect(report).toMatchObject({ branch: "pi-subagents/a1", files: 1, insertions: 1, deletions: 0 });
	});

	test("nor is anything lost when somebody else has closed it meanwhile, directory and all", async () => {
		const it = await repo();
		const place = await it.open();
		await it.write("new.txt", "new\n", place.root);
		let first: WorktreeReport | undefined;
		const overtaken: Git = async (...call) => {
			first ??= await closeWorktree(place, { git: it.git });
			return it.git(...call);
		};
		expect(await closeWorktree(place, { git: overtaken })).toEqual(first);
		expect((await noted(place)).report).toEqual(first);
		expect(first).not.toHaveProperty("problems");
	});

	test(
		"nor because others close it at the same time: all say the same of it",
		async () => {
			const it = await repo();
			for (let number = 0; number < 100; number++) await it.write(`many/${number}.txt`, "x\n");
			await it.run(["add", "."]);
			await it.run(["commit", "--quiet", "-m", "many"]);
			const place = await it.open();
			await it.write("new.txt", "new\n", place.root);
			const reports = await Promise.all([1, 2, 3, 4].map(() => closeWorktree(place, { git: it.git })));
			expect(new Set(reports.map((report) => JSON.stringify(report))).size).toBe(1);
			expect(reports[0]).toMatchObject({ files: 1, insertions: 1, deletions: 0 });
			expect((await noted(place)).report).toEqual(reports[0]);
			expect(await it.run(["rev-list", "--count", "main..pi-subagents/a1"])).toBe("1");
		},
		TIMEOUT,
	);
});

test("what a killed removal has left is removed by the next look, and only if nobody is at work on it", async () => {
	const it = await repo();
	const place = await it.open();
	await closeWorktree(place, { git: it.git });
	await mkdir(place.root);
	await writeFile(join(place.root, "rest"), "x");
	const inADay = { dir: it.dir, git: it.git, now: Date.now() + 2 * 24 * 60 * 60_000 };
	await listWorktrees(inADay);
	expect(await readdir(it.dir)).toEqual(["a1", "a1.json"]);
	await writePlace({ ...(await noted(place)), owner: await deadProcess() });
	await listWorktrees(inADay);
	expect(await readdir(it.dir)).toEqual([]);
});

test("a checkout that cannot be looked at in time holds up one command, not all, and the report says so", async () => {
	const it = await repo();
	const place = await it.open();
	let looks = 0;
	const git: Git = (args, options) => {
		if (args[0] !== "status") return it.git(args, options);
		looks++;
		const about = { isMissing: false, stdout: "", stderr: "", status: undefined };
		return Promise.reject(new GitError("git status failed: it took longer than 10 s", about));
	};
	const guard = createGuard({ root: place.root, watches: [it.main] }, { git });
	for (const id of ["1", "2"]) {
		await guard.before({ id, tool: "bash", input: { command: "make" }, cwd: place.cwd });
		expect(await guard.after({ id, tool: "bash" })).toBeUndefined();
	}
	expect(looks).toBe(1);
	const { problems } = await closeWorktree(place, { git: it.git });
	expect(problems).toEqual([
		`${it.main} could not be looked at within 10 s. Whether a command changed it is not known.`,
	]);
});

describe("changes that git does not see at a glance are kept", () => {
	test("of the same length, written in the same moment as the index", async () => {
		const it = await repo();
		await it.run(["config", "core.checkStat", "minimal"]);
		await it.run(["config", "core.trustctime", "false"]);
		const place = await it.open();
		const file = join(place.root, "src/a.txt");
		const moment = 1_700_000_000;
		await utimes(file, moment, moment);
		await it.run(["update-index", "--refresh"], place.root);
		await utimes(join(place.gitDir ?? "", "index"), moment, moment);
		await writeFile(file, "ONE\ntwo\nthree\n");
		await utimes(file, moment, moment);
		expect(await closeWorktree(place, { git: it.git })).toMatchObject({ files: 1 });
	});

	test("in files that the agent told git not to look at", async () => {
		const it = await repo();
		await it.write("src/b.txt", "b\n");
		await it.run(["add", "."]);
		await it.run(["commit", "--quiet", "-m", "b"]);
		const place = await it.open();
		await it.run(["update-index", "--assume-unchanged", "src/a.txt"], place.root);
		await it.run(["update-index", "--skip-worktree", "src/b.txt"], place.root);
		await it.write("src/a.txt", "changed\n", place.root);
		await it.write("src/b.txt", "changed\n", place.root);
		expect(await closeWorktree(place, { git: it.git })).toMatchObject({ files: 2 });
	});
});
