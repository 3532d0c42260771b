import { describe, expect, test } from "vitest";
import { claude, opencode, parseWith, told } from "../support.ts";

describe("Claude Code", () => {
	test("tools and other names are mapped, and a report says how", () => {
		const { preset, problems } = parseWith(
			"tools: Read, Grep, Glob, Bash, MultiEdit, Agent(scout, Explore)\nmaxTurns: 9\neffort: high\nmodel: inherit\ncolor: cyan\nisolation: worktree\nmemory: user",
			claude,
		);
		expect(problems).toEqual([]);
		expect(preset).toMatchObject({
			tools: ["read", "grep", "find", "bash", "edit"],
			subagents: ["scout", "Explore"],
			maxTurns: 9,
			thinking: "high",
			color: "cyan",
			isolation: "worktree",
			memory: "user",
			promptMode: "replace",
		});
		expect(preset?.model).toBe("inherit");
		expect(preset?.origins.subagents).toEqual({ path: "/x/sample.md", line: 4 });
		expect(preset?.imported).toContainEqual({ line: 4, from: "Glob", to: "tools: find" });
		expect(preset?.imported).toContainEqual({
			line: 4,
			from: "Agent(scout, Explore)",
			to: "subagents: scout, Explore",
		});
	});

	test.each<[string, object]>([
		["tools: Read", { tools: ["read"], subagents: [] }],
		["tools: Read, Task", { tools: ["read"], subagents: "*" }],
		["tools: [Read, Write]", { tools: ["read", "write"], subagents: [] }],
		["tools: *", { tools: "*" }],
		["disallowedTools: Write, Edit", { disallowedTools: ["write", "edit"] }],
		["disallowedTools: mcp__server__tool", { disallowedTools: ["mcp__server__tool"] }],
		["tools: Read, Agent\ndisallowedTools: Agent", { tools: ["read"], subagents: [] }],
		["disallowedTools: Bash\npermissionMode: plan", { disallowedTools: ["bash", "edit", "write"] }],
		["permissionMode: default", {}],
	])("`%s` keeps its meaning", (lines, expected) => {
		const { preset, problems } = parseWith(lines, claude);
		expect(problems).toEqual([]);
		expect(preset).toMatchObject(expected);
	});

	test("a file without tools keeps them all, as there", () => {
		const { preset } = parseWith("", claude);
		expect([preset?.tools, preset?.subagents]).toEqual([undefined, undefined]);
	});

	test.each<[string, object, string]>([
		[
			"tools: Read, WebFetch",
			{ tools: ["read"] },
			'4: warning: "WebFetch" has no counterpart here: the agent runs without it',
		],
		[
			"tools: Read, Bash(git diff:*)",
			{ tools: ["read"] },
			'4: warning: "Bash(git diff:*)" has no counterpart here: rules for a tool are not supported, so the agent runs without "bash"',
		],
		[
			"disallowedTools: Bash(rm:*)",
			{ disallowedTools: ["bash"] },
			'4: warning: "Bash(rm:*)" has no counterpart here: rules for a tool are not supported, so "bash" is denied completely',
		],
		[
			"permissionMode: bypassPermissions",
			{},
			'4: warning: "permissionMode: bypassPermissions" has no counterpart here: it is ignored',
		],
		["hooks:\n  Stop: []", {}, '4: warning: "hooks" has no counterpart here: it is ignored'],
	])("`%s` loses something, never towards more access, and says so", (lines, expected, message) => {
		const { preset, problems } = parseWith(lines, claude);
		expect(preset).toMatchObject(expected);
		expect(told(problems)).toEqual([message]);
	});

	test.each(["tools: {Read: true}", "tools: 5\ntools: Read", "disallowedTools: {a: b}"])("`%s` is refused", (lines) => {
		expect(parseWith(lines, claude).preset).toBeUndefined();
	});
});

describe("OpenCode", () => {
	test.each<[string, object]>([
		["mode: subagent", { enabled: true }],
		["mode: primary", { enabled: false }],
		["mode: primary\ndisable: true", { enabled: false }],
		["disable: false", { enabled: true }],
		["steps: 5", { maxTurns: 5 }],
		["tools:\n  write: false\n  edit: false\n  bash: true", { disallowedTools: ["write", "edit"] }],
		['tools:\n  "*": false\n  read: true\n  glob: true', { tools: ["read", "find"] }],
		["tools:\n  task: false", { subagents: [] }],
		["permission:\n  edit: deny", { disallowedTools: ["edit", "write"] }],
		["permission:\n  edit: allow\n  bash:\n    git *: allow", {}],
		[
			'permission:\n  "*": deny\n  read: allow\n  grep: allow',
			{ disallowedTools: ["find", "ls", "bash", "edit", "write"] },
		],
		["permission: deny", { disallowedTools: ["read", "grep", "find", "ls", "bash", "edit", "write"] }],
		['permission:\n  task:\n    "*": deny\n    explore: allow', { subagents: ["explore"] }],
		["permission:\n  task: allow", { subagents: "*" }],
		["permission:\n  task: deny", { subagents: [] }],
	])("`%s` keeps its meaning", (lines, expected) => {
		const { preset, problems } = parseWith(lines, opencode);
		expect(problems).toEqual([]);
		expect(preset).toMatchObject({ promptMode: "replace", ...expected });
	});

	test.each<[string, object, string]>([
		[
			"permission:\n  bash: ask",
			{ disallowedTools: ["bash"] },
			'4: warning: "permission.bash: ask" has no counterpart here: the user cannot be asked, so "bash" is denied completely',
		],
		[
			'permission:\n  bash:\n    "*": allow\n    rm *: deny',
			{ disallowedTools: ["bash"] },
			'4: warning: "permission.bash: rules" has no counterpart here: the user cannot be asked, so "bash" is denied completely',
		],
		[
			'permission:\n  task:\n    "*": allow\n    worker: deny',
			{ subagents: [] },
			'4: warning: "permission.task: *=allow, worker=deny" has no counterpart here: patterns are not supported, so only the names that it allows are kept',
		],
		["temperature: 0.1", {}, '4: warning: "temperature" has no counterpart here: it is ignored'],
	])("`%s` loses something, never towards more access, and says so", (lines, expected, message) => {
		const { preset, problems } = parseWith(lines, opencode);
		expect(preset).toMatchObject(expected);
		expect(told(problems)).toEqual([message]);
	});

	test("`tools` that are no switches are refused", () => {
		expect(parseWith("tools:\n  write: perhaps", opencode).preset).toBeUndefined();
	});
});
