import { describe, expect, test } from "vitest";
import { fields, parsePreset } from "../../src/index.ts";
import { agents, parseWith, subagents, told } from "../support.ts";

test("a file of the two required fields and two optional ones gives a preset with the origin of each value", () => {
	const text =
		"---\nname: repo-scout\ndescription: Fast repo exploration\nmodel: github-copilot/gpt-4o\ntools: read,grep,find,ls\n---\nYou are a scout.\n";
	const path = "/home/me/.pi/agent/subagents/scout.md";
	expect(parsePreset(text, { path, source: subagents })).toEqual({
		preset: {
			name: "repo-scout",
			description: "Fast repo exploration",
			model: "github-copilot/gpt-4o",
			tools: ["read", "grep", "find", "ls"],
			promptMode: "append",
			enabled: true,
			prompt: "You are a scout.",
			source: subagents,
			path,
			origins: {
				name: { path, line: 2 },
				description: { path, line: 3 },
				model: { path, line: 4 },
				tools: { path, line: 5 },
				promptMode: "default",
				enabled: "default",
			},
		},
		problems: [],
	});
});

describe("required fields", () => {
	test.each([
		["name", "---\ndescription: d\n---\nx", "the field `name` is missing: add one, such as `name: repo-scout`"],
		[
			"description",
			"---\nname: n\n---\nx",
			"the field `description` is missing or empty: say in one line when to use this preset",
		],
	])("a file in `subagents` without `%s` is a problem", (field, text, message) => {
		const { preset, problems } = parsePreset(text, { path: "/x/a.md", source: subagents });
		expect(preset).toBeUndefined();
		expect(problems).toMatchObject([{ path: "/x/a.md", line: 1, column: 1, severity: "error", field, message }]);
	});

	test("in other directories the file name and the name stand in", () => {
		const { preset, problems } = parsePreset("---\nmodel: m\n---\nx", {
			path: "C:\\agents\\Deep-Thought.md",
			source: agents,
		});
		expect(problems).toEqual([]);
		expect(preset).toMatchObject({ name: "Deep-Thought", description: "Deep-Thought", promptMode: "replace" });
		expect(preset?.origins).toMatchObject({ name: "default", description: "default", promptMode: "default" });
	});

	test("no frontmatter is fine in `agents` and a problem in `subagents`", () => {
		const text = "Just a prompt.";
		expect(parsePreset(text, { path: "/x/plain.md", source: agents }).preset).toMatchObject({
			name: "plain",
			prompt: text,
		});
		const { preset, problems, reservedNames } = parsePreset(text, { path: "/x/plain.md", source: subagents });
		expect([preset, reservedNames, told(problems)]).toEqual([
			undefined,
			["plain"],
			["1: error: the file has no frontmatter: start it with `---`, `name: …`, `description: …`, `---`"],
		]);
	});

	test("a README without frontmatter is neither a preset nor a problem", () => {
		for (const source of [agents, subagents]) {
			expect(parsePreset("# Our agents", { path: "/x/README.md", source })).toEqual({ problems: [] });
		}
	});

	test("a link without frontmatter does not become a prompt", () => {
		const { preset } = parsePreset("root:x:0:0", { path: "/x/a.md", source: agents, linked: true });
		expect(preset).toBeUndefined();
	});
});

describe("values", () => {
	const minute = 60_000;
	const builtins = ["read", "bash", "edit", "write", "grep", "find", "ls"];
	test.each<[line: string, key: string, value: unknown]>([
		["model: sonnet", "model", "sonnet"],
		["model: inherit", "model", "inherit"],
		["model: Inherit", "model", "inherit"],
		["fallback_models: a/b, c", "fallbackModels", ["a/b", "c"]],
		["fallbackModels: [a/b, c]", "fallbackModels", ["a/b", "c"]],
		["tools: read, grep , read", "tools", ["read", "grep"]],
		["tools:\n  - read\n  - ext:web/fetch", "tools", ["read", "ext:web/fetch"]],
		["tools: [read, bash]", "tools", ["read", "bash"]],
		["tools: *", "tools", "*"],
		['tools: "*"', "tools", "*"],
		["tools: All", "tools", "*"],
		["tools: *, ext:web", "tools", [...builtins, "ext:web"]],
		["tools: all, ext:web/fetch", "tools", [...builtins, "ext:web/fetch"]],
		["tools: read grep  ls", "tools", ["read", "grep", "ls"]],
		["allowed-tools: read, grep", "tools", ["read", "grep"]],
		["tools: none", "tools", []],
		["tools:", "tools", []],
		["tools: []", "tools", []],
		["disallowed_tools: none", "disallowedTools", []],
		["disallowed_tools: all", "disallowedTools", ["*"]],
		["disallowed_tools: bash write", "disallowedTools", ["bash", "write"]],
		["disallowed_tools: bash", "disallowedTools", ["bash"]],
		["disallowedTools: bash, write", "disallowedTools", ["bash", "write"]],
		["exclude_tools: [bash]", "disallowedTools", ["bash"]],
		["mcp_servers: github, my-docs", "mcpServers", ["github", "my-docs"]],
		["mcpServers: none", "mcpServers", []],
		["extensions: true", "extensions", true],
		["extensions: none", "extensions", false],
		["extensions: one, two", "extensions", ["one", "two"]],
		["exclude_extensions: one", "excludeExtensions", ["one"]],
		["exclude_extensions: none", "excludeExtensions", []],
		["fallback_models: none", "fallbackModels", []],
		["locked: none", "locked", []],
		["isolation:", "isolation", undefined],
		["memory:", "memory", undefined],
		["max_turns:", "maxTurns", undefined],
		["subagents: false", "subagents", []],
		["allowedAgents: scout", "subagents", ["scout"]],
		["maxRuntimeSeconds: 90", "timeoutMs", 90_000],
		["skills: false", "skills", false],
		["skills: [a, b]", "skills", ["a", "b"]],
		["thinking: xhigh", "thinking", "xhigh"],
		["effort: max", "thinking", "max"],
		["thinking: off", "thinking", "off"],
		["prompt_mode: replace", "promptMode", "replace"],
		["inherit_context: yes", "inheritContext", true],
		["max_turns: 20", "maxTurns", 20],
		["maxTurns: 0", "maxTurns", 0],
		["steps: 7", "maxTurns", 7],
		["timeout: 90", "timeoutMs", 90_000],
		["timeout: 90s", "timeoutMs", 90_000],
		["timeout: 5m", "timeoutMs", 5 * minute],
		["timeout: 1h", "timeoutMs", 60 * minute],
		["timeout: 1h 30m", "timeoutMs", 90 * minute],
		["timeout: 1.5h", "timeoutMs", 90 * minute],
		["timeoutMs: 1500", "timeoutMs", 1500],
		["timeout: 0", "timeoutMs", 0],
		["tool_timeout: 2m", "toolTimeoutMs", 2 * minute],
		["idle-timeout: 250ms", "idleTimeoutMs", 250],
		["budget_tokens: 200k", "budgetTokens", 200_000],
		["budget_tokens: 1.5m", "budgetTokens", 1_500_000],
		["budget_cost: 1.5", "budgetCost", 1.5],
		["budget_cost: $2", "budgetCost", 2],
		["wrap_up_before: 20%", "wrapUpPercent", 20],
		["wrap_up_before: 0", "wrapUpPercent", 0],
		["stalled_after: 5m", "stalledAfterMs", 300_000],
		["isolation: worktree", "isolation", "worktree"],
		["isolation: false", "isolation", "off"],
		["isolation_base: origin/main", "isolationBase", "origin/main"],
		["isolated: true", "isolated", true],
		["memory: project", "memory", "project"],
		["memory: none", "memory", undefined],
		["verify: npm test", "verify", { command: "npm test" }],
		[
			"verify: { command: [npm, test], timeout: 5m, output: json, schema: { type: object } }",
			"verify",
			{ command: ["npm", "test"], timeoutMs: 300_000, output: "json", schema: { type: "object" } },
		],
		[
			"worktree: { link: [node_modules, .venv], include: .env*, setup: npm ci, setupTimeout: 5m }",
			"worktree",
			{ link: ["node_modules", ".venv"], include: [".env*"], setup: "npm ci", setupTimeoutMs: 300_000 },
		],
		["worktree: { setup: [npm, ci] }", "worktree", { setup: ["npm", "ci"] }],
		["verify_repairs: 2", "verifyRepairs", 2],
		["output_schema:\n  type: object", "outputSchema", { type: "object" }],
		[`output_schema: '{"type":"object"}'`, "outputSchema", { type: "object" }],
		["output_repairs: 2", "outputRepairs", 2],
		["subagents: *", "subagents", "*"],
		["subagents: scout, Explore", "subagents", ["scout", "Explore"]],
		["subagents: Code Reviewer, scout", "subagents", ["Code-Reviewer", "scout"]],
		["subagents: none", "subagents", []],
		["allowed_subagents: true", "subagents", "*"],
		["runner: tmux", "runner", "tmux"],
		["machine: box", "machine", "box"],
		["retry: lost", "retry", "lost"],
		["launcher: net", "launcher", "net"],
		["color: Blue", "color", "blue"],
		['color: "#ff8800"', "color", "#ff8800"],
		["enabled: false", "enabled", false],
		["locked: tools, max_turns, timeout", "locked", ["tools", "maxTurns", "timeoutMs"]],
	])("`%s` sets %s", (line, key, value) => {
		const { preset, problems } = parseWith(line);
		expect(problems).toEqual([]);
		expect(preset).toMatchObject({ name: "sample" });
		expect(preset?.[key as keyof typeof preset]).toEqual(value);
	});

	test("every field of the table is covered above, or is name or description", async () => {
		const source = await import("node:fs/promises").then((fs) => fs.readFile(new URL(import.meta.url), "utf8"));
		const untested = fields.filter(({ key }) => !source.includes(`, "${key}", `)).map(({ key }) => key);
		expect(untested).toEqual(["name", "description"]);
	});
});

describe("a wrong value", () => {
	test.each([
		["tools: 5:\n  a: b", "tools"],
		["tools: {read: true}", "tools"],
		["exclude_extensions: all", "exclude_extensions"],
		["disallowed_tools: bash, none", "disallowed_tools"],
		["tools: [read, none]", "tools"],
		["tools: true", "tools"],
		["disallowed_tools: {bash: true}", "disallowed_tools"],
		["isolation: yes-please", "isolation"],
		["max_turns: ten", "max_turns"],
		["max_turns: -1", "max_turns"],
		["max_turns: 1.5", "max_turns"],
		["timeout: soon", "timeout"],
		["timeout: 30d", "timeout"],
		["tool_timeout: [1]", "tool_timeout"],
		["idle_timeout: true", "idle_timeout"],
		["budget_tokens: lots", "budget_tokens"],
		["budget_cost: .inf", "budget_cost"],
		["runner: docker", "runner"],
		["isolated: perhaps", "isolated"],
		["memory: everywhere", "memory"],
		["subagents: ../x", "subagents"],
		["extensions: {a: b}", "extensions"],
		["skills: [[a]]", "skills"],
		["enabled: maybe", "enabled"],
		["locked: toools", "locked"],
		["output_schema: '[1]'", "output_schema"],
	])("`%s` costs the preset, since ignoring it could widen access, or leave the answer unchecked", (line, field) => {
		const { preset, problems, reservedNames } = parseWith(line);
		expect(preset).toBeUndefined();
		expect(reservedNames).toEqual(["sample"]); // the name stays taken
		expect(problems.some((problem) => problem.severity === "error")).toBe(true);
		if (!line.includes("5:")) expect(problems[0]?.field).toBe(field);
	});

	test.each([
		[
			"thinking: hihg",
			'"thinking" must be `off`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`, but is "hihg" (did you mean "high"?); the field is ignored',
		],
		[
			"model: {a: b}",
			'"model" must be one model, such as `provider/model-id`, or `inherit`, but is a mapping; the field is ignored',
		],
	])("`%s` costs only the field", (line, message) => {
		const { preset, problems } = parseWith(line);
		expect(preset?.name).toBe("sample");
		expect(told(problems)).toEqual([`4: error: ${message}`]);
	});

	test("a typo in `locked` is suggested within the sentence", () => {
		expect(told(parseWith("locked: modle").problems)).toEqual([
			'4: error: "locked" names an unknown field "modle" (did you mean "model"?); the preset is not used until this is fixed',
		]);
	});

	test("an unquoted colour is a comment to YAML, and the message says so", () => {
		expect(told(parseWith("color: #ff0000").problems)[0]).toContain("an unquoted # starts a comment");
	});
});

describe("fields nobody knows", () => {
	test.each([
		["modle: x", 'unknown field "modle": did you mean "model"?'],
		["frobnicate: 3", 'unknown field "frobnicate": it is ignored; remove it or see the list of fields'],
		["emoji: x", 'the field "emoji" belongs to another tool and is ignored'],
		["checkpointBeforeDeadlineMs: 5", 'the field "checkpointBeforeDeadlineMs" belongs to another tool and is ignored'],
		["__proto__x: 3", 'unknown field "__proto__x": it is ignored; remove it or see the list of fields'],
		["constructor: 3", 'unknown field "constructor": it is ignored; remove it or see the list of fields'],
	])("`%s` is a warning", (line, message) => {
		const { preset, problems } = parseWith(line);
		expect(preset?.name).toBe("sample");
		expect(told(problems)).toEqual([`4: warning: ${message}`]);
	});

	test.each([
		["tool: read", "tools"],
		["isolaton: worktree", "isolation"],
		["disalowed_tools: bash", "disallowed_tools"],
	])("%s makes the preset unusable: misspelt, it would limit nothing", (line, meant) => {
		const { preset, problems, reservedNames } = parseWith(line);
		expect([preset, reservedNames]).toEqual([undefined, ["sample"]]);
		const key = line.slice(0, line.indexOf(":"));
		expect(told(problems)).toEqual([
			`4: error: unknown field "${key}" looks like a limit: did you mean "${meant}"?; the preset is not used until this is fixed`,
		]);
	});
});

describe("a field that is there twice", () => {
	test("costs the preset when it grants access, in whatever spelling", () => {
		const { preset, problems } = parseWith("disallowed_tools: bash\ndisallowedTools: none");
		expect(preset).toBeUndefined();
		expect(told(problems)).toEqual([
			'5: error: "disallowedTools" is already set in line 4 (as "disallowed_tools"): remove one; the preset is not used until this is fixed',
		]);
	});
	test("otherwise the first one counts", () => {
		const { preset, problems } = parseWith("thinking: low\nthinking: high");
		expect(preset?.thinking).toBe("low");
		expect(told(problems)).toEqual(['5: error: "thinking" is already set in line 4: remove one; the field is ignored']);
	});
});

describe("names", () => {
	test.each(["scout", "Explore", "a", "general-purpose", "pkg.name", "x_1", "研究", "Ünïcode"])(
		"%s is a name",
		(name) => {
			expect(
				parsePreset(`---\nname: ${name}\ndescription: d\n---\n`, { path: "/x/a.md", source: subagents }).preset?.name,
			).toBe(name);
		},
	);
	test.each([
		"__proto__",
		"constructor",
		"toString",
		"hasOwnProperty",
		"prototype",
		"none",
		"all",
		"../x",
		"a/b",
		"a\\\\b",
		"a b",
		"a:b",
		"-x",
		".x",
		"*",
		"a\\u0000b",
		"a\\u001b[31m",
		"a\\nb",
		"a\\u202eb",
		"",
		" ",
		"x".repeat(65),
	])("%j is not", (name) => {
		const { preset, problems } = parsePreset(`---\nname: "${name}"\ndescription: d\n---\n`, {
			path: "/x/ok.md",
			source: subagents,
		});
		expect(preset).toBeUndefined();
		expect(problems).toMatchObject([{ line: 2, severity: "error", field: "name" }]);
		expect(problems[0]?.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
	});
});

describe("descriptions", () => {
	test("over 1,000 characters are cut, with a warning", () => {
		const { preset, problems } = parsePreset(`---\nname: n\ndescription: ${"x".repeat(5000)}\n---\n`, {
			path: "/x/n.md",
			source: subagents,
		});
		expect(preset?.description).toHaveLength(1000);
		expect(preset?.description.endsWith("…")).toBe(true);
		expect(told(problems)).toEqual([
			"3: warning: the description has 5000 characters and is cut to 1000: put details into the body",
		]);
	});
	test("are one printable line", () => {
		const written = String.raw`"a\u001b[2J\tb\r\nc\u001b]0;title\u0007d\u202ee\u0085f"`;
		const { preset } = parsePreset(`---\nname: n\ndescription: ${written}\n---\n`, {
			path: "/x/n.md",
			source: subagents,
		});
		expect(preset?.description).toBe("a b cdef");
	});
	test("an emoji is not cut in half", () => {
		const { preset } = parsePreset(`---\nname: n\ndescription: ${"x".repeat(998)}😀😀\n---\n`, {
			path: "/x/n.md",
			source: subagents,
		});
		expect(preset?.description).toBe(`${"x".repeat(998)}…`);
	});
});
