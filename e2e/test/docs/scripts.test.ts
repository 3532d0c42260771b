/** The scripts that measure the tree and check commits, each against a small tree or repository of its own. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { root, run } from "../../support/packages/packed.ts";

test("`npm run shape` counts what it says", async () => {
	await using temp = await createTempDir("pi-shape-");
	const files: Record<string, string> = {
		"packages/core/package.json": JSON.stringify({
			name: "@pi-subagents/core",
			exports: { ".": { "@pi-subagents/source": "./src/index.ts" } },
		}),
		"packages/core/src/index.ts":
			'export { type Inner, loaded, type Lonely, type Named, used, unused } from "./a/one.ts";\n',
		"packages/core/src/a/one.ts":
			'import { two } from "../b/two.ts";\nexport const used = two;\nexport const unused = 1;\n',
		"docs/api/core.api.md": [
			"export declare function used(unused: Named): void;",
			"export declare function unused(): Lonely;",
			"export interface Named {\n\tinner: Inner;\n}",
			"export interface Inner {}",
			"export interface Lonely {}",
		].join("\n\n"),
		"packages/core/src/b/two.ts": 'import type { used } from "../a/one.ts";\nexport const two = 2 as typeof used;\n',
		"packages/extension/package.json": JSON.stringify({ name: "@pi-subagents/extension" }),
		"packages/extension/src/index.ts":
			'import { used } from "@pi-subagents/core";\nimport { load } from "./core.lazy.ts";\nload().loaded(used);\n',
		"packages/extension/src/core.lazy.ts": 'export const load = () => import("@pi-subagents/core");\n',
		"ARCHITECTURE.md": "## The way of a call\n\n| 1 | `core/src/a/one.ts` | pi | it |\n",
	};
	for (let index = 0; index < 16; index++) files[`packages/core/test/${index}.test.ts`] = "";
	for (const [path, text] of Object.entries(files)) {
		await mkdir(join(temp.path, dirname(path)), { recursive: true });
		await writeFile(join(temp.path, path), text);
	}
	const printed = await run(process.execPath, ["scripts/shape.mjs", temp.path, "--json"], { cwd: root });
	const figures: { name: string; value: number }[] = JSON.parse(printed);
	expect(Object.fromEntries(figures.map(({ name, value }) => [name, value]))).toEqual({
		"lines of packages/extension/src": 4,
		"files of packages/extension/src": 2,
		"files on the way of a `subagent` call": 1,
		"pairs of folders that import each other": 1,
		"source files under 40 lines with one importer": 1,
		"folders with more than 15 files": 1,
		"exports nobody outside uses": 2,
		"source lines in all": 10,
		"source files in all": 5,
	});
	const checked = run(process.execPath, ["scripts/shape.mjs", temp.path, "--check"], { cwd: root });
	await expect(checked).rejects.toThrow(
		/folders with more than 15 files: 1, target 0\n {4}packages\/core\/test \(16\)/,
	);
	await expect(checked).rejects.not.toThrow("extension/src");
});

test("commit subjects are checked from the newest change of the script on", async () => {
	await using temp = await createTempDir("pi-commits-");
	const cwd = temp.path;
	const check = () => run(process.execPath, ["scripts/commits.mjs", cwd], { cwd: root });
	const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"];
	const commit = (subject: string) =>
		run("git", [...identity, "commit", "--quiet", "--no-verify", "--allow-empty", `--message=${subject}`], { cwd });
	await expect(check()).resolves.toBe(""); // no repository
	await run("git", ["init", "--quiet"], { cwd });
	await commit("an old subject");
	await mkdir(join(cwd, "scripts"));
	await writeFile(join(cwd, "scripts/commits.mjs"), "");
	await run("git", ["add", "."], { cwd });
	await commit("Add the script");
	await commit("fix(core)!: keep partial output when the provider aborts");
	await commit("docs: name the decision");
	await expect(check()).resolves.toBe("");
	await commit(`feat(tools): ${"x".repeat(60)}`);
	await expect(check()).rejects.toThrow("has 73 of 72 characters");
	await commit("wip");
	await expect(check()).rejects.toThrow('"wip" should read like');
});
