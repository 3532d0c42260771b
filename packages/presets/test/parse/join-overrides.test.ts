/** What the user's own settings and a project's say about one preset: the project narrows, and never widens. */
import { describe, expect, test } from "vitest";
import { fields, joinOverrides, type PresetFields } from "../../src/index.ts";

const users = (fields: PresetFields) => ({ fields, isProjects: false });
const projects = (fields: PresetFields) => ({ fields, isProjects: true });

test("a field that only one of them sets stays", () => {
	const { fields, held } = joinOverrides([users({ tools: ["read"] }), projects({ color: "red", maxTurns: 5 })]);
	expect([fields, held]).toEqual([{ tools: ["read"], color: "red", maxTurns: 5 }, []]);
});

test("of the user's own files the later wins, field by field, and so of the project's", () => {
	const all = [
		users({ maxTurns: 3, color: "red" }),
		users({ maxTurns: 9 }),
		projects({ timeoutMs: 5 }),
		projects({ timeoutMs: 9 }),
	];
	expect(joinOverrides(all).fields).toEqual({ maxTurns: 9, color: "red", timeoutMs: 9 });
});

test.each<[PresetFields, PresetFields, PresetFields]>([
	// What the user says, what the project asks for, what counts.
	[{ tools: ["read"] }, { tools: "*" }, { tools: ["read"] }],
	[{ tools: ["read", "grep"] }, { tools: ["bash", "read"] }, { tools: ["read"] }],
	[{ tools: ["read"] }, { tools: ["bash"] }, { tools: [] }],
	[{ tools: ["ext:web/search"] }, { tools: ["ext:web"] }, { tools: ["ext:web/search"] }],
	[{ tools: ["mcp:a/one"] }, { tools: ["mcp:a", "mcp:b"] }, { tools: ["mcp:a/one"] }],
	[{ disallowedTools: ["bash"] }, { disallowedTools: ["write"] }, { disallowedTools: ["bash", "write"] }],
	[{ mcpServers: ["a"] }, { mcpServers: ["a", "b"] }, { mcpServers: ["a"] }],
	[{ extensions: false }, { extensions: true }, { extensions: false }],
	[{ extensions: ["a"] }, { extensions: true }, { extensions: ["a"] }],
	[{ excludeExtensions: ["a"] }, { excludeExtensions: [] }, { excludeExtensions: ["a"] }],
	[{ skills: ["a"] }, { skills: ["a", "b"] }, { skills: ["a"] }],
	[{ maxTurns: 5 }, { maxTurns: 50 }, { maxTurns: 5 }],
	[{ maxTurns: 5 }, { maxTurns: 0 }, { maxTurns: 5 }],
	[{ timeoutMs: 5 }, { timeoutMs: 9 }, { timeoutMs: 5 }],
	[{ toolTimeoutMs: 5 }, { toolTimeoutMs: 0 }, { toolTimeoutMs: 5 }],
	[{ idleTimeoutMs: 5 }, { idleTimeoutMs: 9 }, { idleTimeoutMs: 5 }],
	[{ budgetTokens: 5 }, { budgetTokens: 9 }, { budgetTokens: 5 }],
	[{ budgetCost: 0.5 }, { budgetCost: 9 }, { budgetCost: 0.5 }],
	[{ isolation: "worktree" }, { isolation: "off" }, { isolation: "worktree" }],
	[{ isolationBase: "head" }, { isolationBase: "dirty" }, { isolationBase: "head" }],
	[{ worktree: { setup: "a" } }, { worktree: { setup: "b" } }, { worktree: { setup: "a" } }],
	[{ isolated: true }, { isolated: false }, { isolated: true }],
	[{ memory: "local" }, { memory: "user" }, { memory: "local" }],
	[{ verify: { command: "a" } }, { verify: { command: "b" } }, { verify: { command: "a" } }],
	[{ verifyRepairs: 0 }, { verifyRepairs: 5 }, { verifyRepairs: 0 }],
	[{ subagents: ["scout"] }, { subagents: "*" }, { subagents: ["scout"] }],
	[{ subagents: [] }, { subagents: ["scout"] }, { subagents: [] }],
	[{ runner: "process" }, { runner: "session" }, { runner: "process" }],
	[{ machine: "box" }, { machine: "here" }, { machine: "box" }],
	[{ retry: "off" }, { retry: "lost" }, { retry: "off" }],
	[{ launcher: "offline" }, { launcher: "online" }, { launcher: "offline" }],
	[{ enabled: false }, { enabled: true }, { enabled: false }],
	[{ locked: ["model"] }, { locked: [] }, { locked: ["model"] }],
])("%j is not widened by %j", (own, asked, counts) => {
	const [key = ""] = Object.keys(own);
	const name = fields.find((field) => field.key === key)?.name;
	expect(joinOverrides([users(own), projects(asked)])).toEqual({ fields: counts, held: [name] });
	expect(joinOverrides([projects(asked)], own), "nor what the user's own preset says").toEqual({
		fields: counts,
		held: [name],
	});
});

test.each<[PresetFields, PresetFields]>([
	[{ tools: "*" }, { tools: ["read"] }],
	[{ tools: ["read", "grep"] }, { tools: ["read"] }],
	[{ tools: ["ext:web"] }, { tools: ["ext:web/search"] }],
	[{ extensions: true }, { extensions: ["a"] }],
	[{ maxTurns: 50 }, { maxTurns: 5 }],
	[{ maxTurns: 0 }, { maxTurns: 5 }],
	[{ enabled: true }, { enabled: false }],
	[{ isolated: false }, { isolated: true }],
	[
		{ model: "haiku", thinking: "low", color: "red" },
		{ model: "opus", thinking: "high", color: "blue" },
	],
])("%j is narrowed, or changed where it limits nothing, by %j", (own, asked) => {
	expect(joinOverrides([users(own), projects(asked)])).toEqual({ fields: asked, held: [] });
});

describe("the table of fields", () => {
	test("says for every field that refuses a preset how it is joined", () => {
		const limits = fields.filter(({ key, onError }) => onError === "refuse" && key !== "name");
		expect(limits.filter(({ joins }) => joins === undefined)).toEqual([]);
	});
});
