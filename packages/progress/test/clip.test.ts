import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { beginningOf, clip, clipStart } from "../src/clip.ts";

test.each([
	["fits", "abcd", 4, "abcd", "abcd"],
	["is cut", "abcdef", 4, "abc…", "…def"],
	["is cut beside a space", "ab cd ef", 4, "ab…", "…ef"],
	["has no room", "abc", 1, "…", "…"],
	["has less than no room", "abc", 0, "", ""],
	["would split a pair", "ab😀cd", 4, "ab…", "…cd"],
	["would split a family", "a👩‍👩‍👧b", 6, "a…", "…b"],
	["would split a flag", "🇩🇪🇫🇷", 4, "…", "…"],
	["would split an accent off", "abe\u0301", 4, "abe\u0301", "abe\u0301"],
	["would split an accent off its letter", "abe\u0301f", 4, "ab…", "…e\u0301f"],
])("text that %s", (_, text, maxLength, start, end) => {
	expect([clip(text, maxLength), clipStart(text, maxLength)]).toEqual([start, end]);
});

test("a pile of combining marks is cut inside, not thrown away", () => {
	const pile = `a${"\u0301".repeat(1_000)}`;
	expect(clip(pile, 100)).toBe(`${pile.slice(0, 99)}…`);
});

test.each([
	["abcd", 4, "abcd"],
	["abcdef", 4, "abcd"],
	["ab😀cd", 3, "ab"],
	["abc", 0, ""],
	["abc", -1, ""],
])("the beginning of %j, at most %i long", (text, maxLength, beginning) => {
	expect(beginningOf(text, maxLength)).toBe(beginning);
});

test("the beginning of a text does not keep the rest of it in memory", () => {
	const beginnings: string[] = [];
	const before = heapUsed();
	for (let round = 0; round < 50; round++) beginnings.push(beginningOf(`${round} `.repeat(200_000), 100));
	expect(beginnings.every(({ length }) => length === 100)).toBe(true);
	expect(heapUsed() - before).toBeLessThan(5 * 2 ** 20); // a tenth of what the texts took
});

function heapUsed(): number {
	setFlagsFromString("--expose-gc");
	runInNewContext("gc")();
	return process.memoryUsage().heapUsed;
}

test("never longer than asked, never half a pair", () => {
	fc.assert(
		fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.integer({ min: 1, max: 50 }), (text, maxLength) => {
			for (const clipped of [clip(text, maxLength), clipStart(text, maxLength)]) {
				expect(clipped.length).toBeLessThanOrEqual(maxLength);
				expect(clipped.isWellFormed()).toBe(true);
			}
		}),
		{ numRuns: 1_000 },
	);
});
