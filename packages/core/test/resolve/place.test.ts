import { describe, expect, test } from "vitest";
import { type Change, errorOf, preset, resolve } from "./fixture.ts";

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

describe("guards that replace built-in tools", () => {
	const cwd = { path: "/work", kind: "directory", isAsked: false } as const;
	const replacedTools = { worksIn: "/work", byGuard: { "my-sandbox": ["bash"] } };
	const user = { tools: ["read", "bash"] };
	const change: Change = { preset: user, facts: { cwd, replacedTools } };

	test("leave an agent in the session's directory where it is", () => {
		expect(resolve(change)).toMatchObject({ runner: "session", warnings: [] });
	});

	test("give an agent elsewhere its own process, and a note says why", () => {
		const elsewhere = resolve({ ...change, facts: { ...change.facts, cwd: { ...cwd, path: "/other" } } });
		expect(elsewhere).toMatchObject({ runner: "process", warnings: [expect.stringContaining("my-sandbox guards it")] });
		expect(resolve({ ...change, request: { isolation: "worktree" } }).runner).toBe("process");
	});

	test("do not matter to an agent without these tools, or in its own process anyway", () => {
		const request = { isolation: "worktree" } as const;
		expect(resolve({ ...change, request, preset: { tools: ["read"] } })).toMatchObject({
			runner: "session",
			warnings: [],
		});
		expect(resolve({ ...change, request, preset: { ...user, runner: "tmux" } })).toMatchObject({
			runner: "tmux",
			warnings: [],
		});
	});
});
