import { describe, expect, test } from "vitest";
import { readSettings } from "../src/settings.ts";

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
			defaultMaxTurns: 0,
			graceTurns: 5,
			idleTimeoutMinutes: 0,
			builtins: true,
			imports: [],
			projectPresets: "allow",
			scopeModels: "off",
			defaultModel: "",
			agentOverrides: {},
		},
		problems: [],
	});
});

test("a later file wins, key by key", () => {
	const { settings } = readSettings([
		file("global.json", { builtins: false, scopeModels: "warn" }),
		file("project.json", { scopeModels: "deny" }),
	]);
	expect(settings).toMatchObject({ builtins: false, scopeModels: "deny" });
});

describe("a bad value", () => {
	test.each([
		[{ builtins: "no" }, 'x.json: "builtins" is "no", expected true or false; the default is used'],
		[
			{ projectPresets: "maybe" },
			'x.json: "projectPresets" is "maybe", expected one of "allow", "trusted", "off"; the default is used',
		],
		[
			{ imports: ["cursor"] },
			'x.json: "imports" is ["cursor"], expected a list of one of "claude", "opencode"; the default is used',
		],
		[
			{ maxConcurrent: "many" },
			'x.json: "maxConcurrent" is "many", expected a whole number from 0 on; the default is used',
		],
		[
			{ maxPerModel: -1 },
			'x.json: "maxPerModel" is -1, expected a whole number from 0 on or an object; the default is used',
		],
		[{ agentOverrides: [] }, 'x.json: "agentOverrides" is [], expected an object; the default is used'],
		[{ defaultModel: 5 }, 'x.json: "defaultModel" is 5, expected a text; the default is used'],
	])("%j falls back alone", (value, problem) => {
		const { settings, problems } = readSettings([file("x.json", { ...value, scopeModels: "warn" })]);
		expect(problems).toEqual([problem]);
		expect(settings.scopeModels).toBe("warn");
	});

	test.each(["", "nonsense", "[]", "null", '"text"'])("a file that holds %j is named and ignored", (text) => {
		const { settings, problems } = readSettings([file("x.json", text)]);
		expect(settings.builtins).toBe(true);
		expect(problems).toEqual([expect.stringMatching(/^x\.json: not .*ignored$/)]);
	});
});

test("keys that nobody knows do no harm", () => {
	expect(
		readSettings([file("x.json", '{"__proto__": {"builtins": false}, "constructor": 1, "future": true}')]),
	).toMatchObject({
		settings: { builtins: true },
		problems: [],
	});
});
