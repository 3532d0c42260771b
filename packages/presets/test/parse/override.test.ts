import { expect, test } from "vitest";
import { parseOverride } from "../../src/index.ts";

test("settings speak the language of the files, in any spelling", () => {
	expect(
		parseOverride({ model: "haiku", max_turns: 20, tools: "read, grep", timeout: "5m", disallowedTools: ["bash"] }),
	).toEqual({
		fields: { model: "haiku", maxTurns: 20, tools: ["read", "grep"], timeoutMs: 300_000, disallowedTools: ["bash"] },
		faults: [],
		isRefused: false,
	});
});

test("`inherit` asks for the session's model here too", () => {
	expect(parseOverride({ model: "inherit" }).fields).toEqual({ model: "inherit" });
});

test("a wrong value that limits nothing is dropped, with what was expected", () => {
	const { fields, faults, isRefused } = parseOverride({ thinking: "much", model: "haiku" });
	expect([fields, isRefused]).toEqual([{ model: "haiku" }, false]);
	const message = expect.stringMatching(/^"thinking" must be .*, but is "much"$/);
	expect(faults).toEqual([{ key: "thinking", message }]);
});

test.each<[object, RegExp]>([
	[{ max_turns: "many" }, /^"max_turns" must be .*, but is "many"$/],
	[{ toolz: "read" }, /looks like a limit: did you mean "tools"\?/],
	[{ sandbox: "docker" }, /"sandbox" is not supported by this version/],
	[{ disabled: "perhaps" }, /"disabled" must be `true` or `false`/],
])("a limit that is not understood refuses the preset: %j", (values, fault) => {
	const { isRefused, faults } = parseOverride(values);
	const [key] = Object.keys(values);
	expect([isRefused, faults]).toEqual([true, [{ key, message: expect.stringMatching(fault) }]]);
});

test("the words of other extensions are understood", () => {
	expect(parseOverride({ disabled: true, allowedAgents: ["scout"], permissionMode: "plan" })).toEqual({
		fields: { enabled: false, subagents: ["scout"], disallowedTools: ["edit", "write", "bash"] },
		faults: [],
		isRefused: false,
	});
});

test("a wrong value that may have been meant to take tools away refuses the preset", () => {
	expect(parseOverride({ tools: { read: true } })).toMatchObject({ fields: {}, isRefused: true });
	expect(parseOverride("read")).toMatchObject({ fields: {}, isRefused: true });
	expect(parseOverride({ isolaton: "worktree" })).toMatchObject({ fields: {}, isRefused: true });
});

test("unknown fields are named, with the one that was meant", () => {
	expect(parseOverride({ modle: "x", name: "y", __proto__: null }).faults).toEqual([
		{ key: "modle", message: 'unknown field "modle" (did you mean "model"?)' },
		{ key: "name", message: 'unknown field "name": it cannot be changed here' },
	]);
});
