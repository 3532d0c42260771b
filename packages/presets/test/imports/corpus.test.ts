/** A folder of agent files as people have them: all are read, and nothing has to be corrected. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "../../src/cli/cli.ts";
import { findPreset, parsePreset } from "../../src/index.ts";
import { claude, put, tree } from "../support.ts";
import { corpus } from "./corpus.ts";

test("all 2,923 files of the corpus are presets, without an error", () => {
	const files = corpus();
	expect(files).toHaveLength(2923);
	for (const { path, text } of files) {
		const { preset, problems } = parsePreset(text, { path: `/x/${path}`, source: claude, nested: true });
		expect([preset === undefined, problems.filter(({ severity }) => severity === "error")], text).toEqual([false, []]);
		const written = /^name: (.*)$/m.exec(text)?.[1] ?? "";
		expect(findPreset(preset === undefined ? [] : [preset], written), written).toBe(preset);
	}
});

test("`pi-presets lint` over a folder of them exits with 0, wherever the folder is; with 1 when a limit is mistyped", async () => {
	const root = await tree();
	const files = corpus({ nth: 10 });
	for (const folder of [".claude/agents", "collection"])
		for (const { path, text } of files) await put(join(root, folder, path), text);
	const run = async (...args: string[]) => {
		const out: string[] = [];
		const world = { cwd: root, home: root, env: {}, version: () => "0", err: () => {} };
		const code = await runCli(args, { ...world, out: (text) => out.push(text) });
		return { code, summary: out.join("").trimEnd().split("\n").at(-1) };
	};
	const fine = {
		code: 0,
		summary: expect.stringMatching(new RegExp(`^${files.length} presets, 0 errors, \\d+ warnings$`)),
	};
	expect(await run("lint", ".claude/agents")).toEqual(fine);
	expect(await run("lint", "collection", "--as", "claude")).toEqual(fine);
	expect(await run("lint", "collection", "--as", "clade")).toMatchObject({ code: 2 });
	await put(join(root, ".claude/agents/team/typo.md"), "---\nname: typo\ndescription: d\ntoolz: Read\n---\nx");
	expect(await run("lint", ".claude/agents")).toMatchObject({
		code: 1,
		summary: expect.stringContaining(", 1 error, "),
	});
});
