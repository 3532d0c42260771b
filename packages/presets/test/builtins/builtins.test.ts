import { describe, expect, test } from "vitest";
import { builtins, discoverPresets, knownTools, lintPreset } from "../../src/index.ts";

const { presets, problems } = await discoverPresets({ cwd: "/", agentDir: "/nowhere", sources: builtins() });
const readOnly = ["find", "grep", "ls", "read"];

test("there are seven, and our own parser has no complaint about them", () => {
	expect(problems).toEqual([]);
	expect(presets.map(({ name }) => name)).toEqual([
		"Explore",
		"general-purpose",
		"Plan",
		"planner",
		"reviewer",
		"scout",
		"worker",
	]);
});

describe.each(presets.map((preset) => ({ name: preset.name, preset })))("$name", ({ preset }) => {
	test("has no finding of the linter, no model and no unknown tool", () => {
		expect(lintPreset(preset, presets)).toEqual([]);
		expect([preset.model, preset.fallbackModels, preset.thinking]).toEqual([undefined, undefined, undefined]);
		for (const tool of preset.tools ?? []) expect(knownTools).toContain(tool);
	});

	test("says when to choose it, briefly, and has a prompt of reasonable length", () => {
		expect(preset.description).toMatch(/Choose it/);
		expect(preset.description.length).toBeLessThan(280);
		const lines = preset.prompt.split("\n");
		expect(lines.length).toBeGreaterThanOrEqual(15);
		expect(lines.length).toBeLessThanOrEqual(40);
		for (const line of lines) expect(line.length).toBeLessThanOrEqual(120);
		expect(preset.prompt).toMatch(/Your final message/);
	});
});

test("the tools and the right to start agents are those of the role", () => {
	const table = presets.map(({ name, tools, subagents }) => [name, tools && [...tools].sort(), subagents]);
	expect(table).toEqual([
		["Explore", readOnly, []],
		["general-purpose", undefined, "*"],
		["Plan", readOnly, []],
		["planner", readOnly, ["Explore", "scout"]], // it plans, so it may ask for facts but not have things changed
		["reviewer", ["bash", ...readOnly].sort(), []], // a change is visible only through `git diff`
		["scout", readOnly, []],
		["worker", undefined, "*"],
	]);
});
