import { describe, expect, test } from "vitest";
import {
	type AgentError,
	type Defaults,
	type Facts,
	type PresetFields,
	type ResolveInput,
	resolveSpec,
} from "../../src/index.ts";

const preset: PresetFields = {
	name: "scout",
	prompt: "Look, do not touch.",
	promptMode: "append",
	enabled: true,
	path: "/project/.pi/subagents/scout.md",
	source: { kind: "project", flavour: "subagents", inProject: true },
};
const ofUser: PresetFields = { ...preset, source: { kind: "global", flavour: "agents", inProject: false } };
const facts: Facts = {
	models: [
		{ provider: "fake", id: "small", inScope: true },
		{ provider: "fake", id: "large", inScope: false },
	],
	tools: ["read", "bash", "edit", "write", "grep"].map((name) => ({ name, isActive: true })),
	cwd: { path: "/project", kind: "directory", isAsked: false },
	isProjectTrusted: false,
};
const parent: ResolveInput["parent"] = { model: { provider: "fake", id: "large" }, thinking: "low" };

type Change = {
	request?: Partial<ResolveInput["request"]>;
	preset?: Partial<PresetFields>;
	defaults?: Defaults;
	facts?: Partial<Facts>;
	parent?: ResolveInput["parent"];
};
const resolve = (change: Change = {}, base = ofUser) =>
	resolveSpec({
		request: { task: "Find the auth flow.", ...change.request },
		preset: { ...base, ...change.preset },
		defaults: change.defaults ?? {},
		parent: change.parent ?? parent,
		facts: { ...facts, ...change.facts },
	});
const errorOf = (change: Change, base = ofUser) => {
	try {
		return resolve(change, base);
	} catch (error) {
		const { code, message } = error as AgentError;
		return { code, message };
	}
};

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

describe("who decides the model", () => {
	const layers = {
		request: { model: "small" },
		defaults: { override: { model: "fake/large" } },
		preset: { model: "fake/small" },
	};

	test("the call, then the settings, then the preset, then the default, then the parent", () => {
		const chosen = (change: Change) => {
			const { model, origins } = resolve(change);
			return [model, origins.model];
		};
		expect(chosen(layers)).toEqual(["fake/small", "call"]);
		expect(chosen({ ...layers, request: {} })).toEqual(["fake/large", "settings"]);
		expect(chosen({ preset: layers.preset, defaults: { model: "fake/large" } })).toEqual(["fake/small", "preset"]);
		expect(chosen({ defaults: { model: "fake/small" } })).toEqual(["fake/small", "default"]);
		expect(chosen({})).toEqual(["fake/large", "parent"]);
	});

	test("a launch that requires a model does not inherit for the subagents directories: call, preset, or an error", () => {
		const request = { requiresModel: true };
		expect(resolve({ request: { ...request, model: "fake/small" } }, preset).model).toBe("fake/small");
		expect(resolve({ request, preset: { model: "small" } }, preset).model).toBe("fake/small");
		expect(errorOf({ request }, preset)).toEqual({
			code: "no_model",
			message:
				'No model: the call gives none and preset "scout" has no default. Pass `model`, or add one to /project/.pi/subagents/scout.md (`inherit` takes the session\'s). Available: fake/small, fake/large.',
		});
		expect(errorOf({ request: { ...request, model: "  " } }, preset)).toMatchObject({ code: "no_model" });
		const elsewhere = { ...preset, source: { ...preset.source, flavour: "agents" } };
		expect(resolve({ request }, elsewhere).model).toBe("fake/large");
		expect(resolve({ request }, { ...preset, source: { ...preset.source, kind: "package" } }).model).toBe("fake/large");
	});

	test("every other launch inherits the session's; a session without one is an error that says so", () => {
		expect(resolve({}, preset)).toMatchObject({ model: "fake/large", origins: { model: "parent" } });
		expect(errorOf({ parent: { model: undefined } }, preset)).toEqual({
			code: "no_model",
			message:
				'No model: the session has none to inherit, and neither the call nor preset "scout" names one. Choose one with /model, or pass `model`. Available: fake/small, fake/large.',
		});
	});

	test("a blank one in the call is none", () => {
		const { model, origins } = resolve({ request: { model: " " }, preset: { model: "small" } }, preset);
		expect([model, origins.model]).toEqual(["fake/small", "preset"]);
	});

	test("inherit takes the session's, everywhere, also over a weaker layer", () => {
		expect(resolve({ preset: { model: "inherit" } }, preset)).toMatchObject({
			model: "fake/large",
			origins: { model: "parent" },
		});
		expect(resolve({ request: { model: "Inherit" }, preset: { model: "small" } })).toMatchObject({
			model: "fake/large",
		});
	});

	test("a locked field keeps the call out, and says so", () => {
		const spec = resolve({ request: { model: "small" }, preset: { model: "large", locked: ["model"] } });
		expect([spec.model, spec.warnings]).toEqual([
			"fake/large",
			['Preset "scout" locks `model`, so the call\'s value was not used.'],
		]);
	});

	test("a name that no model has is an error", () => {
		expect(errorOf({ request: { model: "huge" } })).toMatchObject({ code: "unknown_model" });
		expect(errorOf({ preset: { model: "fake" } })).toMatchObject({ code: "unknown_model" });
	});

	describe("a file that names one which is not here", () => {
		const imported = { kind: "import", flavour: "claude", inProject: false };
		test.each<[string, Partial<PresetFields>, string, string]>([
			[
				"takes the first of its list that is",
				{ fallbackModels: ["huge", "small"] },
				"fake/small",
				"fake/small is used.",
			],
			[
				"and is imported runs on the session's model",
				{ source: imported },
				"fake/large",
				"the session's model is used: fake/large.",
			],
		])("%s, and says so", (_what, change, model, said) => {
			const spec = resolve({ preset: { model: "sonnet", ...change } });
			expect(spec.model).toBe(model);
			expect(spec.warnings[0]).toBe(`Preset "scout" asks for the model "sonnet", which is not available here; ${said}`);
		});

		test.each([
			["claude-3-5-sonnet-20241022", "router/anthropic/claude-sonnet-4.5"],
			["anthropic/claude-sonnet-4-5-20250929", "router/anthropic/claude-sonnet-4.5"],
			["openai/small", "fake/small"],
		])("and is imported runs on the nearest of its tier: %s", (wanted, model) => {
			const models = [...facts.models, { provider: "router", id: "anthropic/claude-sonnet-4.5" }];
			const spec = resolve({ preset: { model: wanted, source: imported }, facts: { models } });
			expect(spec.model).toBe(model);
		});

		test("is an error otherwise, and so is a call or a setting that names it, whatever the file is", () => {
			expect(errorOf({ preset: { model: "sonnet" } })).toMatchObject({ code: "unknown_model" });
			expect(errorOf({ request: { model: "sonnet" }, preset: { source: imported } })).toMatchObject({
				code: "unknown_model",
			});
			expect(
				errorOf({ defaults: { override: { model: "sonnet" } }, preset: { source: imported, model: "small" } }),
			).toMatchObject({ code: "unknown_model" });
		});
	});

	test("outside the user's enabled models: a call is refused or warned, a file is warned", () => {
		const message = "Model fake/large is not among your enabled models (fake/small).";
		expect(errorOf({ request: { model: "large" }, defaults: { scope: "deny" } })).toEqual({
			code: "model_out_of_scope",
			message,
		});
		expect(resolve({ request: { model: "large" }, defaults: { scope: "warn" } }).warnings).toEqual([message]);
		expect(resolve({ preset: { model: "large" }, defaults: { scope: "deny" } }).warnings).toEqual([message]);
		expect(resolve({ request: { model: "large" } }).warnings).toEqual([]);
	});
});

describe("thinking", () => {
	test("comes with a model's name, unless the call says otherwise", () => {
		expect(resolve({ preset: { model: "small:high", thinking: "off" } })).toMatchObject({
			thinking: "high",
			origins: { thinking: "preset" },
		});
		expect(resolve({ request: { model: "small:high", thinking: "max" } })).toMatchObject({
			thinking: "max",
			origins: { thinking: "call" },
		});
		expect(resolve({ preset: { thinking: "minimal" } })).toMatchObject({
			thinking: "minimal",
			origins: { thinking: "preset" },
		});
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

test("what a project's preset does without needs no yes, and a list that may not be loaded never becomes all", () => {
	const nothing = { extensions: false, skills: false };
	expect(resolve({ preset: { model: "small", ...nothing } }, preset)).toMatchObject({ ...nothing, warnings: [] });
	expect(resolve({ preset: { model: "small", skills: ["sew"] } }, preset)).toMatchObject({ skills: false });
});

test("a call that wants a worktree is refused where the preset locks that it has none", () => {
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

describe("the machine", () => {
	const machines = { facts: { machines: ["box"] } };
	test.each([
		["of the call", { ...machines, request: { machine: "box" } }, ["remote", "box"]],
		["of the preset", { ...machines, preset: { machine: "box" } }, ["remote", "box"]],
		["of the settings", { ...machines, defaults: { machine: "box" } }, ["remote", "box"]],
		["of a worker here, which needs no definition", { request: { machine: "local" } }, ["remote", "local"]],
		[
			"of the call is here, whatever the preset says",
			{ ...machines, request: { machine: "here" }, preset: { machine: "box" } },
			["session", undefined],
		],
		["is not asked for", { ...machines, request: { machine: "" } }, ["session", undefined]],
		["beats the runner", { ...machines, preset: { machine: "box", runner: "tmux" as const } }, ["remote", "box"]],
	])("%s", (_name, change, expected) => {
		const { runner, machine } = resolve(change);
		expect([runner, machine]).toEqual(expected);
	});

	test("that nobody defined is an error that names the known ones", () => {
		expect(errorOf({ ...machines, request: { machine: "bix" } })).toEqual({
			code: "bad_request",
			message:
				'There is no machine "bix". There is "here", "local", "box". Machines are defined in your own settings (`machines`).',
		});
	});

	test.each([
		["the call asks for it", { request: { machine: "local", retry: "lost" as const } }, "lost"],
		["the preset does", { preset: { machine: "local", retry: "lost" as const } }, "lost"],
		["the settings do", { request: { machine: "local" }, defaults: { retry: "lost" as const } }, "lost"],
		[
			"the call wants none",
			{ request: { machine: "local", retry: "off" as const }, preset: { retry: "lost" as const } },
			undefined,
		],
		["nobody asks for it", { request: { machine: "local" } }, undefined],
		["it runs here", { preset: { retry: "lost" as const } }, undefined],
	])("may lose an agent that is then run again, if %s", (_name, change, expected) => {
		const { retry, warnings } = resolve(change);
		expect([retry, warnings]).toEqual([expected, []]);
	});

	test("is needed by a call that asks to be run again", () => {
		const { retry, warnings } = resolve({ request: { retry: "lost" } });
		expect([retry, warnings]).toEqual([undefined, [expect.stringMatching(/^`retry: lost` is for agents on other/)]]);
	});

	test("is not chosen by a preset of a project that the user does not trust", () => {
		const { runner, warnings } = resolve({ ...machines, preset: { machine: "box" } }, preset);
		expect([runner, warnings]).toEqual([
			"session",
			['Preset "scout" sets machine; that counts only in a project you have trusted.'],
		]);
	});
});

describe("the launcher", () => {
	const launchers = { facts: { launchers: ["net", "box"] } };
	test.each([
		["of the preset", { ...launchers, preset: { launcher: "net" } }, ["process", "net", "preset"]],
		[
			"of the settings, instead of the preset's",
			{ ...launchers, preset: { launcher: "net" }, defaults: { override: { launcher: "box" } } },
			["process", "box", "settings"],
		],
		[
			"beats the runner",
			{ ...launchers, preset: { launcher: "net", runner: "tmux" as const } },
			["process", "net", "preset"],
		],
		["is not asked for", launchers, ["session", undefined, undefined]],
	])("%s", (_name, change, expected) => {
		const { runner, launcher, origins } = resolve(change);
		expect([runner, launcher, origins.launcher]).toEqual(expected);
	});

	test.each([
		[
			"that nobody defined",
			{ ...launchers, preset: { launcher: "nat" } },
			'Preset "scout" runs inside the launcher "nat", which your settings do not define. There is "net", "box". Launchers are defined in your own settings (`launchers`).',
		],
		[
			"for an agent on another machine",
			{ facts: { ...launchers.facts, machines: ["far"] }, preset: { launcher: "net" }, request: { machine: "far" } },
			'Preset "scout" runs inside the launcher "net", which is for agents on this machine, and it is to run on "far". Leave one of them out.',
		],
	])("%s is an error", (_name, change, message) => {
		expect(errorOf(change)).toEqual({ code: "bad_request", message });
	});

	test("of a project that the user does not trust is refused, not left out, unless the user chose it", () => {
		const change = { ...launchers, preset: { launcher: "net" } };
		expect(() => resolve(change, preset)).toThrow("may choose one only if you trust the project");
		expect(resolve({ ...change, defaults: { override: { launcher: "net" } } }, preset).launcher).toBe("net");
		expect(resolve({ ...change, facts: { ...launchers.facts, isProjectTrusted: true } }, preset).launcher).toBe("net");
	});
});
