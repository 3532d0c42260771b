/** How much is read and drawn, counted: a long conversation must cost no more than a short one. */
import { describe, expect, test } from "vitest";
import type { ConversationEntry } from "../../src/index.ts";
import { isSafeMarkdown } from "../../src/viewer/content/draw.ts";
import { called, KEYS, lines, MemorySource, plainTheme, result, said, show } from "./fixture.ts";

const LENGTH = 100_000;

const entryAt = (index: number): ConversationEntry => {
	if (index === 77_777) return said("Here is the needle.");
	if (index % 3 === 0)
		return said(`Message ${index}, with **some** text that is long enough to be wrapped once or twice.`);
	return index % 3 === 1
		? called([`${index}`, "bash", { command: `step ${index}` }])
		: result(`${index - 1}`, "bash", lines(60));
};

/** Counts the entries that are drawn: each of these has one place where its colour is asked for. */
function counting() {
	const counts = { drawn: 0 };
	const count = (text: string) => {
		counts.drawn++;
		return text;
	};
	const theme = { ...plainTheme, toolTitle: count, markdown: { ...plainTheme.markdown, bold: count } };
	return { counts, theme };
}

describe("100,000 entries", () => {
	test("to open them reads and draws a few screens", async () => {
		const { counts, theme } = counting();
		const source = new MemorySource({ length: LENGTH, at: entryAt });
		await show(source, { theme, width: 100, height: 50 });
		expect(source.entriesRead).toBeLessThan(100);
		expect(counts.drawn).toBeLessThan(60);
	});

	test("each way to move reads and draws no more than what it shows, with a margin", async () => {
		const { counts, theme } = counting();
		const source = new MemorySource({ length: LENGTH, at: entryAt });
		const shown = await show(source, { theme, width: 100, height: 50 });
		for (const key of [
			KEYS.home,
			KEYS.end,
			KEYS.pageUp,
			"u",
			KEYS.up,
			KEYS.home,
			KEYS.pageDown,
			"d",
			KEYS.down,
			KEYS.enter,
		]) {
			source.entriesRead = 0;
			counts.drawn = 0;
			await shown.press(key);
			expect([key, source.entriesRead < 100, counts.drawn < 60]).toEqual([key, true, true]);
		}
	});

	test("a frame in which nothing has changed reads and draws nothing", async () => {
		const { counts, theme } = counting();
		const source = new MemorySource({ length: LENGTH, at: entryAt });
		const shown = await show(source, { theme, width: 100, height: 50 });
		source.entriesRead = 0;
		counts.drawn = 0;
		for (let frame = 0; frame < 100; frame++) shown.screen();
		expect([source.entriesRead, counts.drawn]).toEqual([0, 0]);
	});

	test("one more entry costs one more entry", async () => {
		const { counts, theme } = counting();
		const source = new MemorySource({ length: LENGTH, at: entryAt });
		const shown = await show(source, { theme, width: 100, height: 50 });
		source.entriesRead = 0;
		counts.drawn = 0;
		for (let added = 0; added < 10; added++) {
			source.push(said("One **more**."));
			await shown.settled();
		}
		expect(source.entriesRead).toBeLessThan(30); // with those before it, where a chunk begins
		expect(counts.drawn).toBe(10);
	});

	test("a search reads each entry once and draws only where it ends; another one need not go around", async () => {
		const { counts, theme } = counting();
		const source = new MemorySource({ length: LENGTH, at: entryAt });
		const shown = await show(source, { theme, width: 100, height: 50 });
		await shown.press(KEYS.home);
		source.entriesRead = 0;
		counts.drawn = 0;
		await shown.press("/", ..."needle", KEYS.enter);
		expect(shown.body().join("\n")).toContain("Here is the needle.");
		expect(source.entriesRead).toBeLessThan(77_777 + 200);
		expect(counts.drawn).toBeLessThan(60);
		source.entriesRead = 0;
		await shown.press("/", ..."Message 77775", KEYS.enter);
		expect(source.entriesRead).toBeLessThan(400);
	});

	test("what has been left is forgotten: scrolling through all of it holds a few screens", async () => {
		const source = new MemorySource({ length: 3_000, at: entryAt });
		const shown = await show(source, { width: 100, height: 50 });
		for (let page = 0; page < 120; page++) await shown.press(KEYS.pageUp);
		source.entriesRead = 0;
		await shown.press(KEYS.end);
		expect(source.entriesRead).toBeGreaterThan(10);
	});
});

describe("an entry of megabytes", () => {
	test("is drawn as an excerpt, and unfolded up to a bound that is told", async () => {
		const source = new MemorySource([
			called(["1", "read", { path: "big" }]),
			result("1", "read", "x".repeat(5_000_000)),
		]);
		const shown = await show(source, { width: 100, height: 30 });
		expect(shown.body().join("\n")).toContain("… 4,934,464 more characters, only in the file");
		await shown.press(KEYS.enter, KEYS.end);
		expect(shown.body().join("\n")).toContain("… 4,934,464 more characters, only in the file");
	});

	/** Such text keeps the parser busy for seconds or minutes, or ends its stack. */
	test.each([
		["stars", "*a ".repeat(10_000)],
		["underscores", "_".repeat(30_000)],
		["quotes", ">".repeat(30_000)],
		["links", "[a](".repeat(8_000)],
		["lists", Array.from({ length: 700 }, (_, depth) => `${" ".repeat(depth * 2)}- a`).join("\n")],
		["a book", lines(9_000)],
	])("of %s is not parsed as Markdown, but shown", async (_name, text) => {
		expect(isSafeMarkdown(text)).toBe(false);
		const shown = await show(new MemorySource([said(text)]), { width: 100, height: 30 });
		expect(shown.body().join("").trim()).not.toBe("");
	});

	test("what models usually write is parsed as Markdown", () => {
		const table = `| file | why |\n|---|---|\n${"| `snake_case_name.ts` | **because** |\n".repeat(200)}`;
		const list = "- `a_long_name` is *not* [here](https://example.com/a_b)\n".repeat(200);
		const code = `\`\`\`c\n${"int *a_b = *c_d * *e_f;\n".repeat(500)}\`\`\`\n`;
		for (const text of [table, list, code, `# Head\n\n${"Some **words** and `code`. ".repeat(60)}`]) {
			expect([text.slice(0, 20), isSafeMarkdown(text)]).toEqual([text.slice(0, 20), true]);
		}
	});
});
