import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { judgeAnswer, outputInstruction, parseOutputSchema, repairMessage } from "../../src/output/index.ts";
import { findErrors } from "../../src/output/worker.ts";
import { handClock } from "../../src/testing/index.ts";

const schema = {
	type: "object",
	properties: { files: { type: "array", items: { type: "string" } }, risk: { enum: ["low", "high"] } },
	required: ["files", "risk"],
	additionalProperties: false,
};

/** What the thread finds, without a thread: starting one takes longer than all of these checks. */
function isRightFor(parsed: ReturnType<typeof parseOutputSchema>, answer: unknown): boolean {
	const found = findErrors({ schema: parsed ?? {}, json: JSON.stringify(answer) });
	return "errors" in found && found.errors.length === 0;
}

describe("an answer", () => {
	test("that matches is data, with a few words for people", async () => {
		const text = 'Done.\n```json\n{"files": ["a.ts"], "risk": "low"}\n```';
		expect(await judgeAnswer(text, schema)).toEqual({
			result: { ok: true, data: { files: ["a.ts"], risk: "low" }, preview: '{"files": ["a.ts"], "risk": "low"}' },
			canRepair: false,
		});
	});

	test("that does not match is told with each place and what is wrong there", async () => {
		const text = '{"files": ["a", 2], "risk": "some", "note": "red"}\u001b[31m';
		const { result, canRepair } = await judgeAnswer(text, schema);
		expect(canRepair).toBe(true);
		expect(result).toMatchObject({
			ok: false,
			error: expect.stringMatching(/^The answer does not match its schema: .+ \(and \d more\)\.$/),
			rawPreview: expect.not.stringContaining("\u001b"),
		});
		if (result.ok) throw new Error("it should not match");
		expect(result.validationErrors).toEqual(
			expect.arrayContaining([
				{ path: "/files/1", message: "must be string" },
				{ path: "/risk", message: 'must be equal to one of the allowed values: "low","high"' },
				{ path: "/note", message: "is not allowed here" },
			]),
		);
		expect(repairMessage(result)).toContain("- /files/1 must be string");
	});

	test("without any JSON says so, and how it began", async () => {
		const { result } = await judgeAnswer(`I could not. ${"x".repeat(1_000)}`, schema);
		expect(result).toEqual({
			ok: false,
			error: "There is no JSON object in the answer.",
			validationErrors: [],
			rawPreview: expect.stringMatching(/^I could not\. x+…$/),
		});
		if (!result.ok) expect(result.rawPreview.length).toBeLessThanOrEqual(500);
	});

	test.each([
		["formats", { properties: { at: { type: "string", format: "date-time" } } }, { at: "yesterday" }],
		["references", { $ref: "#/$defs/a", $defs: { a: { required: ["x"] } } }, {}],
		["anchors", { $ref: "#it", $defs: { a: { $anchor: "it", required: ["x"] } } }, {}],
		["ids", { $id: "https://example.com/r", $ref: "i", $defs: { a: { $id: "i", required: ["x"] } } }, {}],
		["conditions", JSON.parse('{"if": {"required": ["a"]}, "then": {"required": ["b"]}}'), { a: 1 }],
		[
			"tuples of draft-07",
			{ properties: { t: { items: [{ type: "string" }], additionalItems: false } } },
			{ t: ["a", 1] },
		],
		[
			"tuples of draft 2020-12",
			{ properties: { t: { prefixItems: [{ type: "string" }], items: false } } },
			{ t: ["a", 1] },
		],
		["what was not evaluated", { properties: { a: true }, unevaluatedProperties: false }, { b: 1 }],
	])("is checked strictly: %s", (_name, given, answer) => {
		const parsed = parseOutputSchema({ type: "object", ...given });
		expect(isRightFor(parsed, answer)).toBe(false);
	});

	test.each([
		["that is not there is missing", { required: ["constructor"] }, {}, false],
		["that is not there is no wrong one", { properties: { toString: { type: "string" } } }, {}, true],
		["that is not there asks for no other", { dependentRequired: { valueOf: ["b"] } }, { a: 1 }, true],
		["inside is missing, too", { properties: { a: { items: { required: ["toString"] } } } }, { a: [{}] }, false],
		["that is there counts", { required: ["constructor"] }, { constructor: 1 }, true],
		["like any other can be forbidden", { additionalProperties: false }, { toString: 1 }, false],
		["called __proto__ counts", JSON.parse('{"required": ["__proto__"]}'), JSON.parse('{"__proto__": 1}'), true],
		["called __proto__ can be missing", JSON.parse('{"required": ["__proto__"]}'), {}, false],
	])("a property with a name that all objects know, and %s", (_name, given, answer, isRight) => {
		const parsed = parseOutputSchema({ type: "object", ...given });
		expect(isRightFor(parsed, answer)).toBe(isRight);
	});

	test("is asked for in words that hold the whole schema", () => {
		expect(outputInstruction(schema)).toContain(JSON.stringify(schema));
	});
});

describe("an answer that is no object", () => {
	const tree = { type: "array", items: { anyOf: [{ type: "string" }, { $ref: "#" }] } };

	test.each<[string, Record<string, unknown>, unknown]>([
		["a list", { type: "array", items: { type: "string" } }, ["a", "b"]],
		["a text", { type: "string" }, "a"],
		["one word of some", { enum: ["yes", "no"] }, "no"],
		["a number or nothing", { type: ["integer", "null"] }, null],
		["a list that refers to itself", tree, ["a", ["b"]]],
		["what a reference says", { $ref: "#/$defs/a", $defs: { a: { type: "boolean" } } }, false],
	])("is asked for as the value of an object, and is data without it: %s", async (_name, given, data) => {
		const asked = parseOutputSchema(given) ?? {};
		expect(outputInstruction(asked)).toContain(
			`one JSON object of the form {"value": …}, with no other property, whose value matches this JSON Schema`,
		);
		expect(outputInstruction(asked)).toContain(JSON.stringify(given));
		const { result } = await judgeAnswer(`Done. ${JSON.stringify({ value: data })}`, asked);
		expect(result).toEqual({ ok: true, data, preview: JSON.stringify(data) });
	});

	test("is repaired with the place that the agent wrote", async () => {
		const { result, canRepair } = await judgeAnswer('{"value": ["a", ["b", 3]]}', tree);
		if (result.ok) throw new Error("it should not match");
		expect(canRepair).toBe(true);
		expect(repairMessage(result)).toContain("- /value/1/1 must be string");
	});

	test.each(['{"file": "a"}', '["a", {"file": "b"}]', '{"value": ["a"], "note": "b"}', "{}"])(
		"and not given as the only value of an object is asked for again: %s",
		async (text) => {
			const { result, canRepair } = await judgeAnswer(text, { type: "array" });
			if (result.ok) throw new Error("it should not match");
			expect(canRepair).toBe(true);
			expect(repairMessage(result)).toContain('must have one property, "value"');
		},
	);

	test("is an object where one can match", async () => {
		const either = { anyOf: [{ type: "array" }, { type: "object", required: ["value"] }] };
		expect(outputInstruction(either)).not.toContain("of the form");
		const { result } = await judgeAnswer('{"value": [1]}', either);
		expect(result).toMatchObject({ ok: true, data: { value: [1] } });
	});
});

/** `begun` resolves when somebody waits for the clock. */
function watchedClock() {
	const clock = handClock();
	const { promise: begun, resolve } = Promise.withResolvers<void>();
	const after: typeof clock.after = (ms, work) => {
		resolve();
		return clock.after(ms, work);
	};
	return { clock: { ...clock, after }, begun };
}

describe("a hostile schema", () => {
	const evil = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
	const bait = JSON.stringify({ a: `${"a".repeat(60)}!` });

	test("whose pattern never ends is given up at the deadline, while everything else goes on", async () => {
		const { clock, begun } = watchedClock();
		let isJudged = false;
		const judging = judgeAnswer(bait, evil, { clock }).finally(() => {
			isJudged = true;
		});
		// It can only be given up by the clock, which stands still: whatever happens here happens meanwhile.
		await begun;
		for (let turns = 0; turns < 100; turns++) await turn();
		expect(isJudged).toBe(false);
		clock.advance(2_000);
		const { result, canRepair } = await judging;
		expect(canRepair).toBe(false);
		expect(result).toMatchObject({
			ok: false,
			error: "The answer could not be checked against its schema: it took longer than 2 s; make the schema simpler.",
		});
	});

	test("has its time also on a machine that slept through it", async () => {
		const { clock, begun } = watchedClock();
		const judging = judgeAnswer(JSON.stringify({ a: `${"a".repeat(22)}!` }), evil, { clock });
		await begun;
		clock.lag(60_000);
		clock.advance(0); // all timers that were due meanwhile
		expect((await judging).result).toMatchObject({ ok: false, validationErrors: [{ path: "/a" }] });
	});

	test("holds up no other answer for longer than its time", async () => {
		const hostile = Array.from({ length: 4 }, () => judgeAnswer(bait, evil, { deadlineMs: 50 }));
		const { result } = await judgeAnswer('{"a": "a"}', evil);
		expect(result.ok).toBe(true);
		expect((await Promise.all(hostile)).map((each) => each.result.ok)).toEqual([false, false, false, false]);
	});

	test("may have as little time as is given to it", async () => {
		const { result } = await judgeAnswer(bait, evil, { deadlineMs: 20 });
		expect(result).toMatchObject({ ok: false, error: expect.stringContaining("longer than 0.02 s") });
	});

	test("that goes as deep as the answer does not use up the stack of this process", async () => {
		const deep = { $ref: "#/$defs/n", $defs: { n: { type: "object", properties: { n: { $ref: "#/$defs/n" } } } } };
		const answer = `${'{"n":'.repeat(400)}{}${"}".repeat(400)}`;
		const { result } = await judgeAnswer(answer, parseOutputSchema(deep) ?? {});
		expect(result.ok).toBe(true);
	});

	test("that describes more ways than can be walked is given up, too", async () => {
		const ways = (depth: number) => ({ allOf: [{ $ref: `#/$defs/d${depth}` }, { $ref: `#/$defs/d${depth}` }] });
		const $defs = Object.fromEntries(
			Array.from({ length: 60 }, (_, depth) => [`d${depth}`, depth === 59 ? { type: "object" } : ways(depth + 1)]),
		);
		const parsed = parseOutputSchema({ ...ways(0), $defs });
		const { result } = await judgeAnswer("{}", parsed ?? {}, { deadlineMs: 50 });
		expect(result).toMatchObject({ ok: false, error: expect.stringContaining("longer than 0.05 s") });
	});
});
