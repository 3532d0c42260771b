import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { hideFromGit } from "../../core/src/files/git-ignore.ts";
import { setUp } from "../../core/test/fixtures/manager.ts";
import { prepareRunsDir, recordRuns } from "../src/index.ts";

async function repository(name: string) {
	const temp = await createTempDir();
	onTestFinished(temp.remove);
	const dir = join(temp.path, ...name.split("/"));
	await mkdir(dir, { recursive: true });
	const git = (...args: string[]) => execFileSync("git", args, { cwd: temp.path, encoding: "utf8" });
	git("init", "-q");
	/** As the repository brings it: its content, or a link to what is not there. */
	const bring = async (ignore: string | undefined) => {
		if (ignore === "link") await symlink(join(temp.path, "rules"), join(dir, ".gitignore"));
		else if (ignore !== undefined) await writeFile(join(dir, ".gitignore"), ignore);
		git("add", "-A");
	};
	/** What it sees that is not in its index. */
	const seen = () => git("status", "--porcelain", "--untracked-files=all").match(/^\?\? .*/gm) ?? [];
	return { root: temp.path, dir, bring, seen, git };
}

const BROUGHT = ["!*\n", "*\n!*.log\n", "link", undefined];

test.each(BROUGHT)("git sees nothing of a run where the project says %j about its runs", async (ignore) => {
	const { root, dir, bring, seen, git } = await repository(".pi/subagents/runs");
	await bring(ignore);
	const prepared = await prepareRunsDir(root);
	expect(prepared).toEqual({ dir });
	const { manager, spawn } = setUp();
	const recorder = recordRuns({ store: manager.store, specOf: (id) => manager.specOf(id), report: () => undefined });
	spawn({ runsDir: dir }).run.answer("Done.");
	await recorder.flush();
	expect(await readdir(join(dir, "a1"))).toContain("transcript.log");
	expect(seen()).toEqual([]);
	git("add", "-A");
	expect(git("ls-files")).not.toContain("a1");
	expect(existsSync(join(root, "rules"))).toBe(false);
});

test.each([...BROUGHT, "", "# nothing\n"])(
	"git sees nothing of a directory that is hidden, whatever %j was there",
	async (ignore) => {
		const { dir, bring, seen, root } = await repository("kept");
		await bring(ignore);
		hideFromGit(dir);
		await writeFile(join(dir, "secret.log"), "x");
		expect(seen()).toEqual([]);
		expect((await lstat(join(dir, ".gitignore"))).isFile()).toBe(true);
		expect((await lstat(join(dir, ".gitignore"))).mode & 0o777).toBe(0o600);
		expect(existsSync(join(root, "rules"))).toBe(false);
		expect((await readdir(dir)).sort()).toEqual([".gitignore", "secret.log"]);
	},
);

test("one that hides everything stays as it is", async () => {
	const { dir, bring } = await repository("kept");
	await bring("# mine\n*\n");
	hideFromGit(dir);
	expect(await readFile(join(dir, ".gitignore"), "utf8")).toBe("# mine\n*\n");
});
