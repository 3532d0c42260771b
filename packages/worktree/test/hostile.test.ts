/** Repositories that a stranger, or an agent, has set up to make git run something. Whatever runs leaves a file in the home. */
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import {
	applyWorktree,
	checkWorktree,
	closeWorktree,
	createCheckoutGuard,
	diffWorktree,
	listWorktrees,
	markOf,
	NeedsOwnSettings,
} from "../src/index.ts";
import { type Repo, repo } from "./fixture.ts";

const refused = (text: RegExp) => ({ name: "AgentError", code: "no_worktree", message: expect.stringMatching(text) });
const all = () => "*" as const;

const ran = async ({ home }: Repo) => (await readdir(home)).filter((name) => name.startsWith("ran-")).sort();

/** A program that says that it ran, and as a filter passes on what it is given. */
async function program({ home }: Repo, name: string, { isFilter = true } = {}): Promise<string> {
	const path = join(home, `program-${name}`);
	await writeFile(path, `#!/bin/sh\ntouch '${home}/ran-${name}'\n${isFilter ? "exec cat\n" : ""}`);
	await chmod(path, 0o755);
	return `'${path}'`;
}

/** A file that needs a filter, which stands in the configuration of the repository or of the user. */
async function withFilter(it: Repo, scope: "--local" | "--global", name = "vault"): Promise<string> {
	await it.write("x.enc", "stored\n");
	await it.write(".gitattributes", `*.enc filter=${name}\n`);
	await it.run(["add", "."]);
	await it.run(["commit", "--quiet", "-m", "vault"]);
	const path = await program(it, name);
	for (const key of ["smudge", "clean"]) await it.run(["config", scope, `filter.${name}.${key}`, path]);
	return path;
}

/** A directory with all that a git directory has, whose settings run something. */
async function embedded(it: Repo, path: string, worktree = "."): Promise<string> {
	const dir = join(it.main, path);
	await mkdir(join(dir, "refs", "heads"), { recursive: true });
	await mkdir(join(dir, "objects"), { recursive: true });
	await writeFile(join(dir, "HEAD"), "ref: refs/heads/main\n");
	const filter = await program(it, "embedded");
	await writeFile(
		join(dir, "config"),
		`[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${worktree}\n\tfsmonitor = ${filter}\n[filter "x"]\n\tsmudge = ${filter}\n\tclean = ${filter}\n`,
	);
	await writeFile(join(dir, ".gitattributes"), "* filter=x\n");
	return dir;
}

describe("a git directory among the files of a repository", () => {
	test.each([".", "../.."])("is never opened, also where it claims the files of %s", async (worktree) => {
		const it = await repo();
		const dir = await embedded(it, "vendor/lib", worktree);
		await it.run([`--git-dir=${dir}`, "-c", "core.fsmonitor=false", "commit", "--allow-empty", "-qm", "x"], dir);
		await mkdir(join(dir, "sub"));
		for (const cwd of [dir, join(dir, "sub")]) {
			await expect(checkWorktree(cwd, { git: it.git })).rejects.toMatchObject(refused(/never opened/));
			await expect(it.open({ cwd })).rejects.toMatchObject(refused(/never opened/));
			// Gits before 2.38 do not know the setting that forbids it.
			const old: typeof it.git = (args, options) =>
				it.git(args, { ...options, config: { ...options.config, "safe.bareRepository": "all" } });
			await expect(it.open({ cwd, git: old })).rejects.toMatchObject(refused(/never opened/));
		}
		expect(await ran(it)).toEqual([]);
	});
});

describe("a filter", () => {
	test("that only the repository's own configuration defines is refused by name, before anything is made", async () => {
		const it = await repo();
		await withFilter(it, "--local");
		const before = await it.state();
		await expect(checkWorktree(it.main, { git: it.git })).rejects.toBeInstanceOf(NeedsOwnSettings);
		await expect(it.open()).rejects.toMatchObject(refused(/need filter\.vault\.smudge, filter\.vault\.clean/));
		await expect(it.open({ base: "dirty" })).rejects.toMatchObject(refused(/filter\.vault/));
		expect(await ran(it)).toEqual([]);
		expect(await it.branches()).toEqual(["main"]);
		expect(await readdir(it.dir)).toEqual([]);
		expect(await it.state()).toEqual(before);
	});

	test("that the user trusts the repository with works, and one that they allowed with this very value", async () => {
		const it = await repo();
		const path = await withFilter(it, "--local");
		const marks = ["smudge", "clean"].map((key) => markOf({ name: `filter.vault.${key}`, value: path }));
		await it.open({ allows: () => marks });
		expect(await ran(it)).toEqual(["ran-vault"]);
		await it.run(["config", "filter.vault.smudge", await program(it, "other")]);
		await expect(it.open({ id: "a2", allows: () => marks })).rejects.toMatchObject(refused(/filter\.vault\.smudge,/));
		expect(await ran(it)).toEqual(["ran-vault"]);
		await it.open({ id: "a3", allows: all });
		expect(await ran(it)).toEqual(["ran-other", "ran-vault"]);
	});

	test("of the user's own configuration works at both ends, whatever the repository says of it", async () => {
		const it = await repo();
		await withFilter(it, "--global");
		for (const key of ["smudge", "clean"]) await it.run(["config", `filter.vault.${key}`, await program(it, "theirs")]);
		const record = await it.open();
		expect(await ran(it)).toEqual(["ran-vault"]);
		await it.write("y.enc", "made by the agent\n", record.root);
		const report = await closeWorktree(record, { git: it.git });
		expect(report).toMatchObject({ branch: "pi-subagents/a1", files: 1 });
		expect(report.problems).toBeUndefined();
		expect(await ran(it)).toEqual(["ran-vault"]);
		// Nothing can take this one back: git would use neither it nor the user's.
		await it.run(["config", "filter.vault.process", await program(it, "theirs")]);
		await expect(it.open({ id: "a2" })).rejects.toMatchObject(refused(/need filter\.vault\.process,/));
	});

	test("that an agent asks for in the end is not run: its changes stay where they are, and it is named", async () => {
		const it = await repo();
		for (const key of ["smudge", "clean"]) await it.run(["config", `filter.vault.${key}`, await program(it, "vault")]);
		const record = await it.open();
		await it.write(".gitattributes", "* filter=vault\n", record.root);
		const report = await closeWorktree(record, { git: it.git });
		expect(report).toMatchObject({ path: record.root, problems: [expect.stringMatching(/need filter\.vault/)] });
		expect((await listWorktrees({ agentDir: it.dir, dir: it.dir, git: it.git }))[0]).toMatchObject({ isChanged: true });
		expect(await ran(it)).toEqual([]);
		expect(await closeWorktree(record, { git: it.git, allows: "*" })).toMatchObject({ files: 1 });
		expect(await ran(it)).toEqual(["ran-vault"]);
	});

	test("that comes into force only on the agent's branch is refused, too", async () => {
		const it = await repo();
		await withFilter(it, "--global", "none"); // only for the file and its attributes
		await it.run(["config", "--global", "--remove-section", "filter.none"]);
		const path = await program(it, "branch");
		await writeFile(join(it.main, ".git", "more"), `[filter "none"]\n\tsmudge = ${path}\n\tclean = ${path}\n`);
		await it.run(["config", "includeIf.onbranch:pi-subagents/**.path", "more"]);
		await expect(it.open()).rejects.toMatchObject(refused(/filter\.none\.smudge/));
		expect(await ran(it)).toEqual([]);
	});
});

test("a partial clone fetches nothing that it lacks, and the settings that it would need are named", async () => {
	const it = await repo();
	await it.run(["config", "uploadpack.allowFilter", "true"]);
	const clone = join(it.home, "clone");
	await it.run(["clone", "--quiet", "--no-checkout", "--filter=blob:none", pathToFileURL(it.main).href, clone]);
	const ssh = await program(it, "ssh");
	for (const [key, value] of [
		["core.sshCommand", ssh],
		["remote.origin.url", "ssh://stranger.example/x"],
		["remote.origin.uploadpack", ssh],
	] as const)
		await it.run(["config", key, value], clone);
	await expect(checkWorktree(clone, { git: it.git })).rejects.toMatchObject(
		refused(/core\.sshcommand, .*remote\.origin\.url, .*remote\.origin\.promisor/),
	);
	await expect(it.git(["reset", "--hard"], { cwd: clone })).rejects.toThrow();
	expect(await ran(it)).toEqual([]);
	await it.run(["config", "remote.origin.url", pathToFileURL(it.main).href], clone);
	await it.run(["config", "--unset", "remote.origin.uploadpack"], clone);
	const record = await it.open({ cwd: clone, allows: all });
	expect(await it.read("src/a.txt", record.root)).toBe("one\ntwo\nthree\n");
});

test("neither viewing nor applying the changes runs a program of the repository", async () => {
	const it = await repo();
	await it.write(".gitattributes", "* diff=show merge=join\n");
	await it.run(["add", "."]);
	await it.run(["commit", "--quiet", "-m", "attributes"]);
	await it.run(["config", "diff.show.textconv", await program(it, "textconv")]);
	await it.run(["config", "diff.show.command", await program(it, "diff")]);
	await it.run(["config", "diff.external", await program(it, "external")]);
	await it.run(["config", "merge.join.driver", await program(it, "merge")]);
	await it.run(["config", "core.pager", await program(it, "pager")]);
	const record = await it.open();
	await it.write("src/a.txt", "one\ntwo\nagent\n", record.root);
	expect(await diffWorktree(record, it.git)).toContain("+agent");
	await closeWorktree(record, { git: it.git });
	expect(await diffWorktree(record, it.git)).toContain("+agent");
	await it.write("src/a.txt", "user\ntwo\nthree\n");
	expect(await applyWorktree(record, { git: it.git })).toEqual({ files: [], conflicts: ["src/a.txt"] });
	expect(await it.read("src/a.txt")).toBe("user\ntwo\nthree\n");
	expect(await ran(it)).toEqual([]);
});

describe("a repository inside of a checkout", () => {
	/** As an agent could write it, file by file. */
	async function nest(it: Repo, top: string): Promise<void> {
		const trap = await program(it, "nested");
		await it.run(["init", "--quiet", top]);
		await it.write("a.txt", "a\n", top);
		await it.run(["add", "."], top);
		await it.run(["commit", "--quiet", "-m", "nested"], top);
		await it.run(["config", "filter.x.clean", trap], top);
		await it.run(["config", "core.fsmonitor", await program(it, "monitor", { isFilter: false })], top);
		await it.write(".gitattributes", "* filter=x\n", top);
		await it.write("a.txt", "b\n", top); // as long as before, so that git has to look inside
	}

	test("is not entered when the checkout is looked at, closed, opened again and closed again", async () => {
		const it = await repo();
		const first = await it.open();
		await nest(it, join(first.root, "lib"));
		expect(await closeWorktree(first, { git: it.git })).toMatchObject({ path: first.root });
		const second = await it.open({ run: 2 });
		expect(second.root).toBe(first.root);
		await it.write("src/a.txt", "again\n", second.root);
		expect(await listWorktrees({ agentDir: it.dir, dir: it.dir, git: it.git })).toMatchObject([{ isChanged: true }]);
		await diffWorktree(second, it.git);
		const report = await closeWorktree(second, { git: it.git });
		expect(report).toMatchObject({ path: first.root, files: 2 });
		expect(report.problems?.join()).toContain("Git does not store the files of lib");
		expect(await ran(it)).toEqual([]);
	});

	test("of the user's is not entered either, when an agent begins with what lies there or runs a command", async () => {
		const it = await repo();
		for (const name of ["lib", "same"]) await nest(it, join(it.main, name));
		await it.run(["add", "."]);
		await it.run(["commit", "--quiet", "-m", "lib"]);
		await it.run(["commit", "--quiet", "--allow-empty", "-m", "next"], join(it.main, "lib"));
		const at = await it.run(["rev-parse", "HEAD"], join(it.main, "lib"));
		for (const name of await ran(it)) await rm(join(it.home, name)); // the user's own git may
		const record = await it.open({ base: "dirty" });
		expect(await it.run(["ls-tree", record.base, "lib"])).toContain(at);
		const guard = createCheckoutGuard({ root: record.root, watches: [it.main] }, { git: it.git });
		const call = { id: "1", tool: "bash", input: { command: "true" }, cwd: record.cwd };
		await guard.before(call);
		expect(await guard.after(call)).toBeUndefined();
		expect(await ran(it)).toEqual([]);
	});

	test("holds what only it holds: files in the directory of a submodule keep the checkout", async () => {
		const it = await repo();
		const lib = await repo();
		await it.run(["submodule", "--quiet", "add", lib.main, "lib"]);
		await it.run(["commit", "--quiet", "-m", "lib"]);
		const record = await it.open();
		await it.write("lib/made.txt", "made\n", record.root);
		expect(await closeWorktree(record, { git: it.git })).toMatchObject({ path: record.root });
		expect(await it.read("lib/made.txt", record.root)).toBe("made\n");
	});
});
