import { lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isFullRun } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { everyThird } from "../../core/test/fixtures/every-third.ts";
import { closeWorktree } from "../src/index.ts";
import { type Repo, repo } from "./fixture.ts";

/** With installed dependencies and a secret, both ignored. */
async function ready(): Promise<Repo> {
	const it = await repo();
	await it.write(".gitignore", "node_modules/\n.env*\nignored/\n");
	await it.run(["add", "."]);
	await it.run(["commit", "--quiet", "-m", "ignore"]);
	await it.write("node_modules/left-pad/index.js", "pad");
	await it.write("node_modules/.bin/tool", "#!");
	await it.write(".env", "KEY=1");
	await it.write("pkg/.env.local", "KEY=2");
	await it.write("ignored/big.bin", "big");
	return it;
}

const names = async (dir: string) => (await readdir(dir)).sort();

describe("a worktree that is made ready", () => {
	test("has linked directories and copied files, which no commit or diff ever shows", async () => {
		const it = await ready();
		const setup = { link: ["node_modules", ".venv"], include: [".env*"] };
		const record = await it.open({ setup });
		expect(await names(record.root)).toEqual([".env", ".git", ".gitignore", "node_modules", "pkg", "src"]);
		expect(await readFile(join(record.root, "node_modules/left-pad/index.js"), "utf8")).toBe("pad");
		expect((await lstat(join(record.root, "node_modules"))).isDirectory()).toBe(true);
		expect(await readlink(join(record.root, "node_modules", ".bin"))).toBe(join(it.main, "node_modules", ".bin"));
		expect(await readFile(join(record.root, "pkg/.env.local"), "utf8")).toBe("KEY=2");
		expect(record.notes.join(" ")).toMatch(/node_modules: linked from .*; do not change.* 2 ignored files were copied/);
		// The agent commits whatever it finds.
		await writeFile(join(record.root, "new.txt"), "new");
		await it.run(["add", "--all"], record.root);
		await it.run(["commit", "--quiet", "-m", "all of it"], record.root);
		await writeFile(join(record.root, "newer.txt"), "newer");
		const before = await it.state();
		const report = await closeWorktree(record, { git: it.git });
		expect(report).toMatchObject({ files: 2, insertions: 2 });
		expect(await it.run(["diff", "--name-only", record.base, report.branch ?? ""])).toBe("new.txt\nnewer.txt");
		// Removing the checkout follows no link.
		expect(await names(it.dir)).toEqual([`${record.name}.json`]);
		expect(await it.read("node_modules/left-pad/index.js")).toBe("pad");
		expect(await it.read("node_modules/.bin/tool")).toBe("#!");
		expect(await it.state()).toEqual(before);
	});

	test("copies what .worktreeinclude names, where it counts, and only what git ignores", async () => {
		const it = await ready();
		await it.write(".worktreeinclude", "# secrets\n.env\n\nnotes.txt\nsrc/*\n*lock\n");
		await it.write("notes.txt", "not ignored, not committed");
		await it.write(".git/info/exclude", "~*\n");
		await it.write("~$lock", "a file of another program");
		const trusted = await it.open({ setup: { readsIncludeFile: true } });
		expect(await names(trusted.root)).toEqual([".env", ".git", ".gitignore", "src", "~$lock"]);
		expect(await names((await it.open({ id: "b2", setup: {} })).root)).toEqual([".git", ".gitignore", "src"]);
	});

	const refused = [
		["link", "../other"],
		["link", "/etc"],
		["link", "a/../../other"],
		["link", ".git/hooks"],
		["link", ".GIT"],
		["link", "~/.ssh"],
		["link", "out"],
		["link", "src"],
		["include", "../*"],
		["include", "~/.ssh/*"],
		["include", "a\0b"],
	] as const;
	test.each(everyThird(refused, 0))("refuses a %s of %s, and leaves nothing", async (field, path) => {
		const it = await ready();
		await it.write("out-target/key", "secret", it.home);
		await symlink(join(it.home, "out-target"), join(it.main, "out"));
		await it.run(["rm", "-rq", "--cached", "src"]); // so that it would not be in the checkout
		await it.run(["commit", "--quiet", "-m", "less"]);
		await expect(it.open({ setup: { [field]: [path] } })).rejects.toThrow(/cannot be made ready/);
		expect(await names(it.dir)).toEqual([]);
		expect(await it.branches()).toEqual(["main"]);
	});

	test("never copies or links through a tracked link that leads out", async () => {
		const it = await ready();
		await mkdir(join(it.home, "elsewhere"));
		await symlink(join(it.home, "elsewhere"), join(it.main, "sub"));
		await it.run(["add", "sub"]);
		await it.run(["commit", "--quiet", "-m", "a trap"]);
		await it.run(["rm", "-q", "--cached", "sub"]);
		await it.run(["update-index", "--refresh"]);
		await rm(join(it.main, "sub"));
		await it.write("sub/.env", "KEY=3");
		await expect(it.open({ setup: { include: [".env"] } })).rejects.toThrow(/leads out of the checkout/);
		expect(await readdir(join(it.home, "elsewhere"))).toEqual([]);
	});

	test("runs its set-up in the checkout, and fails with its output if that does", async () => {
		const it = await ready();
		const record = await it.open({ setup: { setup: "pwd > ignored.txt; mkdir -p node_modules/made" } });
		expect((await readFile(join(record.root, "ignored.txt"), "utf8")).trim()).toBe(record.root);
		await expect(it.open({ id: "b2", setup: { setup: ["sh", "-c", "echo no such package; exit 4"] } })).rejects.toThrow(
			/setup: sh -c 'echo no such package; exit 4' exited with code 4\nno such package/,
		);
		await expect(it.open({ id: "b3", setup: { setup: "sleep 100", setupTimeoutMs: 100 } })).rejects.toThrow(
			/took too long/,
		);
		expect(await names(it.dir)).toEqual([record.name, `${record.name}.json`]);
		expect(await it.branches()).toEqual(["main", record.branch]);
	});

	test("that is stopped during its set-up leaves nothing", async () => {
		const it = await ready();
		const stopping = new AbortController();
		const opening = it.open({ signal: stopping.signal, setup: { setup: "touch ../began; sleep 100" } });
		for (;;) if ((await readdir(it.dir).catch((): string[] => [])).includes("began")) break;
		stopping.abort();
		await expect(opening).rejects.toThrow();
		expect(await names(it.dir)).toEqual(["began"]);
	});

	if (isFullRun)
		test("of a sparse checkout has the same directories, and loses nothing of the others", async () => {
			const it = await ready();
			await it.write("docs/guide.md", "guide");
			await it.run(["add", "docs"]);
			await it.run(["commit", "--quiet", "-m", "docs"]);
			await it.run(["sparse-checkout", "set", "src"]);
			const record = await it.open({ setup: { link: ["node_modules"] } });
			const seen = await names(record.root);
			await writeFile(join(record.root, "src/b.txt"), "b");
			const report = await closeWorktree(record, { git: it.git });
			expect(report).toMatchObject({ files: 1, deletions: 0 });
			expect(await it.run(["ls-tree", "--name-only", report.branch ?? ""])).toContain("docs");
			expect(seen).toEqual([".git", ".gitignore", "node_modules", "src"]);
		});

	test("copies no link, no repository and nothing of .git, whatever the pattern; links in a circle do no harm", async () => {
		const it = await ready();
		await symlink("/etc", join(it.main, "ignored", "etc"));
		await symlink("/etc/hostname", join(it.main, "ignored", "hostname"));
		await it.write("ignored/inner/.env", "KEY=4");
		await it.run(["init", "--quiet"], join(it.main, "ignored", "inner"));
		const setup = "ln -s two one; ln -s one two; ln -s . ignored/here; ln -s .. up";
		const include = ["**", ".git/*", "/.git", "ignored/etc/*", "!src"];
		const record = await it.open({ setup: { include, setup } });
		expect(await names(join(record.root, "ignored"))).toEqual(["big.bin", "here"]);
		expect((await lstat(join(record.root, ".git"))).isFile()).toBe(true);
		const report = await closeWorktree(record, { git: it.git });
		expect(await it.run(["diff", "--name-only", record.base, report.branch ?? ""])).toBe("one\ntwo\nup");
		expect(await names(it.dir)).toEqual([`${record.name}.json`]);
		expect(await it.read("ignored/inner/.env")).toBe("KEY=4");
	});

	if (isFullRun)
		test("makes no directory where a tracked link leads out of the checkout", async () => {
			const it = await ready();
			const outside = join(it.home, "outside");
			await mkdir(outside);
			await rm(join(it.main, "pkg"), { recursive: true });
			await symlink(outside, join(it.main, "pkg"));
			await it.run(["add", "pkg"]);
			await it.run(["commit", "--quiet", "-m", "a link"]);
			await it.run(["rm", "--quiet", "--cached", "pkg"]);
			await rm(join(it.main, "pkg"));
			await it.write("pkg/deep/.env", "KEY=3");
			const failed = it.open({ setup: { include: [".env*"] } });
			await expect(failed).rejects.toThrow("leads out of the checkout");
			expect(await names(outside)).toEqual([]);
		});
});
