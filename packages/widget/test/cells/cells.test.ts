import { visibleWidth } from "@earendil-works/pi-tui";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	type Cell,
	clip,
	fill,
	firstThatFits,
	fitCells,
	flow,
	lineOf,
	place,
	share,
	type Want,
	within,
} from "../../src/cells/index.ts";

const agent: readonly Cell[] = [
	{ text: "reviewer", max: 12 },
	{ text: "read the parser as a stranger would", separator: " ", min: 10 },
	{ text: "12 tools", separator: " · ", dropOrder: 2 },
	{ text: "1m 8s", separator: " · ", dropOrder: 1 },
];

describe("a line of cells", () => {
	test("is whole where there is room", () => {
		expect(lineOf(agent, 80)).toBe("reviewer read the parser as a stranger would · 12 tools · 1m 8s");
	});

	test("shortens what may be shortened first, then drops the highest number, then gets shorter still", () => {
		expect([45, 38, 28, 22, 18, 14, 10, 5].map((width) => lineOf(agent, width))).toEqual([
			"reviewer read the parser… · 12 tools · 1m 8s",
			"reviewer read the… · 12 tools · 1m 8s",
			"reviewer read the p… · 1m 8s",
			"reviewer read the par…",
			"reviewer read the…",
			"reviewer",
			"reviewer",
			"revi…",
		]);
	});

	test("shares the room between several texts; a short one is whole if its share is enough", () => {
		const three = [
			{ text: "a".repeat(40), min: 5 },
			{ text: "short one", min: 5 },
			{ text: "b".repeat(40), min: 5 },
		];
		const [first, second, third] = fitCells(three, 50).map(({ text }) => visibleWidth(text));
		expect([first, second, third]).toEqual([18, 9, 19]);
	});

	test("takes no more than `max`, and leaves out empty cells with their separators", () => {
		expect(lineOf([{ text: "" }, { text: "general-purpose", max: 10 }, { text: "" }, { text: "x" }], 40)).toBe(
			"general-p…  x",
		);
	});

	test("paints texts after they are cut, and separators that can be seen", () => {
		const paint = (text: string) => `<${text}>`;
		expect(
			lineOf(
				[
					{ text: "reviewer", paint },
					{ text: "one", separator: " · ", paint },
				],
				9,
			),
		).toBe("<reviewer>");
		expect(
			lineOf(
				[
					{ text: "reviewer", paint, min: 4 },
					{ text: "one", separator: " · ", paint },
				],
				11,
			),
		).toBe("<revi…>< · ><one>");
	});

	test("counts wide characters, and never splits one", () => {
		expect(lineOf([{ text: "日本語のラベル", min: 4 }, { text: "終" }], 11)).toBe("日本語…  終");
		expect(lineOf([{ text: "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦" }], 4)).toBe("👩‍👩‍👧‍👦…");
	});
});

describe("columns", () => {
	test("one that wants everything gets what the others leave", () => {
		const wants = [
			{ columns: 10, gap: 0 },
			{ columns: Number.POSITIVE_INFINITY, gap: 2, min: 20, dropOrder: 2 },
			{ columns: 6, gap: 2, dropOrder: 1 },
		];
		expect([60, 40, 39, 17].map((width) => share(wants, width))).toEqual([
			[10, 40, 6],
			[10, 20, 6],
			[10, 0, 6],
			[10, 0, 0],
		]);
	});

	test("a text is cut or padded to its column, and only the text is painted", () => {
		const paint = (text: string) => `<${text}>`;
		expect(place("ab", 4, { paint })).toBe("<ab>  ");
		expect(place("ab", 4, { align: "end", paint })).toBe("  <ab>");
		expect(place("abcdef", 4)).toBe("abc…");
		expect(place("", 2, { paint })).toBe("  ");
		expect(place("日本", 4)).toBe("日本");
		expect(place("日本語", 4)).toBe("日… ");
	});
});

test("of several forms of a text the first that fits is taken", () => {
	const forms = ["+4 agents hidden", "+4 hidden", "+4"];
	expect([20, 12, 3, 1].map((width) => firstThatFits(forms, width))).toEqual([
		"+4 agents hidden",
		"+4 hidden",
		"+4",
		"…",
	]);
});

test("cells that do not fit beside each other flow onto more lines", () => {
	const cells = ["↑↓ move", "enter choose", "a very long thing to do", "esc back"].map((text) => ({ text }));
	expect(flow(cells, 22)).toEqual(["↑↓ move  enter choose", "a very long thing to…", "esc back"]);
});

test("a painted line is filled or cut to exactly the width, with what is asked for", () => {
	expect(fill("\u001b[31mab\u001b[0m", 4)).toBe("\u001b[31mab\u001b[0m  ");
	expect(visibleWidth(fill("\u001b[31m日本語\u001b[0m", 3))).toBe(3);
	expect(fill("a", 4, "─")).toBe("a───");
	expect([fill("abc", 0), within(0, ["abc"])]).toEqual(["", [""]]);
});

/** Words in many scripts, emoji of several code points, combining marks. */
const texts = fc.oneof(
	fc.string({ maxLength: 40, unit: fc.constantFrom("a", "b", " ", "Z", "9") }),
	fc.string({
		maxLength: 30,
		unit: fc.constantFrom("a", " ", "日", "é", "e\u0301", "👍🏽", "👩‍👩‍👧‍👦", "ｶﾞ", "\u200b", "กำ"),
	}),
);
const numbers = (max: number) => fc.option(fc.integer({ min: 0, max }), { nil: undefined });
const defined = (cell: object) => Object.fromEntries(Object.entries(cell).filter(([, value]) => value !== undefined));
const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
const cells = fc.array(
	fc
		.record({
			text: texts,
			separator: fc.constantFrom(undefined, "", " ", " · "),
			max: numbers(50),
			min: numbers(20),
			dropOrder: numbers(5),
			paint: fc.constantFrom(undefined, red),
		})
		.map((cell) => defined(cell) as unknown as Cell),
	{ maxLength: 8 },
);
const widths = fc.integer({ min: -2, max: 120 });

describe("whatever the cells are", () => {
	test("no line is wider than it may be", () => {
		fc.assert(
			fc.property(cells, widths, (line, width) => {
				const most = Math.max(0, width);
				expect(visibleWidth(lineOf(line, width))).toBeLessThanOrEqual(most);
				for (const each of flow(line, width)) expect(visibleWidth(each)).toBeLessThanOrEqual(most);
			}),
			{ numRuns: 500 },
		);
	});

	test("nothing is dropped or cut where everything fits", () => {
		fc.assert(
			fc.property(cells, (line) => {
				const shown = line.filter(({ text, max }) => text !== "" && max !== 0);
				const placed = fitCells(line, 10_000);
				expect(placed.length).toBe(shown.filter(({ text }) => visibleWidth(String(text)) > 0).length);
				for (const { cell, text } of placed)
					if (visibleWidth(String(cell.text)) <= (cell.max ?? 10_000)) expect(text).toBe(cell.text);
			}),
		);
	});

	test("a wider line never drops what a narrower one keeps", () => {
		const rigid = cells.map((line) => line.map(({ min: _, ...cell }, at) => ({ ...cell, dropOrder: at + 1 })));
		fc.assert(
			fc.property(rigid, fc.integer({ min: 0, max: 100 }), (line, width) => {
				const wider = new Set(fitCells(line, width + 1).map(({ cell }) => cell));
				for (const { cell } of fitCells(line, width)) expect(wider.has(cell)).toBe(true);
			}),
		);
	});

	test("columns never take more than there is, and none more than it wants", () => {
		const wants = fc.array(
			fc
				.record({
					columns: fc.integer({ min: 0, max: 60 }),
					gap: fc.integer({ min: 0, max: 3 }),
					max: numbers(50),
					min: numbers(20),
					dropOrder: numbers(5),
				})
				.map((want) => defined(want) as unknown as Want),
			{ maxLength: 8 },
		);
		fc.assert(
			fc.property(wants, widths, (all, width) => {
				const shares = share(all, width);
				const kept = all.map((want, at) => ({ ...want, given: shares[at] ?? 0 })).filter(({ given }) => given > 0);
				const taken = kept.reduce((sum, { given, gap }, at) => sum + given + (at === 0 ? 0 : gap), 0);
				expect(taken).toBeLessThanOrEqual(Math.max(0, width));
				for (const { given, columns, max = columns } of kept) expect(given).toBeLessThanOrEqual(Math.min(columns, max));
			}),
			{ numRuns: 500 },
		);
	});

	test("a clipped text fits, and a placed or filled one has exactly its width", () => {
		fc.assert(
			fc.property(texts, widths, (text, width) => {
				const most = Math.max(0, width);
				expect(visibleWidth(clip(text, width))).toBeLessThanOrEqual(most);
				expect(visibleWidth(place(text, width, { align: "end", paint: red }))).toBe(most);
				expect(visibleWidth(fill(red(text), width))).toBe(most);
				for (const line of within(width, [red(text)])) expect(visibleWidth(line)).toBeLessThanOrEqual(most);
			}),
			{ numRuns: 500 },
		);
	});
});
