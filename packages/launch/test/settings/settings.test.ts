import { describe, expect, test } from "vitest";
import { readSettings } from "../../src/settings/settings.ts";
import { type Shape, settingsShape } from "../../src/settings/shape.ts";

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
		users: {},
		problems: [],
		refusals: [],
		notes: [],
		overrides: [],
		understood: new Map(),
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

	test("overrides are merged by the name of the preset, whatever its case, and by field", () => {
		const { settings } = readSettings([
			file("a", { agentOverrides: { Explore: { model: "haiku", max_turns: 3 }, Plan: { model: "opus" } } }),
			file("b", { agentOverrides: { explore: { model: "sonnet" } } }),
		]);
		expect(settings.agentOverrides).toEqual({
			Plan: { model: "opus" },
			explore: { model: "sonnet", max_turns: 3 },
		});
	});

	test("a bad value leaves what a weaker file says", () => {
		const { settings, problems } = readSettings([file("a", { maxConcurrent: 3 }), file("b", { maxConcurrent: "x" })]);
		expect([settings.maxConcurrent, problems.length]).toEqual([3, 1]);
	});
});

describe("a bad value of a setting that limits nothing", () => {
	test.each([
		[{ imports: ["cursor"] }, '"imports" is ["cursor"], expected a list of any of "claude", "opencode"; ignored'],
		[{ retention: 5 }, '"retention" is 5, expected an object; ignored'],
		[{ retention: { days: -1 } }, '"retention.days" is -1, expected a number from 0 to 36500; ignored'],
		[{ defaultModel: 5 }, '"defaultModel" is 5, expected a text of at most 200 characters; ignored'],
		[{ widget: "huge" }, '"widget" is "huge", expected one of "auto", "rich", "compact", "off"; ignored'],
		[{ colour: "red" }, '"colour" is not a setting; ignored'],
		[{ retention: { day: 3 } }, '"retention.day" is not a setting; did you mean "retention.days"?'],
	])("%j falls back alone, and agents are launched", (value, problem) => {
		const { settings, problems, refusals } = readSettings([file("x.json", { ...value, maxDepth: 2 })]);
		expect([problems, refusals]).toEqual([[`x.json:1: ${problem}`], []]);
		expect(settings).toEqual({ ...readSettings([]).settings, maxDepth: 2 });
	});
});

describe("a limit that is not understood refuses launches", () => {
	test.each([
		[{ builtins: "no" }, '"builtins" is "no", expected true or false'],
		[{ projectPresets: "maybe" }, '"projectPresets" is "maybe", expected one of "allow", "trusted", "off"'],
		[{ maxConcurrent: "many" }, '"maxConcurrent" is "many", expected a whole number from 0 to 100000'],
		[{ maxConcurrent: 1.5 }, '"maxConcurrent" is 1.5, expected a whole number from 0 to 100000'],
		[{ idleTimeoutMinutes: null }, '"idleTimeoutMinutes" is null, expected a number from 0 to 34560'],
		[
			{ maxPerModel: { "a\nb": "x" } },
			'"maxPerModel" is {"a\\nb":"x"}, expected a whole number from 0 to 100000, or an object with a whole number from 0 to 100000 for each name',
		],
		[{ agentOverrides: [] }, '"agentOverrides" is [], expected an object with an object for each name'],
		[{ agentOverrides: { Plan: "haiku" } }, '"agentOverrides.Plan" is "haiku", expected an object'],
		[{ hooks: ["policy"] }, '"hooks" is ["policy"], expected an object'],
		[{ hooks: { before_launch: "policy" } }, '"hooks.before_launch" is "policy", expected a list of names'],
		[
			{ hooks: { beforeLaunch: ["policy"] } },
			'"hooks.beforeLaunch" is not a setting; did you mean "hooks.before_launch"?',
		],
		[{ hooks: { on_settle: ["x"] } }, '"hooks.on_settle" is not a setting'],
		[{ budget: 5 }, '"budget" is 5, expected an object'],
		[{ budget: { session: { cost: "5 $" } } }, '"budget.session.cost" is "5 $", expected a number from 0 to 1000000'],
		[{ budget: { sesion: { cost: 5 } } }, '"budget.sesion" is not a setting; did you mean "budget.session"?'],
		[{ workflows: { budgetTokens: "1k" } }, '"workflows.budgetTokens" is "1k", expected a number from 0 to 1000000000'],
		[{ workflows: "off" }, '"workflows" is "off", expected an object'],
		[{ machines: { box: { labels: "gpu" } } }, '"machines.box.labels" is "gpu", expected a list of names'],
		[
			{ machines: { box: { lables: ["gpu"] } } },
			'"machines.box.lables" is not a setting; did you mean "machines.box.labels"?',
		],
		[
			{ launchers: { net: { command: [] } } },
			'"launchers.net" is {"command":[]}, expected an object with "command": a list of names',
		],
		[{ verifyCalls: "never" }, '"verifyCalls" is "never", expected true or false'],
		[{ machine: ["box"] }, '"machine" is ["box"], expected a text of at most 100 characters'],
		[{ maxConcurent: 2 }, '"maxConcurent" is not a setting; did you mean "maxConcurrent"?'],
		[{ maxSubagentDepth: "two" }, '"maxSubagentDepth" is "two", expected a whole number from 1 to 32'],
	])("%j", (value, problem) => {
		const { settings, problems, refusals } = readSettings([file("x.json", { ...value, graceTurns: 2 })]);
		const text = `x.json:1: ${problem}`;
		expect([problems, refusals]).toEqual([[text], [{ path: "x.json", text }]]);
		expect(settings.graceTurns).toBe(2);
	});

	test("the line is that of the key", () => {
		const text = '{\n\t"widget": "auto",\n\t"budget": {\n\t\t"session": {\n\t\t\t"cost": "5"\n\t\t}\n\t}\n}\n';
		expect(readSettings([file("x.json", text)]).refusals).toEqual([
			{ path: "x.json", text: 'x.json:5: "budget.session.cost" is "5", expected a number from 0 to 1000000' },
		]);
	});

	test.each([
		['{\n"maxDepth": 1,\n"maxDepth": 9 }', 'x.json:3: "maxDepth" is there more than once; keep one of them'],
		[
			'{"agentOverrides": {"Explore": {"tools": "read"},\n"Explore": {}}}',
			'x.json:2: "agentOverrides.Explore" is there more than once; keep one of them',
		],
	])("a limit that is there twice: JSON would keep only the last (%#)", (text, refusal) => {
		expect(readSettings([file("x.json", text)]).refusals).toEqual([{ path: "x.json", text: refusal }]);
		expect(readSettings([file("x.json", '{"widget": "off", "widget": "auto"}')]).problems).toEqual([]);
	});

	test("what it limited before stays in force for agents that run, and what else it says counts", () => {
		const before = { maxDepth: 2, widget: "off", workflows: { autoResume: true, budgetTokens: 5 } };
		const broken = { ...file("x.json", { maxDepth: "two", widget: "compact", maxConcurrent: 3 }), before };
		expect(readSettings([broken]).settings).toMatchObject({
			maxDepth: 2,
			widget: "compact",
			maxConcurrent: 3,
			workflows: { autoResume: false, budgetTokens: 5 },
		});
		expect(readSettings([{ path: "x.json", fault: "gone", before }]).settings).toMatchObject({
			maxDepth: 2,
			widget: "auto",
		});
	});
});

describe("a bad value", () => {
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
		expect(problem).toMatch(/^x\.json:1: "whenFull" is "x+…, expected/);
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
	["", "x.json:1: empty; write {}, or remove the file"],
	["{ // comment\n}", "x.json:1: not valid JSON (it has a comment, which JSON does not allow)"],
	['{\n"maxDepth": 2,\n}', 'x.json:2: not valid JSON (there is a comma too many before "}")'],
	['{\n"maxDepth": 2,,\n"a": 1}', "x.json:2: not valid JSON (there is a comma too many)"],
	['{"a": 1\n"maxDepth": 2}', 'x.json:2: not valid JSON (a comma or "}" is missing)'],
	["{'maxDepth': 2}", "x.json:1: not valid JSON (JSON needs double quotes)"],
	['{"maxDepth": 2', "x.json:1: not valid JSON (it ends too early)"],
	['{"maxDepth": 2}}', "x.json:1: not valid JSON (the text goes on after its end)"],
	['{"maxDepth" 2}', "x.json:1: not valid JSON (a colon is missing after the key)"],
	['{"maxDepth": }', "x.json:1: not valid JSON (a value is missing)"],
	['{"maxDepth": "2}', "x.json:1: not valid JSON (a text is not closed, or has a line break or a stray \\ in it)"],
	["[]", "x.json: not a JSON object"],
	["null", "x.json: not a JSON object"],
	['"text"', "x.json: not a JSON object"],
	[`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "x.json: nested too deeply"],
])("a file that holds %.20j is named with the line, and refuses launches", (text, problem) => {
	const { settings, problems, refusals, understood } = readSettings([file("x.json", text)]);
	expect(settings).toEqual(readSettings([]).settings);
	expect([problems, refusals]).toEqual([[problem], [{ path: "x.json", text: problem }]]);
	expect(understood.size).toBe(0);
});

describe("an unknown key", () => {
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
			users: { maxDepth: 2 },
			problems: [],
			refusals: [],
			notes: [],
			overrides: [],
			understood: new Map([["settings.json", { maxDepth: 2 }]]),
		});
		expect(shared({ theme: "dark" }).problems).toEqual([]);
	});

	test("a bad value is named by its whole path", () => {
		expect(shared({ subagents: { maxDepth: 0 } }).problems).toEqual([
			'settings.json:1: "subagents.maxDepth" is 0, expected a whole number from 1 to 32',
		]);
		expect(shared({ subagents: [] }).problems).toEqual(['settings.json:1: "subagents" is [], expected an object']);
	});

	test("settings of others may stand beside ours, but a slip is told, and refuses nothing: it may be theirs", () => {
		const { problems, refusals } = shared({ subagents: { harnesses: {}, maxdepht: 2 } });
		expect(problems).toEqual([
			'settings.json:1: "subagents.maxdepht" is not a setting; did you mean "subagents.maxDepth"?',
		]);
		expect(refusals).toEqual([]);
	});

	test("pi's own file in pieces refuses launches only if it may hold settings of ours", () => {
		const broken = (text: string) => readSettings([{ path: "settings.json", text, under: "subagents" }]);
		expect(broken('{"theme": "dark",}').refusals).toEqual([]);
		expect(broken('{"theme": "dark",}').problems).toHaveLength(1);
		expect(broken('{"subagents": {"maxDepth": 1},}').refusals).toHaveLength(1);
		expect(broken('{"\\u0073ubagents": {"maxDepth": 1},}').refusals).toHaveLength(1);
	});
});

describe("a project beside the user's own settings", () => {
	const read = (users: object, projects: object) =>
		readSettings([file("user.json", users), { ...file("project.json", projects), isProjects: true }]);

	test.each<[object, object, object]>([
		// What the user set, what the project asks for, what counts.
		[{ maxConcurrent: 4 }, { maxConcurrent: 20 }, { maxConcurrent: 4 }],
		[{ maxConcurrent: 4 }, { maxConcurrent: 0 }, { maxConcurrent: 4 }],
		[{ maxPerProvider: { a: 2 } }, { maxPerProvider: { a: 9, b: 1 } }, { maxPerProvider: { a: 2, b: 1 } }],
		[{ maxPerProvider: { a: 2 } }, { maxPerProvider: 9 }, { maxPerProvider: { a: 2 } }],
		[{ maxPerModel: 2 }, { maxPerModel: { a: 9 } }, { maxPerModel: 2 }],
		[{ maxDepth: 2 }, { maxDepth: 5 }, { maxDepth: 2 }],
		[{ idleTimeoutMinutes: 5 }, { idleTimeoutMinutes: 0 }, { idleTimeoutMinutes: 5 }],
		[{ defaultMaxTurns: 10 }, { defaultMaxTurns: 50 }, { defaultMaxTurns: 10 }],
		[{ graceTurns: 0 }, { graceTurns: 5 }, { graceTurns: 0 }],
		[{ toolsets: ["agents"] }, { toolsets: ["agents", "workflows"] }, { toolsets: ["agents"] }],
		[{ builtins: false }, { builtins: true }, { builtins: false }],
		[{ packageAgents: ["a"] }, { packageAgents: true }, { packageAgents: ["a"] }],
		[{ packageAgents: false }, { packageAgents: ["a"] }, { packageAgents: false }],
		[{ projectPresets: "off" }, { projectPresets: "allow" }, { projectPresets: "off" }],
		[{ scopeModels: "deny" }, { scopeModels: "off" }, { scopeModels: "deny" }],
		[{ worktrees: false }, { worktrees: true }, { worktrees: false }],
		[{ verifyCalls: false }, { verifyCalls: true }, { verifyCalls: false }],
		[{ excludeExtensions: ["a"] }, { excludeExtensions: ["b"] }, { excludeExtensions: ["a", "b"] }],
		[{ scheduling: false }, { scheduling: true }, { scheduling: false }],
		[{ workflows: { budgetTokens: 5 } }, { workflows: { budgetTokens: 0 } }, { workflows: { budgetTokens: 5 } }],
		[{ runner: "process" }, { runner: "session" }, { runner: "process" }],
		[{ machine: "box" }, { machine: "here" }, { machine: "box" }],
		[
			{ worktree: { setupTimeoutMinutes: 2 } },
			{ worktree: { setupTimeoutMinutes: 9 } },
			{ worktree: { setupTimeoutMinutes: 2 } },
		],
	])("%j is not widened by %j", (users, projects, counts) => {
		const { settings, problems, refusals } = read(users, projects);
		expect(settings).toMatchObject(counts);
		expect(refusals).toEqual([]);
		expect(problems).toEqual([
			expect.stringMatching(/^project\.json:1: ".+" is .+, but your own settings allow less: .+ counts$/),
		]);
	});

	test.each<[object, object]>([
		[{ maxConcurrent: 4 }, { maxConcurrent: 2 }],
		[{ maxConcurrent: 0 }, { maxConcurrent: 2 }],
		[{ maxDepth: 4 }, { maxDepth: 1 }],
		[{ toolsets: ["agents", "presets"] }, { toolsets: ["presets"] }],
		[{ builtins: true }, { builtins: false }],
		[{ scopeModels: "warn" }, { scopeModels: "deny" }],
		[{ verifyCalls: true }, { verifyCalls: false }],
		[
			{ widget: "off", join: "group" },
			{ widget: "rich", join: "async" },
		],
		[{}, { maxConcurrent: 20, maxDepth: 8, verifyCalls: true, builtins: true, runner: "process", machine: "b" }],
	])("%j is narrowed, or changed where it limits nothing, by %j", (users, projects) => {
		const { settings, problems } = read(users, projects);
		expect([settings, problems]).toEqual([expect.objectContaining(projects), []]);
	});

	test("what only the user decides does not count, right or wrong", () => {
		const said = { hooks: 5, budget: { session: { cost: "x" } }, machines: [], launchers: { a: {} } };
		const { settings, problems, refusals } = read({}, said);
		expect([settings, refusals]).toEqual([readSettings([]).settings, []]);
		expect(problems).toHaveLength(4);
	});

	test("every limit has a rule, and every setting says whether it is one", () => {
		const unmarked = (shape: Shape, at: string): string[] =>
			shape.limit !== undefined
				? []
				: Object.entries(shape.properties ?? { [at]: undefined }).flatMap(([key, part]) =>
						part ? unmarked(part, `${at}.${key}`) : [at],
					);
		expect(unmarked(settingsShape, "")).toEqual([]);
	});
});
