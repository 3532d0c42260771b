/** A preset that is written as a file reads as the same preset. */
import { fields, type Preset, type PresetSource, parsePreset } from "@pi-subagents/presets";
import { describe, expect, test } from "vitest";
import { textFor } from "../../src/menu/presets/preset-eject.ts";
import { type PresetDraft, presetText } from "../../src/menu/presets/preset-text.ts";

const project: PresetSource = { kind: "project", flavour: "agents", inProject: true };

/** What a preset says, without where it stands. */
const said = ({ source: _source, path: _path, origins: _origins, ...rest }: Preset) => rest;

function read(text: string): Preset {
	const { preset, problems } = parsePreset(text, { path: "/p/.pi/agents/x.md", source: project });
	expect(problems).toEqual([]);
	if (!preset) throw new Error(text);
	return preset;
}

async function builtins(): Promise<Preset[]> {
	const { createCatalogue, builtins } = await import("@pi-subagents/presets");
	return [...(await createCatalogue({ cwd: "/", agentDir: "/", sources: builtins() }).read()).presets];
}

describe("built-ins", async () => {
	test.each(await builtins())("an ejected $name is the same preset", async (preset) => {
		expect(said(read(await textFor(preset, { source: project, mustNameModel: false })))).toEqual(said(preset));
		expect(said(read(presetText(preset, fields, project)))).toEqual(said(preset));
	});
});

const full: PresetDraft = {
	name: "déjà-vu",
	description: 'Knows: "everything" # really, 100% — even *stars* and commas',
	prompt: "You are it.\n\n---\nname: not me\n---\n\tTabbed.",
	model: "anthropic/claude-opus-4-5:high",
	fallbackModels: ["openai/gpt-5", "a model with spaces"],
	tools: ["read", "bash", "ext:@scope/pkg", "ext:x/y"],
	disallowedTools: ["*"],
	extensions: ["one (", "two"],
	excludeExtensions: [],
	mcpServers: ["github", "linear-app"],
	skills: false,
	thinking: "off",
	promptMode: "append",
	inheritContext: true,
	maxTurns: 20,
	wrapUpPercent: 25,
	stalledAfterMs: 90_000,
	timeoutMs: 90_500,
	toolTimeoutMs: 0,
	idleTimeoutMs: 3_600_000,
	budgetTokens: 1_500_000,
	budgetCost: 1.5,
	isolation: "worktree",
	isolationBase: "origin/main",
	isolated: true,
	memory: "project",
	verify: { command: ["npm", "run", "a: b"], timeoutMs: 90_000, output: "json", schema: { type: "array" } },
	verifyRepairs: 2,
	worktree: { link: ["node_modules"], include: [".env*"], setup: "npm ci", setupTimeoutMs: 90_000 },
	outputSchema: { type: "object", properties: { "a: b": { enum: ["yes", "no", 1, null] } }, required: [] },
	outputRepairs: 2,
	subagents: "*",
	runner: "tmux",
	machine: "box",
	retry: "lost",
	launcher: "net",
	color: "#ff8800",
	enabled: false,
	locked: ["model", "maxTurns"],
};

test("every field survives", () => {
	expect(fields.map(({ key }) => key).filter((key) => full[key] === undefined)).toEqual([]);
	expect(said(read(presetText(full, fields, project)))).toEqual(
		said({ ...full, source: project, path: "", origins: {} } as Preset),
	);
});

test.each<[string, Partial<PresetDraft>]>([
	["no tool and no agents of its own", { tools: [], subagents: [] }],
	["every tool, by name", { tools: "*", subagents: ["scout", "on"] }],
	["words that YAML could take for something else", { description: "yes", model: "null" }],
	["numbers that are text", { description: "12e3", isolationBase: "0x10", model: "007" }],
	["one that looks like a list or a mapping", { description: "[a]: {b} & *c | >d - e" }],
	["what is the rule anyway", { promptMode: "replace", enabled: true }],
	["line separators and quotes", { description: 'a "b" \\n c' }],
])("also %s", (_what, more) => {
	const draft: PresetDraft = {
		name: "x",
		description: "d",
		prompt: "p",
		promptMode: "replace",
		enabled: true,
		...more,
	};
	expect(said(read(presetText(draft, fields, project)))).toEqual(draft);
});

test("a short preset is written as a person would write it", () => {
	const draft: PresetDraft = {
		name: "api-reviewer",
		description: "Reviews handlers. Choose it before a release",
		prompt: "You review.\n",
		model: "inherit",
		tools: ["read", "grep"],
		promptMode: "append",
	};
	expect(presetText(draft, fields, project)).toBe(`---
name: api-reviewer
description: Reviews handlers. Choose it before a release
model: inherit
tools: read, grep
prompt_mode: append
---
You review.
`);
});
