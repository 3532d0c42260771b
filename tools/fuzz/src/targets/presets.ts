/** Preset files of every flavour, definitions of extensions, overrides in settings. */
import { strict as assert } from "node:assert";
import { type Flavour, parseDefinition, parseOverride, parsePreset } from "@pi-subagents/presets";
import fc from "fast-check";
import { changedJson, changedText } from "../mutate.ts";
import { presentable, type Target, target, unpolluted } from "../target.ts";

const FILES = [
	`---
name: scout
description: Looks around
model: fake/one:high
tools: read, grep, mcp:search/find
disallowed_tools: [bash]
max_turns: 5
timeout: 10m
budget_tokens: 100k
runner: process
isolation: worktree
worktree: { link: [node_modules], include: [".env"], setup: npm ci }
verify: { command: [npm, test], output: json, schema: { type: object } }
output_schema: { type: object, required: [files], properties: { files: { type: integer } } }
subagents: [Explore, Plan]
memory: project
---
You look around.
`,
	`---\nname: reviewer\ndescription: "Use when: a change is ready"\ntools: Read, Bash(git diff:*)\nmodel: sonnet\ncolor: red\n---\nReview it.\n`,
	`---\ndescription: Plans\nmode: subagent\ntemperature: 0.1\ntools:\n  write: false\n  bash: true\npermission:\n  edit: deny\n  bash:\n    "git *": allow\n---\nPlan it.\n`,
	`---\r\nname: a\r\nskills: |\r\n  one\r\n  two\r\nlauncher: box\r\nmachine: here\r\n---\r\nText with --- inside.\r\n`,
];
const FLAVOURS: readonly Flavour[] = ["subagents", "agents", "claude", "opencode"];

const DEFINITIONS = [
	{
		name: "helper",
		description: "Helps",
		systemPrompt: "You help.",
		tools: ["read", "grep"],
		disallowedTools: ["bash"],
		maxTurns: 3,
		model: "fake/one",
		timeout: "5m",
		outputSchema: { type: "object" },
	},
];

export const presetTargets: Target[] = [
	target(
		"a preset file gives a preset or says what is wrong",
		fc.tuple(changedText(FILES), fc.constantFrom(...FLAVOURS), fc.boolean()),
		([text, flavour, inProject]) => {
			const { preset, problems } = parsePreset(text, {
				path: "/x/scout.md",
				source: { kind: inProject ? "project" : "global", flavour, inProject },
			});
			for (const { message, line } of problems) {
				presentable(message, 1_000);
				assert.ok(line === undefined || line > 0);
			}
			const isError = problems.some(({ severity }) => severity === "error");
			if (preset) {
				for (const shown of [preset.name, preset.description]) presentable(shown, 1_100);
				assert.ok(!/[\\/]/.test(preset.name), "a name is no path");
			} else if (flavour !== "claude" && flavour !== "opencode") assert.ok(isError, "no preset, and no error");
			unpolluted();
		},
	),
	target("a definition of an extension obeys the rules of files", changedJson(DEFINITIONS), (value) => {
		if (typeof value !== "object" || value === null || Array.isArray(value)) return;
		const { preset, problems } = parseDefinition(value as Record<string, unknown>);
		for (const { message } of problems) presentable(message, 1_000);
		if (preset) presentable(preset.name, 1_000);
		else assert.ok(problems.some(({ severity }) => severity === "error"));
		unpolluted();
	}),
	target("an override of a preset is applied, narrowed or refused", changedJson(DEFINITIONS), (value) => {
		const { faults } = parseOverride(value);
		for (const { message } of faults) presentable(message, 1_000);
		unpolluted();
	}),
];
