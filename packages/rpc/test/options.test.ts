/** The options of a spawn, by the names that callers use; what is wrong with one is said by that name. */
import { expect, test } from "vitest";
import { readRequest } from "../src/index.ts";

const optionsOf = (options: object) => readRequest("spawn", { type: "Explore", prompt: "look", options }).options;
const schema = { type: "object", required: ["doors"] };
const validator = Object.assign(() => true, { schema });

test.each([
	["outputSchema", schema],
	["structuredOutput", schema],
	["schema", schema],
	["structuredOutput", validator],
	["structuredOutput", { schema, validate: () => true }],
	[
		"structuredOutput",
		new (class {
			Type() {
				return schema;
			}
		})(),
	],
])("%s: a schema, plain or compiled", (key, value) => {
	expect(optionsOf({ [key]: value })).toEqual({ outputSchema: schema });
});

test.each([
	[{ schema: 7 }, "schema must be an object"],
	[{ structuredOutput: () => true }, 'structuredOutput is a function that does not hold its JSON Schema as "schema"'],
	[{ structuredOutput: { check: () => true } }, "structuredOutput.check is not JSON"],
	[{ onBeforeWorktreeCleanup: "rm -rf" }, "onBeforeWorktreeCleanup must be a function"],
	[{ invocation: ["x"] }, "invocation must be an object"],
	[{ invocation: { run: () => 1 } }, "invocation.run is not JSON"],
	[{ fallbackSubagent: true }, "fallbackSubagent must be a string"],
])("%j is refused by its name", (options, error) => {
	expect(() => optionsOf(options)).toThrow(error);
});

test("the options of newer versions are read", () => {
	const onBeforeWorktreeCleanup = () => undefined;
	const given = { fallbackSubagent: false, onBeforeWorktreeCleanup, invocation: { model: "one" } };
	expect(optionsOf(given)).toEqual(given);
});

test.each([
	[{}, "agents must be an array of objects"],
	[{ agents: [7] }, "agents[0] must be an object"],
	[{ agents: [{ name: "x" }] }, "agents[0]: systemPrompt must be a non-blank string"],
	[{ agents: [{ name: "x", systemPrompt: "y", tools: () => 1 }] }, "agents[0].tools is not JSON"],
	[{ agents: Array.from({ length: 201 }, () => ({})) }, "agents has 201 items"],
	[{ agents: [], exclusive: "yes" }, "exclusive must be true or false"],
])("presets: %j", (request, error) => {
	expect(() => readRequest("registerAgents", request)).toThrow(error);
});
