import { describe, expect, test } from "vitest";
import { readSettings } from "../../src/settings/settings.ts";

const file = (path: string, value: unknown) => ({
	path,
	text: typeof value === "string" ? value : JSON.stringify(value),
});

test("without files everything is at its default", () => {
	expect(readSettings([])).toEqual({
		settings: {
			maxConcurrent: 8,
			maxPerProvider: 0,
			maxPerModel: 0,
			whenFull: "queue",
			maxDepth: 4,
			idleTimeoutMinutes: 0,
			defaultMaxTurns: 0,
			graceTurns: 5,
			wrapUpPercent: 10,
			budget: { session: { cost: 0, tokens: 0, agents: 0 } },
			stalledAfterSeconds: 120,
			runner: "session",
			machine: "",
			machines: {},
			retry: "off",
			launchers: {},
			join: "smart",
			notify: "turn",
			interrupt: "foreground",
			toolsets: ["agents", "presets", "roles"],
			packageAgents: true,
			backgroundByDefault: true,
			worktrees: true,
			worktree: { dir: "", link: [], include: [], setup: "", setupTimeoutMinutes: 10 },
			verifyCalls: false,
			excludeExtensions: [],
			guards: "on",
			fallbackSubagent: false,
			builtins: true,
			imports: [],
			projectPresets: "allow",
			scopeModels: "off",
			defaultModel: "",
			scheduling: true,
			agentsKey: "alt+a",
			resultsKey: "alt+r",
			mentions: "direct",
			widget: "auto",
			drainSeconds: 600,
			retention: { days: 14, megabytes: 500 },
			agentOverrides: {},
			workflows: { autoResume: false, budgetTokens: 0 },
			notifications: { on: [], minSeconds: 30, via: "osc", command: [] },
			hooks: { before_launch: [] },
		},
		problems: [],
		notes: [],
	});
});

test("nobody can change the settings that all share", () => {
	const { settings } = readSettings([file("x.json", { agentOverrides: { Explore: { tools: ["read"] } } })]);
	expect(() => Object.assign(settings.retention, { days: 1 })).toThrow(TypeError);
	expect(() => Object.assign(settings.agentOverrides.Explore?.tools as object, ["bash"])).toThrow(TypeError);
	expect(readSettings([]).settings.retention.days).toBe(14);
});

describe("of several files", () => {
	test("the later wins, key by key", () => {
		const { settings } = readSettings([
			file("global.json", { builtins: false, scopeModels: "warn", maxPerProvider: { a: 1 } }),
			file("project.json", { scopeModels: "deny", maxPerProvider: { b: 2 } }),
		]);
		expect(settings).toMatchObject({ builtins: false, scopeModels: "deny" });
		expect(settings.maxPerProvider).toEqual({ b: 2 });
	});

	test("retention is merged by key", () => {
		const files = [file("a", { retention: { days: 1, megabytes: 2 } }), file("b", { retention: { days: 3 } })];
		expect(readSettings(files).settings.retention).toEqual({ days: 3, megabytes: 2 });
	});

	test("overrides are merged by the name of the preset, whatever its case", () => {
		const { settings } = readSettings([
			file("a", { agentOverrides: { Explore: { model: "haiku", max_turns: 3 }, Plan: { model: "opus" } } }),
			file("b", { agentOverrides: { explore: { model: "sonnet" } } }),
		]);
		expect(settings.agentOverrides).toEqual({ Plan: { model: "opus" }, explore: { model: "sonnet" } });
	});

	test("a bad value leaves what a weaker file says", () => {
		const { settings, problems } = readSettings([file("a", { maxConcurrent: 3 }), file("b", { maxConcurrent: "x" })]);
		expect([settings.maxConcurrent, problems.length]).toEqual([3, 1]);
	});
});

describe("a bad value", () => {
	test.each([
		[{ builtins: "no" }, '"builtins" is "no", expected true or false; ignored'],
		[{ projectPresets: "maybe" }, '"projectPresets" is "maybe", expected one of "allow", "trusted", "off"; ignored'],
		[{ imports: ["cursor"] }, '"imports" is ["cursor"], expected a list of any of "claude", "opencode"; ignored'],
		[{ maxConcurrent: "many" }, '"maxConcurrent" is "many", expected a whole number from 0 to 100000; ignored'],
		[{ maxConcurrent: 1.5 }, '"maxConcurrent" is 1.5, expected a whole number from 0 to 100000; ignored'],
		[{ idleTimeoutMinutes: null }, '"idleTimeoutMinutes" is null, expected a number from 0 to 34560; ignored'],
		[
			{ maxPerModel: { "a\nb": "x" } },
			'"maxPerModel" is {"a\\nb":"x"}, expected a whole number from 0 to 100000, or an object with a whole number from 0 to 100000 for each name; ignored',
		],
		[{ retention: 5 }, '"retention" is 5, expected an object; ignored'],
		[{ retention: { days: -1 } }, '"retention.days" is -1, expected a number from 0 to 36500; ignored'],
		[{ agentOverrides: [] }, '"agentOverrides" is [], expected an object with an object for each name; ignored'],
		[{ agentOverrides: { Plan: "haiku" } }, '"agentOverrides.Plan" is "haiku", expected an object; ignored'],
		[{ defaultModel: 5 }, '"defaultModel" is 5, expected a text of at most 200 characters; ignored'],
	])("%j falls back alone", (value, problem) => {
		const { settings, problems } = readSettings([file("x.json", { ...value, maxDepth: 2 })]);
		expect(problems).toEqual([`x.json: ${problem}`]);
		expect(settings).toEqual({ ...readSettings([]).settings, maxDepth: 2 });
	});

	test("its neighbours inside a group stay", () => {
		const { settings, problems } = readSettings([
			file("x.json", {
				retention: { days: "long", megabytes: 5 },
				agentOverrides: { Plan: false, Explore: { model: "haiku" } },
			}),
		]);
		expect(settings).toMatchObject({
			retention: { days: 14, megabytes: 5 },
			agentOverrides: { Explore: { model: "haiku" } },
		});
		expect(problems).toHaveLength(2);
	});

	test("is shown short and clean", () => {
		const nasty = `\u202e\u009b31m${"x".repeat(500)}`;
		const [problem = ""] = readSettings([file("x.json", { whenFull: nasty })]).problems;
		expect(problem).toMatch(/^x\.json: "whenFull" is "x+…, expected/);
		expect(problem.length).toBeLessThan(160);
	});

	test("many of them are counted, not listed", () => {
		const strange = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`strange-${index}`, 1]));
		const { problems } = readSettings([file("x.json", strange)]);
		expect(problems).toHaveLength(11);
		expect(problems.at(-1)).toBe("x.json: and 4990 more problems");
	});
});

test.each([
	["", /^x\.json: not valid JSON \(.*\); ignored$/],
	["{ // comment\n}", /^x\.json: not valid JSON \(.*\); ignored$/],
	["[]", /^x\.json: not a JSON object; ignored$/],
	["null", /^x\.json: not a JSON object; ignored$/],
	['"text"', /^x\.json: not a JSON object; ignored$/],
	[`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, /^x\.json: nested too deeply; ignored$/],
])("a file that holds %.20j is named and ignored", (text, problem) => {
	const { settings, problems } = readSettings([file("x.json", text)]);
	expect(settings).toEqual(readSettings([]).settings);
	expect(problems).toEqual([expect.stringMatching(problem)]);
});

describe("an unknown key", () => {
	test("does no harm, and its problem says what was perhaps meant", () => {
		const { settings, problems } = readSettings([
			file("x.json", { maxConcurent: 2, colour: "red", retention: { day: 3 }, maxDepth: 2 }),
		]);
		expect(settings).toEqual({ ...readSettings([]).settings, maxDepth: 2 });
		expect(problems).toEqual([
			'x.json: "maxConcurent" is not a setting; did you mean "maxConcurrent"?',
			'x.json: "colour" is not a setting; ignored',
			'x.json: "retention.day" is not a setting; did you mean "retention.days"?',
		]);
	});

	test("$schema is for editors, and no problem", () => {
		expect(readSettings([file("x.json", { $schema: "./x.json" })]).problems).toEqual([]);
	});

	test("those that every object has are as unknown as any other", () => {
		const text = '{"__proto__": {"builtins": false}, "constructor": 1, "retention": {"__proto__": {"days": 1}}}';
		const { settings, problems } = readSettings([file("x.json", text)]);
		expect(settings).toEqual(readSettings([]).settings);
		expect(problems).toHaveLength(3);
		expect({}).not.toHaveProperty("builtins");
	});

	test("a preset called __proto__ is only a name", () => {
		const text = '{"agentOverrides": {"__proto__": {"model": "x"}, "constructor": {"model": "y"}}}';
		const { settings } = readSettings([file("a", text), file("b", text)]);
		expect(Object.entries(settings.agentOverrides)).toEqual([
			["__proto__", { model: "x" }],
			["constructor", { model: "y" }],
		]);
		expect({}).not.toHaveProperty("model");
	});
});

describe("in a file that is not ours", () => {
	const shared = (value: unknown) => readSettings([{ ...file("settings.json", value), under: "subagents" }]);

	test("only our key counts", () => {
		expect(shared({ maxConcurrent: 1, theme: "dark", subagents: { maxDepth: 2 } })).toEqual({
			settings: { ...readSettings([]).settings, maxDepth: 2 },
			problems: [],
			notes: [],
		});
		expect(shared({ theme: "dark" }).problems).toEqual([]);
	});

	test("a bad value is named by its whole path", () => {
		expect(shared({ subagents: { maxDepth: 0 } }).problems).toEqual([
			'settings.json: "subagents.maxDepth" is 0, expected a whole number from 1 to 32; ignored',
		]);
		expect(shared({ subagents: [] }).problems).toEqual([
			'settings.json: "subagents" is [], expected an object; ignored',
		]);
	});

	test("settings of others may stand beside ours, but a slip is told", () => {
		expect(shared({ subagents: { harnesses: {}, maxdepht: 2 } }).problems).toEqual([
			'settings.json: "subagents.maxdepht" is not a setting; did you mean "subagents.maxDepth"?',
		]);
	});
});
