import { expect, test } from "vitest";
import { parseOverride } from "../src/index.ts";

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

test("a wrong limit is dropped, with what was expected", () => {
	const { fields, faults, isRefused } = parseOverride({ max_turns: "many", model: "haiku" });
	expect([fields, isRefused]).toEqual([{ model: "haiku" }, false]);
	expect(faults).toEqual([expect.stringMatching(/^"max_turns" must be .*, but is "many"$/)]);
});

test("a wrong value that may have been meant to take tools away refuses the preset", () => {
	expect(parseOverride({ tools: { read: true } })).toMatchObject({ fields: {}, isRefused: true });
	expect(parseOverride("read")).toMatchObject({ fields: {}, isRefused: true });
});

test("unknown fields are named, with the one that was meant", () => {
	expect(parseOverride({ modle: "x", name: "y", __proto__: null }).faults).toEqual([
		'unknown field "modle" (did you mean "model"?)',
		'unknown field "name": it cannot be changed here',
	]);
});
