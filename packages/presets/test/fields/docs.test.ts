import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { fields, fieldsMarkdown, findField, lint } from "../../src/index.ts";
import { preset, tree } from "../support.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

test("FIELDS.md is what the table says", async () => {
	expect(await readFile(join(root, "FIELDS.md"), "utf8")).toBe(fieldsMarkdown());
});

test("no two fields share a spelling, and every spelling finds its field", () => {
	const spellings = fields.flatMap((field) => [field.name, ...field.aliases].map((name) => ({ field, name })));
	for (const { field, name } of spellings) {
		expect(findField(name)).toBe(field);
		expect(findField(name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()))).toBe(field);
		expect(findField(name.replaceAll("_", "-"))).toBe(field);
	}
	expect(new Set(spellings.map(({ name }) => name.replaceAll("_", ""))).size).toBe(spellings.length);
});

test("the README is short, and its example runs", async () => {
	const readme = await readFile(join(root, "README.md"), "utf8");
	expect(readme.split("\n").length).toBeLessThanOrEqual(61);
	const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
	const home = await tree({ ".pi/agent/subagents/scout.md": preset("scout"), ".pi/agent/subagents/bad.md": "no" });
	const { stdout } = await run(
		process.execPath,
		[
			"--conditions=@pi-subagents/source",
			"--input-type=module-typescript",
			"--disable-warning=ExperimentalWarning",
			"-e",
			example,
		],
		{ cwd: root, env: { ...process.env, HOME: home } },
	);
	expect(stdout).toMatch(/^scout: About scout$/m);
	expect(stdout).toMatch(/bad\.md:1 the file has no frontmatter/);
});

test("the preset of the README has no finding, so a call need not name its model", async () => {
	const readme = await readFile(join(root, "README.md"), "utf8");
	const home = await tree({ "subagents/repo-scout.md": /```md\n([\s\S]*?)```/.exec(readme)?.[1] ?? "" });
	const { presets, problems } = await lint({ cwd: home, agentDir: home });
	expect([presets.map(({ name }) => name), problems]).toEqual([["repo-scout"], []]);
});
