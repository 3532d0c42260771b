import { join } from "node:path";
import { cpuMs } from "@pi-subagents-dev/testkit/cpu-time";
import { describe, expect, test } from "vitest";
import { builtins, discoverPresets, findPreset, parsePreset, subagentsDirs } from "../../src/index.ts";
import { parseWith, preset, subagents, tree } from "../support.ts";

const path = "/x/my-scout.md";
const brokenList = "tools: [read";

/** The names that a broken file holds. */
function claimed(text: string, at = path): readonly string[] | undefined {
	const { preset, reservedNames } = parsePreset(text, { path: at, source: subagents });
	expect(preset).toBeUndefined();
	return reservedNames;
}

describe("frontmatter that is not YAML holds the name that is written in it", () => {
	test.each([
		["plain", "name: scout"],
		["double quotes", 'name: "scout"'],
		["an escape", String.raw`name: "sc\u006fut"`],
		["single quotes", "name: 'scout'"],
		["a comment", "name: scout # the fast one"],
		["quotes and a comment", "name: 'scout'  # the fast one"],
		["a capital", "Name: scout"],
		["a quoted key", '"name": scout'],
		["a key in single quotes", "'name' : scout"],
		["a tab", "name:\tscout"],
		["the next line", "name:\n  scout"],
		["folded text", "name: >-\n  scout"],
	])("%s", (_what, line) => {
		expect(claimed(`---\n${line}\n${brokenList}\n---\n`)).toEqual(["scout"]);
		expect(claimed(`---\n${brokenList}\n${line}\n---\n`)).toEqual(["scout"]);
		expect(claimed(`---\r\n${line.replaceAll("\n", "\r\n")}\r\n${brokenList}\r\n---\r\n`)).toEqual(["scout"]);
	});

	test("also when all of it is indented, and no name of something inside", () => {
		expect(claimed(`---\n  name: scout\n  ${brokenList}\n---\n`)).toEqual(["scout"]);
		expect(claimed(`---\nname: scout\noutput_schema:\n  name: x\n${brokenList}\n---\n`)).toEqual(["scout"]);
	});

	test("also when there is too much of it", () => {
		expect(claimed(`---\n${"# filler\n".repeat(2000)}name: scout\n---\n`)).toEqual(["scout"]);
	});
});

describe("where the name is unclear, the likely one and the file name are held", () => {
	test.each([
		["an open quote", 'name: "scout'],
		["no space", "name:scout"],
		["another colon", "name: scout: fast"],
		["an indented line", "name: scout\n  bad: [yaml"],
		["an open list", "name: [scout"],
	])("%s", (_what, line) => {
		expect(claimed(`---\n${line}\ndescription: d\n---\n`)).toEqual(["scout", "my-scout"]);
	});

	test.each([
		["not closed", "---\nname: scout\ndescription: d\n\nname: worker"],
		["not opened", "name: scout\ndescription: d\n---\nBody"],
		["with NUL characters", "---\nname: scout\n---\n\u0000"],
	])("frontmatter that is %s", (_what, text) => {
		expect(claimed(text)).toEqual(["scout", "my-scout"]);
	});

	test.each([
		["no name at all", `---\n${brokenList}\n---\n`],
		["a name that cannot be one", `---\nname: ../x\n${brokenList}\n---\n`],
		["an empty name in good YAML", "---\nname:\ndescription: d\n---\n"],
		["an alias", `---\nname: *n\n${brokenList}\n---\n`],
	])("%s leaves the file name", (_what, text) => {
		expect(claimed(text)).toEqual(["my-scout"]);
	});

	test("a file name that cannot be one either leaves nothing", () => {
		expect(claimed(`---\n${brokenList}\n---\n`, "/x/a b.md")).toBeUndefined();
	});
});

test("thousands of broken names take no longer than a few", () => {
	const text = `---\n${"name: [\n".repeat(30_000)}`;
	expect(cpuMs(() => expect(claimed(text)).toEqual(["my-scout"]))).toBeLessThan(300);
});

test("a name that is there twice holds both", () => {
	expect(claimed("---\nname: scout\nName: worker\ndescription: d\n---\n")).toEqual(["scout", "worker"]);
	expect(claimed(`---\nname: scout\nname: worker\n${brokenList}\n---\n`)).toEqual(["scout", "worker"]);
});

test("a broken file of another name keeps a built-in from being used instead, and that is reported", async () => {
	const root = await tree({
		".pi/subagents/my-scout.md": preset("scout", `${brokenList}\n`),
		".pi/subagents/plan.md": preset("my-plan", `${brokenList}\n`),
	});
	const sources = [...builtins(), ...subagentsDirs()];
	const { presets, problems } = await discoverPresets({ cwd: root, agentDir: join(root, "home"), sources });
	expect(findPreset(presets, "scout")).toBeUndefined();
	expect(findPreset(presets, "Plan")?.source.kind).toBe("builtin"); // the file says that it is something else
	expect(problems.map(({ preset: name, message }) => [name, message.slice(0, 40)])).toEqual([
		["scout", "the frontmatter is not valid YAML (Flow "],
		["my-plan", "the frontmatter is not valid YAML (Flow "],
		["scout", 'the preset "scout" is unavailable until '],
	]);
});

test("the readable fields of a refused file are kept for checks, not as a preset", () => {
	const { preset: made, draft } = parseWith("isolation: nope\ntools: raed\nmodel: inherit");
	const at = "/x/sample.md";
	expect(made).toBeUndefined();
	expect(draft).toEqual({
		...{ name: "sample", path: at, source: subagents, model: "inherit", tools: ["raed"] },
		origins: {
			name: { path: at, line: 2 },
			description: { path: at, line: 3 },
			tools: { path: at, line: 5 },
			model: { path: at, line: 6 },
		},
	});
});
