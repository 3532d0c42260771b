import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isFullRun } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { closeWorktree, discardWorktree, type Git, openWorktree, type WorktreeRecord } from "../src/index.ts";
import { type Repo, repo, withFullDisk } from "./fixture.ts";

const NOTHING = { files: 0, insertions: 0, deletions: 0 };

async function closed(it: Repo, record: WorktreeRecord) {
	const report = await closeWorktree(record, { git: it.git });
	return { report, isGone: (await stat(record.root).catch(() => undefined)) === undefined };
}

async function show(it: Repo, what: string) {
	return it.run(["show", what]);
}

describe("what an agent changed", () => {
	test("is committed to its branch, new files too, and its directory is removed", async () => {
		const it = await repo();
		const before = await it.state();
		const record = await it.open();
		await it.write("src/a.txt", "one\n2\nthree\nfour\n", record.root);
		await it.write("src/new.txt", "new\n", record.root);
		await it.write("ignored/x", "x", record.root);
		expect(await closed(it, record)).toEqual({
			isGone: true,
			report: {
				branch: "pi-subagents/a1",
				base: record.base,
				files: 2,
				insertions: 3,
				deletions: 1,
				merge: "git merge pi-subagents/a1",
			},
		});
		expect(await it.state()).toEqual(before);
		expect(await it.run(["log", "-1", "--format=%s|%an", "pi-subagents/a1"])).toBe("mend the parser|Ada");
		expect(await it.run(["log", "-1", "--format=%b", "pi-subagents/a1"])).toMatch(
			/Agent a1 \(coder\), asked:\nMend it\./,
		);
		await it.run(["merge", "--quiet", "pi-subagents/a1"]);
		expect(await it.read("src/new.txt")).toBe("new\n");
	});

	test("is nothing: its directory and its branch are gone", async () => {
		const it = await repo();
		const record = await it.open();
		expect(await closed(it, record)).toEqual({ isGone: true, report: { base: record.base, ...NOTHING } });
		expect(await it.branches()).toEqual(["main"]);
		expect(await it.run(["worktree", "list", "--porcelain"])).not.toContain(record.root);
	});

	if (isFullRun)
		test("is told in the same way when it is closed again", async () => {
			const it = await repo();
			const record = await it.open();
			await it.write("src/new.txt", "new\n", record.root);
			const first = await closed(it, record);
			expect(await closed(it, record)).toEqual(first);
			const unchanged = await it.open({ id: "a2" });
			expect(await closed(it, unchanged)).toEqual(await closed(it, unchanged));
		});

	test("survives that whoever closed it was killed at any step", async () => {
		const it = await repo();
		for (const [index, after] of ["add", "write-tree", "commit-tree", "update-ref", "diff", "worktree"].entries()) {
			const record = await it.open({ id: `k${index}` });
			await it.write("src/new.txt", `${after}\n`, record.root);
			let isDead = false;
			const dying: typeof it.git = async (args, options) => {
				if (isDead) return new Promise(() => {});
				const said = await it.git(args, options);
				isDead ||= args[0] === after;
				return isDead ? new Promise(() => {}) : said;
			};
			void closeWorktree(record, { git: dying });
			await expect.poll(() => isDead).toBe(true);
			expect(await closeWorktree(record, { git: it.git })).toMatchObject({
				branch: record.branch,
				files: 1,
				insertions: 1,
			});
			expect(await show(it, `${record.branch}:src/new.txt`)).toBe(after);
			expect(await it.run(["rev-list", "--count", `main..${record.branch}`])).toBe("1");
		}
	});

	test("is kept although hooks fail, no identity is known and commits must be signed", async () => {
		const it = await repo();
		await writeFile(
			join(it.home, "gitconfig"),
			"[user]\n\tuseConfigOnly = true\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n",
		);
		for (const name of ["pre-commit", "commit-msg", "reference-transaction"]) {
			await mkdir(join(it.main, ".git", "hooks"), { recursive: true });
			await writeFile(join(it.main, ".git", "hooks", name), "#!/bin/sh\nexit 1\n");
			await chmod(join(it.main, ".git", "hooks", name), 0o755);
		}
		const record = await it.open();
		await it.write("src/new.txt", "new\n", record.root);
		expect((await closed(it, record)).report).toMatchObject({ branch: "pi-subagents/a1", files: 1 });
		expect(await it.run(["log", "-1", "--format=%an <%ae>", "pi-subagents/a1"])).toBe(
			"pi-subagents <pi-subagents@localhost>",
		);
	});

	test("stays in its directory on a full disk, and is committed when there is room again", async () => {
		const it = await repo();
		const record = await it.open();
		await it.write("src/new.txt", "new\n", record.root);
		const report = await closeWorktree(record, { git: await withFullDisk(it) });
		expect(report).toMatchObject({ branch: "pi-subagents/a1", path: record.root, ...NOTHING });
		expect(report.problems?.join()).toContain(`They are in ${record.root}`);
		expect(await it.read("src/new.txt", record.root)).toBe("new\n");
		expect(await closed(it, record)).toMatchObject({ isGone: true, report: { files: 1 } });
	});

	test("is kept although the agent left a lock, or removed the link to the repository", async () => {
		const it = await repo();
		const record = await it.open();
		await it.write("src/new.txt", "new\n", record.root);
		await writeFile(join(record.gitDir ?? "", "index.lock"), "");
		await rm(join(record.root, ".git"));
		expect(await closed(it, record)).toMatchObject({ isGone: true, report: { files: 1 } });
		expect(await it.run(["worktree", "list", "--porcelain"])).not.toContain(record.root);
	});

	if (isFullRun)
		test("is kept although files cannot be read: those stay in its directory", async () => {
			const it = await repo();
			const record = await it.open();
			await it.write("src/new.txt", "new\n", record.root);
			await mkdir(join(record.root, "inner"));
			await it.run(["init", "--quiet"], join(record.root, "inner")); // git refuses a repository without a commit
			const { report, isGone } = await closed(it, record);
			expect(report).toMatchObject({ branch: "pi-subagents/a1", path: record.root, files: 1 });
			expect(report.problems?.join()).toMatch(/could not be taken/);
			expect(isGone).toBe(false);
		});
});

describe("an agent that uses git itself", () => {
	const commit = async (it: Repo, root: string, name: string) => {
		await it.write(name, `${name}\n`, root);
		await it.run(["add", "."], root);
		await it.run(["commit", "--quiet", "-m", name], root);
	};

	test("and commits has its commits on the branch, with what it did not commit on top", async () => {
		const it = await repo();
		const record = await it.open();
		await commit(it, record.root, "one.txt");
		await it.write("two.txt", "two\n", record.root);
		expect((await closed(it, record)).report).toMatchObject({ branch: "pi-subagents/a1", files: 2 });
		expect(await it.run(["log", "--format=%s", "main..pi-subagents/a1"])).toBe("mend the parser\none.txt");
	});

	test("and switches to a branch of its own has its commits there, and the report names it", async () => {
		const it = await repo();
		const record = await it.open();
		await it.run(["checkout", "--quiet", "-b", "feature"], record.root);
		await commit(it, record.root, "one.txt");
		const { report, isGone } = await closed(it, record);
		expect(report).toMatchObject({ branch: "feature", files: 1, merge: "git merge feature" });
		expect(isGone).toBe(true);
		expect(await it.branches()).toEqual(["feature", "main"]);
	});

	if (isFullRun)
		test("and has not committed on a branch of its own has that on ours, and its branch as it was", async () => {
			const it = await repo();
			const record = await it.open();
			await it.run(["checkout", "--quiet", "-b", "feature"], record.root);
			await commit(it, record.root, "one.txt");
			const feature = await it.run(["rev-parse", "feature"]);
			await it.write("two.txt", "two\n", record.root);
			expect((await closed(it, record)).report).toMatchObject({ branch: "pi-subagents/a1", files: 2 });
			expect(await it.run(["rev-parse", "feature"])).toBe(feature);
		});

	if (isFullRun)
		test("and detaches its HEAD has its commits on the branch", async () => {
			const it = await repo();
			const record = await it.open();
			await it.run(["checkout", "--quiet", "--detach"], record.root);
			await commit(it, record.root, "one.txt");
			expect((await closed(it, record)).report).toMatchObject({ branch: "pi-subagents/a1", files: 1 });
		});

	test("and commits on no branch while its checkout is looked at has that on ours", async () => {
		const it = await repo();
		const record = await it.open();
		await it.run(["checkout", "--quiet", "--detach"], record.root);
		let looks = 0;
		const git: Git = async (args, options) => {
			const found = await it.git(args, options);
			if (args.includes("HEAD^{commit}") && looks++ === 0) await commit(it, record.root, "late.txt");
			return found;
		};
		expect(await closeWorktree(record, { git })).toMatchObject({ branch: "pi-subagents/a1", files: 1 });
		expect(await show(it, "pi-subagents/a1:late.txt")).toBe("late.txt");
	});

	test("and leaves two lines of work has both, on two branches", async () => {
		const it = await repo();
		const record = await it.open();
		await commit(it, record.root, "one.txt");
		await it.run(["checkout", "--quiet", "--detach", record.base], record.root);
		await commit(it, record.root, "two.txt");
		const { report } = await closed(it, record);
		expect(report.branch).toBe("pi-subagents/a1-2");
		expect(report.problems?.join()).toContain("pi-subagents/a1-2 and pi-subagents/a1");
		expect(await show(it, "pi-subagents/a1:one.txt")).toBe("one.txt");
		expect(await show(it, "pi-subagents/a1-2:two.txt")).toBe("two.txt");
	});

	if (isFullRun)
		test("and commits, then goes back to where it began, has its commits on the branch", async () => {
			const it = await repo();
			const record = await it.open();
			await commit(it, record.root, "one.txt");
			await it.run(["checkout", "--quiet", "--detach", record.base], record.root);
			expect((await closed(it, record)).report).toMatchObject({ branch: "pi-subagents/a1", files: 1 });
		});

	if (isFullRun)
		test("and only looks at another commit has changed nothing", async () => {
			const it = await repo();
			await commit(it, it.main, "second.txt");
			const record = await it.open();
			await it.run(["checkout", "--quiet", "--detach", "HEAD~1"], record.root);
			expect((await closed(it, record)).report).toEqual({ base: record.base, ...NOTHING });
			expect(await it.branches()).toEqual(["main"]);
		});

	test("and makes a repository inside keeps its directory: only there are its commits", async () => {
		const it = await repo();
		const record = await it.open();
		await mkdir(join(record.root, "inner"));
		await it.run(["init", "--quiet"], join(record.root, "inner"));
		await commit(it, join(record.root, "inner"), "deep.txt");
		const { report, isGone } = await closed(it, record);
		expect(report).toMatchObject({ branch: "pi-subagents/a1", path: record.root });
		expect(report.problems?.join()).toMatch(/inner .*nested repositories/);
		expect(isGone).toBe(false);
	});

	if (isFullRun)
		test("and works in a submodule keeps its directory", async () => {
			const it = await repo();
			const other = await repo();
			await it.run(["submodule", "--quiet", "add", other.main, "lib"]);
			await it.run(["commit", "--quiet", "-m", "lib"]);
			const record = await it.open();
			await it.run(["submodule", "--quiet", "update", "--init"], record.root);
			await commit(it, join(record.root, "lib"), "deep.txt");
			const { report, isGone } = await closed(it, record);
			expect(report.path).toBe(record.root);
			expect(isGone).toBe(false);
			expect(await readFile(join(record.root, "lib", "deep.txt"), "utf8")).toBe("deep.txt\n");
		});
});

describe("the next run of an agent", () => {
	const again = (it: Repo) =>
		openWorktree({
			cwd: it.main,
			dir: it.dir,
			id: "a1",
			run: 2,
			base: "head",
			about: { type: "coder", description: "go on", task: "Go on." },
			sessionCwd: it.main,
			git: it.git,
		});

	test("goes on with its branch", async () => {
		const it = await repo();
		const first = await it.open();
		await it.write("one.txt", "one\n", first.root);
		await closed(it, first);
		const second = await again(it);
		expect(await it.read("one.txt", second.root)).toBe("one\n");
		await it.write("two.txt", "two\n", second.root);
		expect((await closed(it, second)).report).toMatchObject({ branch: "pi-subagents/a1", base: first.base, files: 2 });
		expect(await it.run(["log", "--format=%s", "main..pi-subagents/a1"])).toBe("go on\nmend the parser");
	});

	test("goes on in its directory, where that could not be closed", async () => {
		const it = await repo();
		const first = await it.open();
		await it.write("one.txt", "one\n", first.root);
		await closeWorktree(first, { git: await withFullDisk(it) });
		const second = await again(it);
		expect(second.root).toBe(first.root);
		expect(await it.read("one.txt", second.root)).toBe("one\n");
		expect((await closed(it, second)).report).toMatchObject({ files: 1 });
	});

	test("never touches a directory that git does not know any more", async () => {
		const it = await repo();
		const first = await it.open();
		await it.write("one.txt", "one\n", first.root);
		await rm(first.gitDir ?? "", { recursive: true });
		const report = await closeWorktree(first, { git: it.git });
		expect(report.path).toBe(first.root);
		const second = await again(it);
		expect(second.root).not.toBe(first.root);
		expect(await it.read("one.txt", first.root)).toBe("one\n");
	});

	if (isFullRun)
		test("begins anew where nothing is left of the one before", async () => {
			const it = await repo();
			await closed(it, await it.open());
			await it.write("src/a.txt", "newer\n");
			await it.run(["commit", "--quiet", "-a", "-m", "newer"]);
			expect(await it.read("src/a.txt", (await again(it)).root)).toBe("newer\n");
		});

	test("takes a branch of its own where the user has looked into the one before", async () => {
		const it = await repo();
		const first = await it.open();
		await it.write("one.txt", "one\n", first.root);
		await closed(it, first);
		await it.run(["checkout", "--quiet", "pi-subagents/a1"]);
		const second = await again(it);
		expect(second.branch).toBe("pi-subagents/a1-2");
		expect(await it.read("one.txt", second.root)).toBe("one\n");
	});
});

test("a branch that began with what was not committed is taken over without that", async () => {
	const it = await repo();
	await it.write("src/a.txt", "mine\ntwo\nthree\n");
	const record = await it.open({ base: "dirty" });
	await it.write("src/a.txt", "mine\ntwo\nthree\ntheirs\n", record.root);
	const { report } = await closed(it, record);
	expect(report).toMatchObject({ files: 1, insertions: 1, deletions: 0 });
	await it.run(["commit", "--quiet", "-a", "-m", "mine"]);
	await it.run((report.merge ?? "").split(" ").slice(1));
	expect(await it.read("src/a.txt")).toBe("mine\ntwo\nthree\ntheirs\n");
});

if (isFullRun)
	test("the command to merge says where, for a user who is elsewhere", async () => {
		const it = await repo();
		const record = await it.open({ sessionCwd: it.home });
		await it.write("one.txt", "one\n", record.root);
		expect((await closed(it, record)).report.merge).toBe(`git -C ${it.main} merge pi-subagents/a1`);
	});

describe("a directory that was swapped for a link to another checkout of the user's", () => {
	/** The user works in a worktree of their own, and has not committed. */
	async function swapped() {
		const it = await repo();
		const own = join(it.home, "own");
		await it.run(["worktree", "add", "--quiet", "-b", "own", own]);
		await it.write("mine.txt", "mine\n", own);
		const record = await it.open();
		await rename(record.root, join(it.home, "moved"));
		await symlink(own, record.root);
		return { it, own, record };
	}

	test("is not closed with what lies there, and that stays", async () => {
		const { it, own, record } = await swapped();
		const { report, isGone } = await closed(it, record);
		expect(isGone).toBe(true);
		expect(report).toMatchObject({ files: 0, problems: [expect.stringContaining("is gone")] });
		expect(await it.read("mine.txt", own)).toBe("mine\n");
		expect(await it.run(["status", "--porcelain"], own)).toBe("?? mine.txt");
		expect(await it.branches()).toEqual(["main", "own"]);
	});

	if (isFullRun)
		test("is discarded without what lies there", async () => {
			const { it, own, record } = await swapped();
			await discardWorktree(record, it.git);
			expect(await it.read("mine.txt", own)).toBe("mine\n");
			expect(await it.run(["worktree", "list", "--porcelain"])).toContain(own);
		});
});

test("the command to merge works as it is pasted, whatever the user calls their directories", async () => {
	const it = await repo();
	const main = join(it.home, 'it\'s "my" répo $HOME & 日本');
	await it.run(["clone", "--quiet", it.main, main]);
	const record = await it.open({ cwd: join(main, "src"), sessionCwd: it.home });
	await it.write("new.txt", "new\n", record.root);
	const { report } = await closed(it, record);
	await promisify(execFile)("sh", ["-c", report.merge ?? ""], { cwd: it.home, env: it.env });
	expect(await it.read("new.txt", main)).toBe("new\n");
});
