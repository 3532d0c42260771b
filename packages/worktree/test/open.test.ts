import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, realpath, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isFullRun } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { AgentError } from "../../core/src/index.ts";
import type { Git } from "../src/git.ts";
import { checkWorktree, closeWorktree, createCheckoutGuard, gitWith } from "../src/index.ts";
import { repo, withFullDisk } from "./fixture.ts";

const refused = (text: RegExp) => ({ name: "AgentError", code: "no_worktree", message: expect.stringMatching(text) });

describe("a place that can have no worktree is refused, and says why", () => {
	test("without git", async () => {
		const { main, home } = await repo();
		const git = gitWith({ PATH: join(home, "nothing") });
		await expect(checkWorktree(main, { git })).rejects.toMatchObject(refused(/git is not installed/));
	});

	test("in no repository", async () => {
		const { home, git } = await repo();
		await mkdir(join(home, "plain"));
		await expect(checkWorktree(join(home, "plain"), { git })).rejects.toMatchObject(refused(/not in a git repository/));
		await expect(checkWorktree(join(home, "plain"), { git })).rejects.toBeInstanceOf(AgentError);
	});

	test("in a bare repository, and in a repository's own directory", async () => {
		const { home, main, git, run } = await repo();
		await run(["clone", "--quiet", "--bare", main, join(home, "bare.git")]);
		await expect(checkWorktree(join(home, "bare.git"), { git })).rejects.toMatchObject(refused(/bare repository/));
		await expect(checkWorktree(join(main, ".git"), { git })).rejects.toMatchObject(refused(/own directory/));
	});

	test("without any commit", async () => {
		const { main, git } = await repo({ isEmpty: true });
		await expect(checkWorktree(main, { git })).rejects.toMatchObject(refused(/no commit yet/));
	});

	test("on a full disk, and nothing is left behind", async () => {
		const it = await repo();
		const before = await it.state();
		await expect(it.open({ git: await withFullDisk(it) })).rejects.toMatchObject(refused(/could not be created/));
		expect(await it.branches()).toEqual(["main"]);
		expect(await readdir(it.dir)).toEqual([]);
		expect(await readdir(join(it.main, ".git", "worktrees")).catch(() => [])).toEqual([]);
		expect(await it.state()).toEqual(before);
	});
});

describe("a worktree", () => {
	test("begins with the last commit, on a branch of its own, and leaves the user's checkout alone", async () => {
		const it = await repo();
		await it.write("src/a.txt", "not committed\n");
		const before = await it.state();
		const record = await it.open();
		expect(await it.read("src/a.txt", record.root)).toBe("one\ntwo\nthree\n");
		expect(await it.run(["branch", "--show-current"], record.root)).toBe("pi-subagents/a1");
		expect(record).toMatchObject({ branch: "pi-subagents/a1", main: it.main, cwd: record.root, isSnapshot: false });
		expect(await it.state()).toEqual(before);
	});

	test("takes the user's place in a subdirectory, also where git keeps none", async () => {
		const it = await repo();
		const inside = await it.open({ cwd: join(it.main, "src") });
		expect(inside.cwd).toBe(join(inside.root, "src"));
		await mkdir(join(it.main, "empty"));
		const empty = await it.open({ cwd: join(it.main, "empty"), id: "a2" });
		expect((await stat(empty.cwd)).isDirectory()).toBe(true);
	});

	test("can begin with what lies there: staged, changed, deleted and new files, but none that are ignored", async () => {
		const it = await repo();
		await it.write("gone.txt", "x");
		await it.run(["add", "."]);
		await it.run(["commit", "--quiet", "-m", "second"]);
		await it.write("src/a.txt", "staged\n");
		await it.run(["add", "src/a.txt"]);
		await it.write("src/a.txt", "staged, then changed\n");
		await it.run(["rm", "--quiet", "--cached", "gone.txt"]);
		await it.run(["clean", "--quiet", "--force", "gone.txt"]);
		await it.write("new/file.txt", "new\n");
		await it.write("ignored/secret.txt", "secret");
		const before = await it.state();
		const record = await it.open({ base: "dirty" });
		expect(await it.read("src/a.txt", record.root)).toBe("staged, then changed\n");
		expect(await it.read("new/file.txt", record.root)).toBe("new\n");
		expect((await readdir(record.root)).sort()).toEqual([".git", ".gitignore", "new", "src"]);
		expect(record.isSnapshot).toBe(true);
		expect(await it.run(["rev-parse", `${record.base}^`])).toBe(await it.run(["rev-parse", "HEAD"]));
		expect(await it.state()).toEqual(before);
	});

	if (isFullRun)
		test("that begins with what lies there begins with the last commit where nothing was changed", async () => {
			const it = await repo();
			const record = await it.open({ base: "dirty" });
			expect(record).toMatchObject({ isSnapshot: false, base: await it.run(["rev-parse", "HEAD"]) });
		});

	test("gets another name where its own is taken, also by a branch `pi-subagents`", async () => {
		const it = await repo();
		await it.run(["branch", "pi-subagents/a1"]);
		expect((await it.open()).branch).toBe("pi-subagents/a1-2");
		expect((await it.open()).branch).toBe("pi-subagents/a1-3");
		const other = await repo();
		await other.run(["branch", "pi-subagents"]);
		expect((await other.open()).branch).toBe("pi-subagents-a1");
	});

	if (isFullRun)
		test("works from a detached HEAD", async () => {
			const it = await repo();
			await it.run(["checkout", "--quiet", "--detach"]);
			const record = await it.open();
			expect(await it.run(["branch", "--show-current"], record.root)).toBe("pi-subagents/a1");
		});

	test("of a repository with submodules has none of them, and says so", async () => {
		const it = await repo();
		const other = await repo();
		await it.run(["submodule", "--quiet", "add", other.main, "lib"]);
		await it.run(["commit", "--quiet", "-m", "lib"]);
		const record = await it.open();
		expect(await readdir(join(record.root, "lib"))).toEqual([]);
		expect(record.notes).toEqual(["Submodules are not checked out here."]);
		expect(await closeWorktree(record, { git: it.git })).toEqual({
			base: record.base,
			files: 0,
			insertions: 0,
			deletions: 0,
		});
	});

	if (isFullRun)
		test("leaves large files as pointers, whether git-lfs is installed or not", async () => {
			const it = await repo();
			const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 12345\n`;
			await it.write("big.bin", pointer);
			await it.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
			await it.run(["add", "."]);
			await it.run(["commit", "--quiet", "-m", "big"]);
			for (const key of ["smudge", "clean", "process"])
				await it.run(["config", "--global", `filter.lfs.${key}`, "git-lfs-is-not-here"]);
			await it.run(["config", "--global", "filter.lfs.required", "true"]);
			const record = await it.open();
			expect(await it.read("big.bin", record.root)).toBe(pointer);
			expect(record.notes).toEqual(["Large files (git-lfs) are pointers here, not their content."]);
			await it.write("src/a.txt", "changed\n", record.root);
			expect(await closeWorktree(record, { git: it.git })).toMatchObject({ branch: "pi-subagents/a1", files: 1 });
			expect(await it.run(["show", "pi-subagents/a1:big.bin"])).toBe(pointer.trim());
		});

	test("of a sparse checkout has the same part, and keeps what lies beyond it", async () => {
		const it = await repo();
		await it.write("docs/b.txt", "docs\n");
		await it.run(["add", "."]);
		await it.run(["commit", "--quiet", "-m", "docs"]);
		await it.run(["sparse-checkout", "set", "src"]);
		await it.write("src/new.txt", "dirty\n");
		const before = await it.state();
		const record = await it.open({ base: "dirty" });
		expect((await readdir(record.root)).sort()).toEqual([".git", ".gitignore", "src"]);
		await it.write("other/made.txt", "beyond\n", record.root);
		const report = await closeWorktree(record, { git: it.git });
		expect(report).toMatchObject({ files: 1, insertions: 1 });
		expect(report.problems).toBeUndefined();
		const files = await it.run(["ls-tree", "-r", "--name-only", "pi-subagents/a1"]);
		expect(files.split("\n")).toEqual([".gitignore", "docs/b.txt", "other/made.txt", "src/a.txt", "src/new.txt"]);
		expect(await it.state()).toEqual(before);
	});

	if (isFullRun)
		test("of a repository whose filters fail lies there as git stores it, and says so", async () => {
			const it = await repo();
			await it.write("x.enc", "stored\n");
			await it.write(".gitattributes", "*.enc filter=vault\n");
			await it.run(["add", "."]);
			await it.run(["commit", "--quiet", "-m", "vault"]);
			for (const key of ["smudge", "clean"]) await it.run(["config", `filter.vault.${key}`, "false"]);
			await it.run(["config", "filter.vault.required", "true"]);
			const record = await it.open({ allows: () => "*" });
			expect(await it.read("x.enc", record.root)).toBe("stored\n");
			expect(record.notes.join()).toMatch(/filter of the repository failed/);
			await it.write("y.enc", "made by the agent\n", record.root);
			const report = await closeWorktree(record, { git: it.git });
			expect(report.problems?.join()).toMatch(/filter of the repository/);
			expect(await it.run(["show", "pi-subagents/a1:y.enc"])).toBe("made by the agent");
		});

	test("runs no hooks of the repository, and is not led elsewhere by the environment", async () => {
		const it = await repo();
		const hook = join(it.main, ".git", "hooks", "post-checkout");
		await mkdir(join(it.main, ".git", "hooks"), { recursive: true });
		await writeFile(hook, `#!/bin/sh\ntouch '${it.home}/hooked'\n`);
		await chmod(hook, 0o755);
		const elsewhere = await repo();
		const git = gitWith({ ...it.env, GIT_DIR: join(elsewhere.main, ".git"), GIT_INDEX_FILE: "/nonexistent/index" });
		const record = await it.open({ git });
		expect(record.main).toBe(it.main);
		expect(await stat(join(it.home, "hooked")).catch(() => "none")).toBe("none");
	});

	test("that is stopped while it is made leaves nothing behind", async () => {
		const it = await repo();
		for (const ticks of [0, 1, 5, 20, 60]) {
			const stop = new AbortController();
			const opening = it.open({ signal: stop.signal, id: `t${ticks}` });
			// real time: the moment of the stop
			for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setTimeout(resolve, 1));
			stop.abort(new Error("stopped"));
			await opening.then(
				(record) => closeWorktree(record, { git: it.git }), // it was ready before
				(error: Error) => expect(error.message).toBe("stopped"),
			);
		}
		expect(await it.branches()).toEqual(["main"]);
		expect((await readdir(it.dir)).filter((name) => !name.endsWith(".json"))).toEqual([]);
	});

	test("that is stopped while its files are written rejects once, whichever git ends first", async () => {
		const it = await repo();
		const stop = new AbortController();
		const unhandled: unknown[] = [];
		const note = (error: unknown) => unhandled.push(error);
		process.on("unhandledRejection", note);
		try {
			const git: Git = async (args, options) => {
				if (args[0] === "grep") {
					stop.abort(new Error("stopped"));
					throw stop.signal.reason;
				}
				// A rejection counts as unhandled only after the current turn.
				if (args[0] === "reset") await new Promise((resolve) => setImmediate(resolve));
				return it.git(args, options);
			};
			await expect(it.open({ signal: stop.signal, git })).rejects.toThrow("stopped");
		} finally {
			process.off("unhandledRejection", note);
		}
		expect(unhandled).toEqual([]);
	});

	test("that is stopped while its branch is made lets git end: killed, it could leave a lock in the repository", async () => {
		const it = await repo();
		const stop = new AbortController();
		const ended: string[] = [];
		const git: Git = async (args, options) => {
			const making = it.git(args, options);
			if (args[0] === "update-ref") {
				stop.abort(new Error("stopped"));
				ended.push(await making.then(() => "ended", String));
			}
			return making;
		};
		await expect(it.open({ signal: stop.signal, git })).rejects.toThrow("stopped");
		expect(ended).toEqual(["ended", "ended"]); // made, and taken back
		expect(await it.branches()).toEqual(["main"]);
		expect(await readdir(it.dir)).toEqual([]);
	});

	if (isFullRun)
		test("is reached through a link, too", async () => {
			const it = await repo();
			await symlink(it.main, join(it.home, "link"));
			const record = await it.open({ cwd: join(it.home, "link", "src") });
			expect(record.cwd).toBe(join(await realpath(it.dir), "a1", "src"));
		});

	if (isFullRun)
		test("is no part of a checkout that it lies in itself", async () => {
			const it = await repo();
			const dir = join(it.main, "home", "worktrees");
			await it.write("new.txt", "new\n");
			const first = await it.open({ dir, base: "dirty" });
			const second = await it.open({ dir, base: "dirty", id: "a2" });
			expect((await readdir(second.root)).sort()).toEqual([".git", ".gitignore", "new.txt", "src"]);
			const guard = createCheckoutGuard({ root: first.root, watches: [it.main] }, { git: it.git });
			const call = { id: "1", tool: "bash", input: { command: "true" }, cwd: first.cwd };
			await guard.before(call);
			await it.write("made.txt", "made\n", second.root);
			expect(await guard.after(call)).toBeUndefined();
			expect(await closeWorktree(second, { git: it.git })).toMatchObject({ files: 1 });
		});

	if (isFullRun)
		test("of a worktree of the user's begins with that one's commit", async () => {
			const it = await repo();
			const second = join(it.home, "second");
			await it.run(["worktree", "add", "--quiet", "-b", "topic", second]);
			await it.write("src/a.txt", "topic\n", second);
			await it.run(["commit", "--quiet", "-a", "-m", "topic"], second);
			const record = await it.open({ cwd: second });
			expect(await it.read("src/a.txt", record.root)).toBe("topic\n");
			expect(record.main).toBe(second);
		});
});

test("the fixture's full disk is one", async () => {
	const it = await repo();
	const git = await withFullDisk(it);
	await expect(git(["hash-object", "-w", "--stdin"], { cwd: it.main, input: "x" })).rejects.toThrow();
	await promisify(execFile)("git", ["status"], { cwd: it.main, env: it.env });
});
