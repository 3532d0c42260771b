import { isFullRun } from "@pi-subagents-dev/testkit/full-run";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { extractJson } from "../../src/output/index.ts";

/** Slow and obvious: from left to right, the objects that `JSON.parse` takes; the last one counts. */
function reference(text: string): unknown {
	let last: unknown;
	for (let start = 0; start < text.length; start++) {
		if (text[start] !== "{") continue;
		for (let end = text.length; end > start; end--) {
			if (text[end - 1] !== "}") continue;
			const parsed = tryParse(text.slice(start, end));
			if (parsed === undefined) continue;
			last = parsed;
			start = end - 1;
			break;
		}
	}
	return last;
}

function tryParse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function dataIn(text: string): unknown {
	const found = extractJson(text);
	return "data" in found ? found.data : undefined;
}

function problemIn(text: string): string {
	const found = extractJson(text);
	return "problem" in found ? found.problem : "";
}

describe("the last JSON object of a message", () => {
	test.each([
		["alone", '{"a":1}', { a: 1 }],
		["in a fence", 'Here:\n```json\n{"a": 1}\n```\n', { a: 1 }],
		["in a fence without an end", '```\n{"a":1}', { a: 1 }],
		["with prose around it", 'So {"a":1} it is.', { a: 1 }],
		["after others", '{"a":1} {"b":2}\n{"c":3}', { c: 3 }],
		["with objects inside", '{"a":{"b":{"c":[{"d":1}]}}}', { a: { b: { c: [{ d: 1 }] } } }],
		["in a list", '[{"a":1},{"a":2}]', { a: 2 }],
		["with braces in strings", '{"a":"}{","b":"\\"}"}', { a: "}{", b: '"}' }],
		["after a brace in prose", 'Use { and } or "{" here: {"a":1}', { a: 1 }],
		["after what is no JSON", "{note: true} then {'a':1} then {\"a\":1}", { a: 1 }],
		["before what is no JSON", '{"a":1}, in the shape {"a": number}', { a: 1 }],
		["in a quotation", 'He said "{"a":1}".', { a: 1 }],
		["with letters of all kinds", '{"naïve 🎉":"\\ud83c\\udf89 中 \u2028"}', { "naïve 🎉": "🎉 中 \u2028" }],
		["with all kinds of numbers", '{"n":[-0,0.5,1e9,-1.5E-3,10]}', { n: [-0, 0.5, 1e9, -1.5e-3, 10] }],
		["with a name that objects have", '{"__proto__":{"a":1}}', JSON.parse('{"__proto__":{"a":1}}')],
		["empty", "Nothing: {}", {}],
	])("%s", (_name, text, expected) => {
		expect(dataIn(text)).toEqual(expected);
	});

	test.each([
		["prose", "I could not do it.", /no JSON object/],
		["a list", "[1, 2]", /no JSON object/],
		["an answer that was cut off", 'Example: {"a":1}\n```json\n{"files":[{"path":"a"},{"pa', /not complete/],
		["a part of one that was cut off", '{"files":[{"path":"a"}', /not complete/],
		["a comma too many", '{"files":[{"path":"a"},{"path":"b"},]}', /goes wrong at "\]}", after .*"path":"b"},"/],
		["a broken answer after an example", 'Such as {"a":1}. So:\n```json\n{"a":2,}\n```', /goes wrong at "}/],
		["a line break in a string", '{"a":"one\ntwo"}', /goes wrong/],
		["a number that JSON does not know", '{"a":01}', /goes wrong/],
		["a word that JSON does not know", '{"a":None}', /goes wrong/],
	])("is not found in %s", (_name, text, problem) => {
		expect(problemIn(text)).toMatch(problem);
	});
});

const prose = fc.string({ unit: fc.constantFrom(...'{}[]":, \\\n`ab1-e0.ntfu') });

test("whatever the text, it is the one that a slow search finds, unless that is part of a broken one", () => {
	fc.assert(
		fc.property(
			fc.array(
				fc.oneof(
					prose,
					fc.json(),
					fc.object().map((each) => JSON.stringify(each)),
				),
			),
			(parts) => {
				const text = parts.join(" ");
				const found = extractJson(text);
				if ("data" in found) expect(found.data).toEqual(reference(text));
				else if (found.problem.startsWith("There is no")) expect(reference(text)).toBeUndefined();
				else expect(found.problem).toMatch(/not complete|not valid/);
			},
		),
		{ numRuns: isFullRun ? 2_000 : 400 },
	);
});

test("an object is found whatever stands around it, if nothing there means JSON", () => {
	const around = fc.string({ unit: fc.constantFrom(..."{}[]:, \\\n`'ab") });
	fc.assert(
		fc.property(around, fc.object(), around, (before, object, after) => {
			const json = JSON.stringify(object);
			expect(dataIn(`${before}\n${json}\n${after.replaceAll("}", "")}`)).toEqual(JSON.parse(json));
		}),
		{ numRuns: isFullRun ? 1_000 : 200 },
	);
});

test("an object that is cut off anywhere is never taken for one of its parts", () => {
	const name = fc.string().filter((text) => !text.includes("{"));
	const object = fc.dictionary(name, fc.object(), { minKeys: 1 });
	fc.assert(
		fc.property(object, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
			const json = JSON.stringify(given);
			const cut = json.slice(0, Math.floor(share * (json.length - 1)));
			expect(dataIn(cut)).toBeUndefined();
		}),
		{ numRuns: isFullRun ? 1_000 : 200 },
	);
});

/** Each of these makes a search slow that begins anew at every brace. The time says nothing on a busy machine, the limit does. */
test.each([
	["braces", "{".repeat(1_000_000)],
	["objects that begin", '{"a":'.repeat(200_000)],
	["strings that begin", '{"'.repeat(500_000)],
	["strings with braces", `{"${"{".repeat(1_000_000)}`],
	["keys without an end", '{"a":"{'.repeat(140_000)],
	["empty objects", "{}".repeat(500_000)],
	["lists that begin", `{"a":${"[".repeat(1_000_000)}`],
	["broken ones after an object", `{"a":1} ${'{"a":x '.repeat(140_000)}`],
	["closing braces", "}".repeat(1_000_000)],
	["backslashes", `{"a":"${"\\".repeat(1_000_001)}{"`],
])("a megabyte of %s takes no more time than it should", (_name, text) => {
	extractJson(text);
});
