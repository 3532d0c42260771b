import { describe, expect, test } from "vitest";
import type { PresetFields } from "../../src/index.ts";
import { type Change, errorOf, facts, ofUser, parent, preset, resolve } from "./fixture.ts";

test("a plain request becomes a whole spec, and every value knows where it came from", () => {
	expect(resolve()).toEqual({
		type: "scout",
		description: "Find the auth flow.",
		task: "Find the auth flow.",
		cwd: "/project",
		runner: "session",
		presetSource: "/project/.pi/subagents/scout.md",
		model: "fake/large",
		thinking: "low",
		tools: ["read", "bash", "edit", "write"],
		systemPrompt: { mode: "append", text: "Look, do not touch." },
		limits: {},
		origins: { model: "parent", thinking: "parent", tools: "default", promptMode: "preset", cwd: "parent" },
		warnings: [],
	});
});

describe("limits", () => {
	test("0 lifts what a weaker layer sets", () => {
		const { limits, origins } = resolve({
			request: { maxTurns: 0 },
			preset: { maxTurns: 20, timeoutMs: 60_000, budgetCost: 0.5 },
			defaults: { maxTurns: 50, idleTimeoutMs: 1_000, override: { timeoutMs: 30_000 } },
		});
		expect(limits).toEqual({ timeoutMs: 30_000, budgetCost: 0.5, idleTimeoutMs: 1_000 });
		expect(origins).toMatchObject({
			maxTurns: "call",
			timeoutMs: "settings",
			budgetCost: "preset",
			idleTimeoutMs: "default",
		});
	});
});

describe("what cannot be run", () => {
	test.each([
		["a blank task", { request: { task: " \n" } }, "no_task", "The task is empty. Say what the agent should do."],
		[
			"a preset that is switched off",
			{ preset: { enabled: false } },
			"disabled_preset",
			'Preset "scout" is switched off (`enabled: false` in /project/.pi/subagents/scout.md).',
		],
		[
			"a directory that is not there",
			{ facts: { cwd: { path: "/gone", kind: "missing", isAsked: true } } },
			"bad_cwd",
			"The working directory /gone does not exist.",
		],
		[
			"a directory that is a file",
			{ facts: { cwd: { path: "/file", kind: "other", isAsked: true } } },
			"bad_cwd",
			"The working directory /file is not a directory.",
		],
		[
			"a relative path that leads out",
			{ facts: { cwd: { path: "/etc", kind: "outside", isAsked: true } } },
			"bad_cwd",
			"The working directory /etc lies outside this session's directory; give an absolute path if that is what you mean.",
		],
	] as const)("%s", (_what, change, code, message) => {
		expect(errorOf(change as Change)).toEqual({ code, message });
	});

	test("a tool that is not there", () => {
		expect(errorOf({ preset: { tools: ["grpe"] } })).toMatchObject({ code: "unknown_tool" });
		expect(errorOf({ defaults: { override: { tools: ["nothing"] } } })).toMatchObject({ code: "unknown_tool" });
	});
});

test("settings may give a preset other tools", () => {
	expect(resolve({ preset: { tools: ["read"] }, defaults: { override: { tools: ["grep"] } } })).toMatchObject({
		tools: ["grep"],
		origins: { tools: "settings" },
	});
});

test("settings may switch a preset off, or let its prompt replace pi's", () => {
	expect(errorOf({ defaults: { override: { enabled: false } } })).toMatchObject({ code: "disabled_preset" });
	expect(resolve({ defaults: { override: { promptMode: "replace" } } })).toMatchObject({
		systemPrompt: { mode: "replace" },
		origins: { promptMode: "settings" },
	});
});

test("how a project's preset is executed is the user's to allow", () => {
	const wish = { preset: { model: "small", runner: "process" as const } };
	const warning = 'Preset "scout" sets runner; that counts only in a project you have trusted.';
	expect(resolve(wish, preset)).toMatchObject({ runner: "session", warnings: [warning] });
	expect(resolve({ ...wish, facts: { isProjectTrusted: true } }, preset)).toMatchObject({
		runner: "process",
		warnings: [],
	});
	expect(resolve(wish)).toMatchObject({ runner: "process", warnings: [] });
	expect(resolve({ ...wish, defaults: { override: { runner: "process" } } }, preset)).toMatchObject({
		runner: "process",
		warnings: [],
	});
});

test("a project's preset needs no trust to give something up, and a list that may not be loaded never becomes all", () => {
	const nothing = { extensions: false, skills: false };
	expect(resolve({ preset: { model: "small", ...nothing } }, preset)).toMatchObject({ ...nothing, warnings: [] });
	expect(resolve({ preset: { model: "small", skills: ["sew"] } }, preset)).toMatchObject({ skills: false });
});

test("a call that asks for a worktree is refused if the preset locks that it has none", () => {
	for (const preset of [{ locked: ["isolation"] }, { locked: ["isolation"], isolation: "off" as const }])
		expect(errorOf({ request: { isolation: "worktree" }, preset })).toEqual({
			code: "bad_request",
			message: expect.stringMatching(/asks for `isolation: worktree`, but preset "scout" locks `isolation`/),
		});
});

test("extensions and skills of a project's preset count only with the user's yes; whom it may launch does not need it", () => {
	const wish = { preset: { model: "small", extensions: ["web"], skills: true, subagents: "*" as const } };
	const untrusted = resolve(wish, preset);
	expect(untrusted).toMatchObject({
		subagents: "*",
		warnings: ['Preset "scout" sets extensions, skills; that counts only in a project you have trusted.'],
	});
	expect(untrusted).not.toHaveProperty("extensions");
	expect(untrusted).not.toHaveProperty("skills");
	const trusted = resolve({ ...wish, facts: { isProjectTrusted: true } }, preset);
	expect(trusted).toMatchObject({ extensions: ["web"], skills: true, warnings: [] });
});

describe("what an agent is given", () => {
	const asked = { type: "object", required: ["a"] };
	const usual = { type: "object", required: ["b"] };

	test("the call's output schema, else the preset's, and one repair unless the preset says otherwise", () => {
		expect(resolve().output).toBeUndefined();
		expect(resolve({ preset: { outputSchema: usual } }).output).toEqual({ schema: usual, repairs: 1 });
		expect(
			resolve({ request: { outputSchema: asked }, preset: { outputSchema: usual, outputRepairs: 0 } }).output,
		).toEqual({ schema: asked, repairs: 0 });
	});

	test("what the preset has locked is not the call's to choose, and that is said", () => {
		const { output, isolation, inheritsContext, warnings } = resolve({
			request: { outputSchema: asked, isolation: "off", inheritContext: true },
			preset: { outputSchema: usual, isolation: "worktree", locked: ["outputSchema", "isolation", "inheritContext"] },
		});
		expect({ output, isolation, inheritsContext }).toEqual({
			output: { schema: usual, repairs: 1 },
			isolation: { kind: "worktree", base: "head" },
		});
		expect(warnings).toEqual(
			["outputSchema", "isolation", "inheritContext"].map(
				(field) => `Preset "scout" locks \`${field}\`, so the call's value was not used.`,
			),
		);
	});

	test("a worktree that begins with the last commit, or with what lies in the directory", () => {
		expect(resolve({ preset: { isolation: "worktree" } }).isolation).toEqual({ kind: "worktree", base: "head" });
		expect(resolve({ request: { isolation: "worktree" }, preset: { isolationBase: "Dirty" } }).isolation).toEqual({
			kind: "worktree",
			base: "dirty",
		});
		expect(resolve({ preset: { isolation: "off", isolationBase: "main" } }).isolation).toBeUndefined();
		expect(errorOf({ preset: { isolation: "worktree", isolationBase: "main" } })).toEqual({
			code: "bad_request",
			message: expect.stringContaining("/project/.pi/subagents/scout.md"),
		});
	});

	test("the fallback models that there are, without the one it begins with; of others it is told", () => {
		const { fallbackModels, warnings } = resolve({
			preset: { model: "fake/small", fallbackModels: ["small", "fake/large", "nothing", "large"] },
		});
		expect(fallbackModels).toEqual(["fake/large"]);
		expect(warnings).toEqual([
			expect.stringMatching(/^Preset "scout" names a fallback model that cannot be used: .*nothing/),
		]);
		expect(resolve({ preset: { fallbackModels: ["nothing"] } })).not.toHaveProperty("fallbackModels");
	});

	test("notes and a conversation, if the preset says so", () => {
		expect(resolve({ preset: { memory: "user", inheritContext: true } })).toMatchObject({
			memory: "user",
			inheritsContext: true,
		});
		expect(resolve()).not.toHaveProperty("inheritsContext");
	});

	test("an agent in a process of its own cannot launch others, and that is said", () => {
		const warning = (runner: string) =>
			`Preset "scout" may launch agents, but not with \`runner: ${runner}\`: it does all the work itself.`;
		const warnings = (preset: Partial<PresetFields>) => resolve({ preset }).warnings;
		expect(warnings({ runner: "process", subagents: "*" })).toEqual([warning("process")]);
		expect(warnings({ runner: "tmux", subagents: ["scout"] })).toEqual([warning("tmux")]);
		expect(warnings({ runner: "process", subagents: [] })).toEqual([]);
		expect(warnings({ runner: "process" })).toEqual([]);
		expect(warnings({ subagents: "*" })).toEqual([]);
	});

	test("isolated means no extensions and no skills, whatever else is said", () => {
		expect(resolve({ preset: { isolated: true, extensions: true, skills: ["x"] } })).toMatchObject({
			extensions: false,
			skills: false,
		});
	});
});

test("a description is made from the task when there is none", () => {
	const long = "Please look at every single file in this enormous repository and tell me what each is for";
	expect(resolve({ request: { task: `${long}\nand more` } }).description).toBe(`${long} and more`);
	expect(resolve({ request: { task: `${long}, as far as that can be said at all` } }).description).toBe(
		`${long}, as far as that can be said…`,
	);
	expect(resolve({ request: { task: "x".repeat(500) } }).description).toHaveLength(121);
	expect(resolve({ request: { description: " map the code " } }).description).toBe("map the code");
	expect(resolve({ request: { description: "x".repeat(10_000) } }).description).toHaveLength(200);
});

test("a preset without a body adds no prompt", () => {
	expect(resolve({ preset: { prompt: " \n" } })).not.toHaveProperty("systemPrompt");
});

test("nothing that was passed in is changed", () => {
	const frozen = JSON.stringify({ ofUser, facts, parent });
	resolve({ request: { model: "small" } });
	expect(JSON.stringify({ ofUser, facts, parent })).toBe(frozen);
});

test("an agent that is left without any tool says so; one that wants none does not", () => {
	const warning = expect.stringMatching(/^Preset "scout" has no tools left: it can only answer from/);
	expect(resolve({ preset: { tools: ["read"], disallowedTools: ["read"] } }).warnings).toEqual([warning]);
	expect(
		resolve({ preset: { tools: [], source: { kind: "import", flavour: "claude", inProject: false } } }).warnings,
	).toEqual([warning]);
	expect(resolve({ preset: { tools: [] } }).warnings).toEqual([]);
});
