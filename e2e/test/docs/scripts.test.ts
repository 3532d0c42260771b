/** The scripts that measure the tree and check commits, each against a small tree or repository of its own. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
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
		"ARCHITECTURE.md": "## The path of a call\n\n| 1 | `core/src/a/one.ts` | pi | it |\n",
	};
	for (let index = 0; index < 16; index++) files[`packages/core/test/${index}.test.ts`] = "";
	for (const [path, text] of Object.entries(files)) {
		await mkdir(join(temp.path, dirname(path)), { recursive: true });
		await writeFile(join(temp.path, path), text);
	}
	const printed = await run(process.execPath, ["scripts/shape.mjs", temp.path, "--json"], { cwd: root });
	const figures: { name: string; value: number }[] = JSON.parse(printed);
	expect(Object.fromEntries(figures.map(({ name, value }) => [name, value]))).toEqual({
		"lines of packages/core/src": 6,
		"lines of packages/extension/src": 4,
		"files on the path of a `subagent` call": 1,
		"pairs of folders that import each other": 1,
		"source files under 40 lines with one importer": 1,
		"folders with more than 15 files": 1,
		"exports nobody outside uses": 2,
		"files that spell out seven or more fields of a run": 0,
		"lines that repeat a closed list": 0,
		"exported names with several meanings": 0,
		"source lines in all": 10,
		"source files in all": 5,
	});
	const checked = run(process.execPath, ["scripts/shape.mjs", temp.path, "--check"], { cwd: root });
	await expect(checked).rejects.toThrow("exports nobody outside uses: 2");
	await expect(checked).rejects.not.toThrow("more than 15 files");
});

test("lint finds tests that wait a fixed time, and code that needs a certain directory", async () => {
	await using temp = await createTempDir();
	const fixture = (name: string) => readFile(join(root, "e2e", "fixtures", name), "utf8");
	const [fixed, patient] = [await fixture("fixed-waits.txt"), await fixture("patient-waits.txt")];
	const checked = async (text: string) => {
		await mkdir(join(temp.path, "packages", "core", "test"), { recursive: true });
		await writeFile(join(temp.path, "packages", "core", "test", "a.test.ts"), text);
		return run(process.execPath, ["scripts/waits.mjs", temp.path], { cwd: root });
	};
	await run("git", ["init", "--quiet", temp.path], { cwd: temp.path });
	expect(await checked(patient)).toBe("");
	const said = String(await checked(`${patient}${fixed}`).catch((error: Error) => error.message));
	const lines = [...said.matchAll(/^waits: packages\/core\/test\/a\.test\.ts:(\d+): /gm)].map(([, line]) =>
		Number(line),
	);
	const count = (text: string) => text.split("\n").length - 1;
	const wrong = fixed.split("\n").flatMap((line, index) => (/^\);$|^$/.test(line) ? [] : [count(patient) + index + 1]));
	expect([...new Set(lines)].toSorted((a, b) => a - b)).toEqual(wrong);
});

test("a step of the set-up says what it does, gives a sign of life, and shows the output only if it fails", async () => {
	const step = (code: string) =>
		`import { runStep } from ${JSON.stringify(pathToFileURL(join(root, "scripts/step.mjs")).href)};
		const begunAt = performance.now();
		const { status, output } = await runStep("Building it", process.execPath, ["-e", ${JSON.stringify(code)}]);
		console.log(JSON.stringify({ status, output, isQuick: performance.now() - begunAt < 1_000 }));`;
	const told = async (code: string) => {
		const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", step(code)]);
		return { ...JSON.parse(stdout), stderr };
	};
	const [slow, quick] = await Promise.all([
		told("setTimeout(() => { console.log('why'); process.exitCode = 3; }, 4_500)"),
		told("0"),
	]);
	expect(slow).toMatchObject({ status: 3, output: "why\n" });
	expect(slow.stderr).toMatch(/^Building it …\n( {2}… \d+s\n)+✗ Building it \(\d+s\)\n$/);
	expect(quick).toMatchObject({ status: 0, output: "" });
	if (quick.isQuick) expect(quick.stderr).toBe(""); // on a busy machine even this takes a while
});

/** Those that need a model of the user's are run from tarballs, with a scripted one, in the examples test. */
const NEEDS_MODEL = ["headless-manager", "rpc-extension", "subagent-tool"];

test("every command in an example's README works as written from the clone", async () => {
	const entries = await readdir(join(root, "examples"));
	const names = entries.filter((name) => existsSync(join(root, "examples", name, "README.md")));
	const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
	expect(scripts["example:run"]).toBe("node scripts/example.mjs --build");
	await Promise.all(
		names.map(async (name) => {
			const readme = await readFile(join(root, "examples", name, "README.md"), "utf8");
			const block = /^```sh\n(.*?)^```$/ms.exec(readme)?.[1] ?? "";
			const commands = [block, ...[...block.matchAll(/`(.*?)`/g)].map(([, text]) => text ?? "")].flatMap((text) =>
				text.split("\n").flatMap((line) => /^(npm run example .*?)(?: {2,}#.*)?$/.exec(line)?.[1] ?? []),
			);
			expect(commands.length, `${name}: ${block}`).toBeGreaterThan(0);
			for (const command of commands) {
				expect(command).toMatch(new RegExp(`^npm run example ${name}(?: |$)`));
				if (NEEDS_MODEL.includes(name)) continue;
				const args = command.split(" ").slice(3);
				const printed = await run(process.execPath, ["scripts/example.mjs", ...args], { cwd: root });
				expect(printed.trim(), command).not.toBe("");
			}
		}),
	);
});

test("`npm run example` without a name lists the examples without building anything; a wrong name does that too, and fails", async () => {
	const usage = await run(process.execPath, ["scripts/example.mjs", "--build"], { cwd: root });
	expect(usage).toMatch(/^Usage: npm run example <name> \[arguments\]\n/);
	expect(usage).toMatch(/^ {2}ci-log {2,}the progress formatter in a CI log$/m);
	expect(usage.match(/^ {2}[\w-]+ {2,}\S/gm)).toHaveLength(10);
	const wrong = run(process.execPath, ["scripts/example.mjs", "--build", "nobody"], { cwd: root });
	await expect(wrong).rejects.toThrow(/There is no example "nobody"\.\s+Usage: .*\s+ci-log /);
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
