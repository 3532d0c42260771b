import { describe, expect, test } from "vitest";
import { AgentError } from "../../src/index.ts";
import { parseOutputSchema } from "../../src/output/index.ts";

function refusal(given: unknown): string {
	try {
		parseOutputSchema(given);
	} catch (error) {
		expect(error).toBeInstanceOf(AgentError);
		expect((error as AgentError).code).toBe("bad_schema");
		return (error as AgentError).message;
	}
	return "";
}

const files = { type: "object", properties: { files: { type: "array", items: { type: "string" } } } };

describe("an output schema", () => {
	test("may be an object or JSON", () => {
		expect(parseOutputSchema(files)).toEqual(files);
		expect(parseOutputSchema(JSON.stringify(files))).toEqual(files);
	});

	test("is no longer in the hands of whoever gave it", () => {
		const given = structuredClone(files);
		const schema = parseOutputSchema(given);
		given.type = "strin";
		expect(schema).toEqual(files);
	});

	test.each([undefined, null, "", " \n", {}, "{}", "null"])("that is %j means free text", (given) => {
		expect(parseOutputSchema(given)).toBeUndefined();
	});

	test.each([
		["a number", 3, /must be a JSON Schema as an object or as JSON text, not a number/],
		["a list", [files], /not a list/],
		["true", "true", /not a boolean/],
		["text that is no JSON", "a list of files", /not valid JSON: .*Give the schema as an object/],
		["half a text", '{"type": "object"', /not valid JSON/],
		["huge text", `{"description": "${"x".repeat(60_000)}"}`, /longer than 50000 characters/],
		["a huge object", { description: "x".repeat(60_000) }, /longer than 50000 characters/],
		["very deep", JSON.parse(`${'{"not":'.repeat(100)}{}${"}".repeat(100)}`), /deeper than 60 levels/],
		["not JSON at heart", { type: "object", default: 1n }, /values that JSON cannot express/],
	])("is refused when it is %s", (_name, given, message) => {
		expect(refusal(given)).toMatch(message);
	});

	test("that contains itself is refused", () => {
		const circle: Record<string, unknown> = { type: "object" };
		circle.properties = { again: circle };
		expect(refusal(circle)).toMatch(/deeper than/);
	});

	test.each([
		["an unknown type", { type: "strin" }, '/type: "strin" is no type'],
		["an unknown type in a list", { type: ["object", "nul"] }, "/type"],
		["no type in a list", { type: [] }, "/type"],
		["a bound that is text", { properties: { n: { minimum: "x" } } }, "/properties/n/minimum: must be a number"],
		["a bound of an old draft", { properties: { n: { exclusiveMinimum: true } } }, "/properties/n/exclusiveMinimum"],
		["a length below zero", { properties: { n: { minLength: -1 } } }, "/properties/n/minLength: must be a whole"],
		["a step of nothing", { properties: { n: { multipleOf: 0 } } }, "/properties/n/multipleOf"],
		[
			"required as a flag",
			{ properties: { n: { required: true } } },
			"/properties/n/required: must be a list of names",
		],
		["properties as a list", { properties: [] }, "/properties: must be an object of schemas"],
		["a property that is text", { properties: { "a/b": "string" } }, "/properties/a~1b: must be a schema"],
		["choices that are none", { anyOf: [] }, "/anyOf: must be a list of schemas"],
		["choices as an object", { oneOf: { type: "object" } }, "/oneOf: must be a list of schemas"],
		["values as an object", { properties: { a: { enum: {} } } }, "/properties/a/enum: must be a list"],
		["items that are text", { properties: { a: { items: "string" } } }, "/properties/a/items: must be a schema"],
		[
			"a broken pattern",
			{ properties: { a: { pattern: "(" } } },
			'/properties/a/pattern: "(" is no regular expression',
		],
		["a broken pattern of names", { patternProperties: { "[": {} } }, "/patternProperties/[: "],
		["dependencies of text", { dependentRequired: { a: "b" } }, "/dependentRequired: must be an object of lists"],
		["a remote reference", { $ref: "https://example.com/schema.json" }, "leads outside of the schema, and nothing is"],
		["a reference to a file", { properties: { a: { $ref: "other.json#/a" } } }, "/properties/a/$ref: "],
		["a reference to nothing", { $ref: "#/$defs/nothing" }, 'At /$ref: "#/$defs/nothing" leads to nothing'],
		["a reference to an unknown anchor", { $ref: "#nowhere" }, "leads to nothing"],
		["a reference to what is no schema", { $ref: "#/title", title: "x" }, "leads to nothing"],
		["a reference to itself", { $ref: "#" }, "refers to itself endlessly"],
		[
			"references in a circle",
			{ $ref: "#/$defs/a", $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } } },
			"refers to itself endlessly",
		],
		["types that exclude each other", { allOf: [{ type: "object" }, { type: "array" }] }, "no value can match it"],
		["a value of another type", { type: "integer", enum: ["yes", "no"] }, "At its root: no value can match it"],
		[
			"a reference to another type",
			{ type: "object", $ref: "#/$defs/a", $defs: { a: { type: "string" } } },
			"no value can match it",
		],
		["no choice of its type", { type: "array", oneOf: [{ type: "null" }, { const: 3 }] }, "no value can match it"],
	])("with %s is refused with its place", (_name, schema, message) => {
		expect(refusal(schema)).toContain(message);
	});

	test("is refused before anything walks through all ways that it describes", () => {
		const $defs = Object.fromEntries(
			Array.from({ length: 300 }, (_, index) => {
				const next = { $ref: index === 299 ? "#/$defs/end" : `#/$defs/d${index + 1}` };
				return [`d${index}`, { anyOf: [next, next] }];
			}),
		);
		const given = { type: "object", $ref: "#/$defs/d0", $defs: { ...$defs, end: { type: "string" } } };
		expect(refusal(given)).toContain("no value can");
	});

	test.each([
		{ type: ["object", "null"] },
		{ $ref: "#/$defs/node", $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } } },
		{ definitions: { a: { type: "integer" } }, properties: { x: { $ref: "#/definitions/a" } } },
		{ $ref: "#it", $defs: { a: { $anchor: "it", type: "object" } } },
		{ $id: "https://example.com/root", $ref: "item", $defs: { a: { $id: "item", type: "object" } } },
		{ $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": { type: "object" } } },
		{ properties: { t: { items: [{ type: "string" }], additionalItems: false } }, dependencies: { t: ["u"], u: {} } },
		{ properties: { t: { prefixItems: [true, false], items: false } } },
		{ anyOf: [{ type: "string" }, { type: "object" }] },
		{ type: "array", items: { type: "string" } },
		{ enum: ["yes", "no"] },
		{ $ref: "#/$defs/a", $defs: { a: { type: "string" } } },
		{ $schema: "http://json-schema.org/draft-07/schema#", type: "object", "x-mine": { type: "strin" } },
		{ type: "object", properties: { type: { const: "x" }, $ref: { type: "string" }, required: { enum: [1] } } },
	])("may be %j", (schema) => {
		expect(parseOutputSchema(schema)).toEqual(schema);
	});
});

test("a key that a terminal would obey does not reach one", () => {
	const hostile = { type: "object", properties: { "\u001b[31m\r": 0 } };
	expect(() => parseOutputSchema(hostile)).toThrow(/^[^\u0000-\u001f\u007f-\u009f]+$/);
});
