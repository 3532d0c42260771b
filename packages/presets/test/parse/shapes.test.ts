/** The shapes that public agent files have, one by one. The corpus of them all is linted in `corpus.test.ts`. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
	builtins,
	claudeImport,
	directory,
	discoverPresets,
	findField,
	findPreset,
	parsePreset,
} from "../../src/index.ts";
import { agents, claude, opencode, parseWith, preset as presetText, subagents, told, tree } from "../support.ts";

const imported = [agents, claude, opencode];

describe("names with spaces", () => {
	test.each([
		["Code Reviewer", "Code-Reviewer"],
		["API & REST designer", "API-REST-designer"],
		["🤖 Bot", "Bot"],
		["plugin:helper", "plugin-helper"],
		["C++ expert (senior)", "C-expert-senior"],
	])("`%s` is `%s`, and both are found", (written, usual) => {
		for (const source of imported) {
			const { preset, problems } = parsePreset(`---\nname: "${written}"\ndescription: d\n---\nx`, {
				path: "/x/a.md",
				source,
			});
			expect(problems).toEqual([]);
			expect(preset).toMatchObject({
				name: usual,
				imported: [{ line: 2, from: `name: ${written}`, to: `name: ${usual}` }],
			});
			for (const asked of [written, usual, written.toUpperCase(), ` ${usual} `])
				expect(findPreset([preset as NonNullable<typeof preset>], asked)?.name).toBe(usual);
		}
	});

	test("of files are usable as well, and what cannot be a name still is none", () => {
		expect(parsePreset("---\nmodel: m\n---\nx", { path: "/x/my agent.md", source: agents }).preset?.name).toBe(
			"my-agent",
		);
		for (const name of ["none", "../x", "a/b", ".git", "a\\\\b", "a\\u202eb", "***", "constructor"]) {
			const text = `---\nname: "${name}"\ndescription: d\n---\n`;
			expect(parsePreset(text, { path: "/x/a.md", source: claude }).preset, name).toBeUndefined();
		}
		expect(parseWith("", subagents).preset).toBeDefined();
		expect(parsePreset(presetText("a b"), { path: "/x/a.md", source: subagents }).preset).toBeUndefined();
	});
});

describe("descriptions", () => {
	const own = `description: Use this agent when code was written. Examples:

<example>
Context: The user wrote a function.
user: "Please check: is it right?"
assistant: "I'll use the reviewer."
<commentary>
Since code was written, use it.
</commentary>
</example>

Never for prose.`;

	test("that go on in lines which are not indented are read to the next field", () => {
		const text = `---\nname: reviewer\n${own}\nmodel: inherit\ncolor: pink\ntools: ["Read", "Grep"]\n---\nReview.`;
		const { preset, problems } = parsePreset(text, { path: "/x/reviewer.md", source: claude });
		expect(preset).toMatchObject({ name: "reviewer", model: "inherit", tools: ["read", "grep"], prompt: "Review." });
		expect(preset?.description).toMatch(/^Use this agent .* <example> Context: .* <\/example> Never for prose\.$/);
		expect(preset?.origins.tools).toMatchObject({ line: 17 });
		expect(problems.map(({ severity }) => severity)).toEqual(["warning"]);
	});

	test.each(["tools: read", "toolz: read", "permission: deny", "max_turns: 3", "isolation: worktree"])(
		"do not swallow `%s`, wherever it stands in them",
		(line) => {
			for (const at of [1, 3, 6, 11]) {
				const lines = own.split("\n");
				const text = (indent: string) =>
					`---\nname: reviewer\n${lines.toSpliced(at, 0, indent + line).join("\n")}\n---\nx`;
				for (const indent of ["", "  "]) {
					const { preset } = parsePreset(text(indent), { path: "/x/reviewer.md", source: agents });
					const key = line.split(":")[0] ?? "";
					const limit = findField(key)?.key ?? "disallowedTools";
					// Where it is unclear what was meant the file is refused; else the limit holds.
					expect(preset === undefined || preset.origins[limit] !== undefined, text(indent)).toBe(true);
					expect(preset?.description ?? "").not.toContain(`${key}:`);
				}
			}
		},
	);

	test("with line breaks that were written as \\n have none", () => {
		const written = String.raw`Use it.\n\n<example>\nContext: x\nuser: "hi"\n</example>`;
		const { preset, problems } = parsePreset(`---\nname: a\ndescription: ${written}\n---\nx`, {
			path: "/x/a.md",
			source: claude,
		});
		expect(preset?.description).toBe('Use it. <example> Context: x user: "hi" </example>');
		expect(problems.map(({ severity }) => severity)).toEqual(["warning"]);
	});
});

describe("tools", () => {
	test.each<[string, object]>([
		["tools: Read Grep Glob", { tools: ["read", "grep", "find"] }],
		["tools: Read, Agent(Code Reviewer)", { tools: ["read"], subagents: ["Code-Reviewer"] }],
		["allowed-tools: Read, Bash", { tools: ["read", "bash"] }],
		["model: opus[1m]", { model: "opus" }],
	])("of Claude Code: `%s`", (lines, expected) => {
		const { preset, problems } = parseWith(lines, claude);
		expect([problems, preset]).toMatchObject([[], expected]);
	});

	test.each([
		["Agent(plugin:x)", 'the agent cannot start "plugin:x"', [claude, agents, subagents]],
		["mcp__server__get_*", "the agent runs without it", [claude]],
	])("`%s` costs only itself, and the message names the field as the file spells it", (item, message, sources) => {
		for (const source of sources) {
			const { preset, problems } = parseWith(`Tools: read, ${item}, grep`, source);
			expect(preset?.tools).toEqual(["read", "grep"]);
			expect(problems).toMatchObject([
				{
					severity: "warning",
					field: "Tools",
					message: expect.stringContaining(`"${item}" has no counterpart here: ${message}`),
				},
			]);
		}
	});

	test.each([
		"mcp__server__tool",
		"mcp__server__*",
		"mcp__server",
		"mcp:server",
		"mcp:my-server/do-it",
		"mcp:server/*",
	])("`%s` of an MCP server is a tool in every file", (item) => {
		for (const source of [claude, agents, subagents]) {
			const lines = `tools: read, ${item}\ndisallowedTools: ${item}`;
			expect(parseWith(lines, source)).toMatchObject({
				problems: [],
				preset: { tools: ["read", item], disallowedTools: [item] },
			});
		}
	});

	test.each(["mcp__server__get_*", "mcp:", "mcp:a b/c", "mcp:../x"])("`%s` is no tool of an MCP server", (item) => {
		const { preset, problems } = parseWith(`tools: [read, "${item}"]`, agents);
		expect(preset).toBeUndefined();
		expect(problems).toMatchObject([
			{ severity: "error", message: expect.stringContaining('"tools" must be tool names') },
		]);
	});

	test.each<[string, object, number]>([
		["mcpServers: github, my-docs", { mcpServers: ["github", "my-docs"] }, 0],
		["mcpServers:\n  - github\n  - docs:\n      command: run-docs", { mcpServers: ["github", "docs"] }, 1],
		["mcpServers:\n  docs:\n    command: run-docs", { mcpServers: ["docs"] }, 1],
		["tools: Read\nmcpServers: [github]", { tools: ["read"], mcpServers: undefined }, 0],
	])("MCP servers of Claude Code: `%s`", (lines, expected, losses) => {
		const { preset, problems } = parseWith(lines, claude);
		expect({ mcpServers: undefined, ...preset }).toMatchObject(expected);
		expect(problems).toHaveLength(losses);
		for (const { message } of problems) expect(message).toContain("servers are defined only in pi's `mcp.json`");
	});

	test("`Agent(worker)` in a file for pi says which agents it may start; a field for that can only narrow it", () => {
		expect(parseWith("tools: read, Agent(worker, scout)", agents)).toMatchObject({
			problems: [],
			preset: { tools: ["read"], subagents: ["worker", "scout"] },
		});
		expect(parseWith("tools: read, Agent(worker, scout)\nsubagents: scout, Plan", agents).preset?.subagents).toEqual([
			"scout",
		]);
		expect(parseWith("tools: Agent\nsubagents: scout", agents).preset).toMatchObject({
			tools: [],
			subagents: ["scout"],
		});
	});

	test.each([["tools: WebSearch, Bash(git diff:*)", claude]])(
		"an agent that is left with none is reported in words: `%s`",
		(lines, source) => {
			const { preset, problems } = parseWith(lines, source);
			expect(preset?.tools).toEqual([]);
			expect(told(problems).at(-1)).toBe(
				"4: warning: none of these tools exists here, so the agent has no tools: it can only answer from its task",
			);
		},
	);
});

describe("other fields", () => {
	test.each<[string, object]>([
		["isolation:\nmemory:\nmax_turns:", {}],
		["skills: a, b\ninheritSkills: false", { skills: ["a", "b"] }],
		["inheritSkills: false", { skills: false }],
		["extensions: one\ninherit_extensions: false", { extensions: ["one"] }],
		["model: gpt-5, sonnet", { model: "gpt-5", fallbackModels: ["sonnet"] }],
		["model:\n  - gpt-5\n  - sonnet\nfallbackModels: haiku", { model: "gpt-5", fallbackModels: ["sonnet", "haiku"] }],
		["system-prompt: append", { promptMode: "append" }],
		["session-mode: fork", { inheritContext: true }],
		["defaultContext: fresh", {}],
	])("`%s` is read", (lines, expected) => {
		const { preset, problems } = parseWith(lines, agents);
		expect(problems).toEqual([]);
		expect(preset).toMatchObject(expected);
	});

	test("`inheritSkills: true` beside a list adds none, and says so", () => {
		const { preset, problems } = parseWith("skills: a\ninheritSkills: true", agents);
		expect(preset?.skills).toEqual(["a"]);
		expect(told(problems)).toEqual([
			'5: warning: "skills" is a complete list, so "inheritSkills" adds nothing: write `skills: true` for all of them',
		]);
		expect(parseWith("skills: true\ninheritSkills: false", agents).preset).toBeUndefined();
	});

	test("a prompt in the frontmatter is used where there is no body", () => {
		const text = (body: string) => `---\nname: a\ndescription: d\nsystem-prompt: You help.\n---\n${body}`;
		expect(parsePreset(text(""), { path: "/x/a.md", source: agents }).preset?.prompt).toBe("You help.");
		expect(parsePreset(text("Do it."), { path: "/x/a.md", source: agents }).preset?.prompt).toBe("Do it.");
	});

	test("a colour that nobody knows is no error", () => {
		const { preset, problems } = parseWith("color: teal", agents);
		expect([preset?.color, problems.map(({ severity }) => severity)]).toEqual([undefined, ["warning"]]);
	});

	test("a wrong value that limits nothing is a warning in a file that is not the user's to correct", () => {
		expect(parseWith("effort: ultra", claude).problems.map(({ severity }) => severity)).toEqual(["warning"]);
		expect(parseWith("effort: ultra", agents).problems.map(({ severity }) => severity)).toEqual(["error"]);
	});
});

describe("sub-folders", () => {
	const agent = (name: string) => `---\nname: ${name}\ndescription: d\n---\nI am ${name}.`;

	test("of agents are read as Claude Code reads them; notes in them are no agents", async () => {
		const root = await tree({
			"user/.claude/agents/top.md": agent("top"),
			"user/.claude/agents/team/web/deep.md": agent("deep"),
			"user/.claude/agents/team/NOTES.md": "# How we work",
			"user/.claude/agents/.git/x.md": agent("hidden"),
			"user/.claude/agents/CONTRIBUTING.md": "# Contributing",
			"mine/one.md": "Just a prompt.",
			"mine/team/two.md": agent("two"),
			"mine/team/notes.md": "Just notes.",
			"mine/team/broken.md": "name: broken\ntools: read\n---\nx",
		});
		const sources = claudeImport({ home: join(root, "user") });
		const { presets, problems } = await discoverPresets({ cwd: root, agentDir: root, sources });
		expect([presets.map(({ name }) => name), problems]).toEqual([["deep", "top"], []]);
		const mine = await discoverPresets({
			...{ cwd: root, agentDir: root },
			sources: directory(join(root, "mine"), { flavour: "agents" }),
		});
		expect(mine.presets.map(({ name }) => name)).toEqual(["one", "two"]);
		expect(mine.problems).toMatchObject([
			{ path: join(root, "mine/team/broken.md"), severity: "error", preset: "broken" },
		]);
	});

	test("the same agent in two of them is used once, and that is no error", async () => {
		const root = await tree({ "user/.claude/agents/a/x.md": agent("x"), "user/.claude/agents/b/x.md": agent("x") });
		const sources = claudeImport({ home: join(root, "user") });
		const { presets, problems } = await discoverPresets({ cwd: root, agentDir: root, sources });
		expect([presets.length, problems.map(({ severity }) => severity)]).toEqual([1, ["warning"]]);
	});
});

test("a refused file hides only what it names", async () => {
	const root = await tree({
		"user/.claude/agents/explore.md": "---\nname: Deep Plan\ndescription: d\ntoolz: Read\n---\nx",
		"user/.claude/agents/plan.md": "---\nname: My Reviewer\ndescription: d\ntools: [Read\n---\nx",
	});
	const sources = [...builtins(), ...claudeImport({ home: join(root, "user") })];
	const { presets, problems } = await discoverPresets({ cwd: root, agentDir: root, sources });
	expect(presets).toHaveLength(7);
	expect(problems.map(({ preset }) => preset)).toEqual(["Deep-Plan", "My-Reviewer"]);
});

test.each([agents, claude, opencode, subagents])("a mapping with a key `toString` is no error: $flavour", (source) => {
	for (const field of ["name", "tools", "mode", "model", "context", "skills", "permission", "mcpServers"])
		for (const value of ["{ toString: x }", "[{ toString: x }]", "{ task: { a: { toString: x } } }"]) {
			const text = `---\n${field}: ${value}\ndescription: b\n---\nBody.\n`;
			expect(() => parsePreset(text, { path: "/x/sample.md", source })).not.toThrow();
		}
});
