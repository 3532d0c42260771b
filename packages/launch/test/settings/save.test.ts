import { writeFileSync } from "node:fs";
import {
	chmod,
	lstat,
	mkdir,
	mkdtemp,
	readdir,
	readFile,
	realpath,
	rm,
	stat,
	symlink,
	writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { editSmallFile } from "@pi-subagents/core/internal/files";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createConfigReader } from "../../src/settings/config.ts";
import { saveSettings } from "../../src/settings/save.ts";

let agentDir: string;
let path: string;

beforeEach(async () => {
	agentDir = await mkdtemp(join(await realpath(tmpdir()), "pi-settings-"));
	path = join(agentDir, "subagents.json");
});
afterEach(() => rm(agentDir, { recursive: true, force: true }));

const content = () => readFile(path, "utf8");

describe("a first save", () => {
	test("makes the file, and the next reading finds what it says", async () => {
		const saved = await saveSettings({ agentDir, changes: { maxDepth: 2, retention: { days: 7 } } });
		expect(saved).toEqual({ path, content: { maxDepth: 2, retention: { days: 7 } } });
		expect(await content()).toBe('{\n\t"maxDepth": 2,\n\t"retention": {\n\t\t"days": 7\n\t}\n}\n');
		const { settings, problems } = createConfigReader(agentDir)({ cwd: agentDir, trust: "unasked" });
		expect(settings).toMatchObject({ maxDepth: 2, retention: { days: 7, megabytes: 500 } });
		expect(problems).toEqual([]);
	});

	test("of a project's settings makes its directory too", async () => {
		const saved = await saveSettings({ project: join(agentDir, "project"), changes: { builtins: false } });
		expect(saved.path).toBe(join(agentDir, "project/.pi/subagents.json"));
		expect(JSON.parse(await readFile(saved.path, "utf8"))).toEqual({ builtins: false });
	});
});

describe("what a save does not change stays", () => {
	const before = `{
  "$schema": "./schema.json",
  "future": { "b": [1, 2], "a": null },
  "maxDepth": 2,
  "__proto__": { "kept": true },
  "retention": { "unknown": 1, "days": 3 },
  "agentOverrides": { "Explore": { "model": "haiku" }, "Plan": { "model": "opus" } }
}
`;

	test("unknown keys, their order and the indentation", async () => {
		await writeFile(path, before);
		await saveSettings({ agentDir, changes: { runner: "process", maxDepth: 3 } });
		const after = await content();
		expect(Object.keys(JSON.parse(after))).toEqual([...Object.keys(JSON.parse(before)), "runner"]);
		expect(JSON.parse(after)).toMatchObject({ future: { b: [1, 2], a: null }, maxDepth: 3, runner: "process" });
		expect(after).toContain('\n  "__proto__": {\n    "kept": true\n  },\n');
		expect(after.endsWith("}\n")).toBe(true);
	});

	test("the neighbours inside a group, also under another spelling of the preset", async () => {
		await writeFile(path, before);
		const changes = { retention: { days: 5 }, agentOverrides: { explore: { model: "sonnet" }, Plan: undefined } };
		expect((await saveSettings({ agentDir, changes })).content).toMatchObject({
			retention: { unknown: 1, days: 5 },
			agentOverrides: { Explore: { model: "sonnet" } },
		});
		expect(await content()).not.toContain("Plan");
	});

	test("undefined takes a setting out; a group goes with its last entry", async () => {
		await writeFile(path, '{"maxDepth": 2, "retention": {"days": 3}, "builtins": false, "agentOverrides": {}}');
		const changes = { maxDepth: undefined, retention: { days: undefined }, agentOverrides: undefined };
		expect((await saveSettings({ agentDir, changes })).content).toEqual({ builtins: false });
	});

	test("the whole file, when it says so already", async () => {
		await writeFile(path, '{"maxDepth":2}');
		const { ino } = await stat(path);
		await saveSettings({ agentDir, changes: { maxDepth: 2, runner: undefined } });
		expect([await content(), (await stat(path)).ino]).toEqual(['{"maxDepth":2}', ino]);
	});

	test("its mode", async () => {
		await writeFile(path, "{}");
		await chmod(path, 0o640);
		await saveSettings({ agentDir, changes: { maxDepth: 2 } });
		expect((await stat(path)).mode & 0o777).toBe(0o640);
	});

	test.each([
		["a link", true],
		["a link to a file that is not there yet", false],
	])("%s, and the file it leads to is changed", async (_, exists) => {
		await mkdir(join(agentDir, "dotfiles"));
		const target = join(agentDir, "dotfiles", "mine.json");
		if (exists) await writeFile(target, '{"maxDepth": 2}');
		await symlink("dotfiles/mine.json", path);
		expect((await saveSettings({ agentDir, changes: { runner: "tmux" } })).path).toBe(target);
		expect((await lstat(path)).isSymbolicLink()).toBe(true);
		expect(JSON.parse(await readFile(target, "utf8"))).toEqual({ ...(exists ? { maxDepth: 2 } : {}), runner: "tmux" });
	});
});

describe("nothing is saved", () => {
	test.each([
		["has comments", '{ "maxDepth": 2 // deep\n}', /not valid JSON .*fix it first/],
		["is empty", "", /the file is empty/],
		["holds a list", "[1]", /not a JSON object/],
		["is too large", `{"a":"${"x".repeat(300_000)}"}`, /larger than 256 KB/],
	])("when the file %s", async (_, text, message) => {
		await writeFile(path, text);
		const saving = saveSettings({ agentDir, changes: { maxDepth: 3 } });
		await expect(saving).rejects.toThrow(message);
		await expect(saving).rejects.toThrow(`The settings were not saved to ${path}: `);
		expect(await content()).toBe(text);
		expect(await readdir(agentDir)).toEqual(["subagents.json"]);
	});

	test.each<[object, string]>([
		[{ maxDepth: 0 }, '"maxDepth" is 0, expected a whole number from 1 to 32'],
		[{ maxDepht: 2 }, '"maxDepht" is not a setting'],
		[{ retention: { days: -1 } }, '"retention.days" is -1, expected'],
		[{ retention: 5 }, '"retention" is 5, expected an object'],
	])("when a change is not valid: %j", async (changes, message) => {
		await expect(saveSettings({ agentDir, changes: { builtins: false, ...changes } })).rejects.toThrow(message);
		expect(await readdir(agentDir)).toEqual([]);
	});
});

describe("when others write too", () => {
	test("of many saves at once each one counts, and nothing is left behind", async () => {
		const changes = Array.from({ length: 10 }, (_, index) => ({ agentOverrides: { [`preset-${index}`]: { index } } }));
		await Promise.all(changes.map((change) => saveSettings({ agentDir, changes: change })));
		expect(Object.keys(JSON.parse(await content()).agentOverrides)).toHaveLength(10);
		expect(await readdir(agentDir)).toEqual(["subagents.json"]);
	});

	test("an edit that comes between is not lost", async () => {
		await writeFile(path, "first");
		const seen: (string | undefined)[] = [];
		await editSmallFile(path, (text) => {
			seen.push(text);
			if (seen.length === 1) writeFileSync(path, "second");
			return `${text} and mine`;
		});
		expect([seen, await content()]).toEqual([["first", "second"], "second and mine"]);
	});

	test("a file that appears between is not lost either", async () => {
		const seen: (string | undefined)[] = [];
		await editSmallFile(path, (text) => {
			seen.push(text);
			if (seen.length === 1) writeFileSync(path, "theirs");
			return `${text} and mine`;
		});
		expect([seen, await content()]).toEqual([[undefined, "theirs"], "theirs and mine"]);
	});

	test("who never gets through says so", async () => {
		let edits = 0;
		const saving = editSmallFile(path, () => {
			writeFileSync(path, `theirs ${edits++}`);
			return "mine";
		});
		await expect(saving).rejects.toThrow(`another program keeps changing ${path}`);
		expect(await content()).toMatch(/^theirs/);
		expect(await readdir(agentDir)).toEqual(["subagents.json"]);
	});
});
