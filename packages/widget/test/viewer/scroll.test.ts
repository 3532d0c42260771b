import { KeybindingsManager, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import { called, KEYS, lines, MemorySource, result, said, show, told } from "./fixture.ts";

/** Two rows each: a blank one and its text. */
const numbered = (count: number) => Array.from({ length: count }, (_, index) => said(`Message ${index + 1}`));

const texts = (body: readonly string[]) => body.map((line) => line.trim()).filter((line) => line !== "");

describe("following", () => {
	test("the end is shown at first, and what is added appears", async () => {
		const source = new MemorySource(numbered(30));
		const shown = await show(source, { height: 12 });
		expect(texts(shown.body())).toEqual(["Message 27", "Message 28", "Message 29", "Message 30"]);
		source.push(said("News"));
		await shown.settled();
		expect(texts(shown.body()).at(-1)).toBe("News");
		expect(shown.status()).toContain("● live");
	});

	test("scrolling up pauses it, what is new is counted, and the end key goes back to it", async () => {
		const source = new MemorySource(numbered(30));
		const shown = await show(source, { height: 12 });
		await shown.press(KEYS.up, KEYS.up);
		const before = shown.body();
		source.push(said("one\n\ntwo"), said("three"));
		await shown.settled();
		expect(shown.body()).toEqual(before);
		expect(shown.status()).toContain("↓ 6 new lines");
		expect(shown.hints()).toContain("end follow");
		await shown.press(KEYS.end);
		expect(texts(shown.body()).at(-1)).toBe("three");
		expect(shown.status()).toContain("● live");
		source.push(said("four"));
		await shown.settled();
		expect(texts(shown.body()).at(-1)).toBe("four");
	});

	test("scrolling down to the end takes it up again", async () => {
		const source = new MemorySource(numbered(30));
		const shown = await show(source, { height: 12 });
		await shown.press("k", "k", "k", "j", "j");
		expect(shown.status()).not.toContain("live");
		await shown.press("j");
		expect(shown.status()).toContain("● live");
	});

	test("of very many new entries only the number is told, without reading them", async () => {
		const source = new MemorySource({ length: 1_000, at: (index) => said(`Message ${index + 1}`) });
		const shown = await show(source, { height: 12 });
		await shown.press(KEYS.pageUp);
		source.entriesRead = 0;
		source.push(...numbered(5_000));
		await shown.settled();
		expect(shown.status()).toContain("↓ 5,000 new entries");
		expect(source.entriesRead).toBeLessThan(50);
	});

	test("an agent that has settled is at its end, not live", async () => {
		const shown = await show(new MemorySource(numbered(30)), { height: 12, isLive: () => false });
		expect(shown.status()).toContain(" end ");
		await shown.press(KEYS.up);
		expect(shown.status()).toContain("98% of 30 entries");
		expect(shown.hints()).toContain("end last line");
	});

	test("a conversation that begins anew is shown from its beginning", async () => {
		const source = new MemorySource(numbered(30));
		const shown = await show(source, { height: 12 });
		await shown.press(KEYS.home);
		source.replace(said("Another one"));
		await shown.settled();
		expect(texts(shown.body())).toEqual(["Another one"]);
	});
});

describe("scrolling", () => {
	test("goes by lines, half pages, pages and to both ends", async () => {
		const shown = await show(new MemorySource(numbered(100)), { height: 14 }); // 10 rows of conversation
		const top = () => texts(shown.body())[0];
		await shown.press(KEYS.home);
		expect(top()).toBe("Message 1");
		await shown.press(KEYS.down, KEYS.down);
		expect(top()).toBe("Message 2");
		await shown.press("d", "d");
		expect(top()).toBe("Message 7");
		await shown.press("u");
		expect(top()).toBe("Message 4");
		await shown.press("g", KEYS.pageDown);
		expect(top()).toBe("Message 5");
		await shown.press(" ", "b", KEYS.pageUp);
		expect(top()).toBe("Message 1");
		await shown.press("G");
		expect(texts(shown.body()).at(-1)).toBe("Message 100");
		await shown.press(KEYS.pageUp);
		expect(texts(shown.body()).at(-1)).toBe("Message 95");
	});

	test("stops at the beginning and at the end", async () => {
		const shown = await show(new MemorySource(numbered(3)), { height: 30 });
		const all = shown.body();
		await shown.press(KEYS.up, KEYS.pageDown, KEYS.pageUp, KEYS.down, "d", "u");
		expect(shown.body()).toEqual(all);
	});

	test("goes through an entry that is longer than the screen", async () => {
		const source = new MemorySource([
			told("Go."),
			called(["1", "read", { path: "a" }]),
			result("1", "read", lines(500)),
		]);
		const shown = await show(source, { height: 14 });
		await shown.press(KEYS.enter);
		expect(texts(shown.body()).at(-1)).toBe("line 500");
		await shown.press(KEYS.pageUp);
		expect(texts(shown.body()).at(-1)).toBe("line 491");
		await shown.press(KEYS.home, KEYS.pageDown);
		expect(texts(shown.body())[0]).toBe("line 5");
		await shown.press(KEYS.enter); // folded again, it all fits
		expect(texts(shown.body())[0]).toBe("▌ Go.");
	});

	test("the wheel of a mouse scrolls", async () => {
		const shown = await show(new MemorySource(numbered(100)), { height: 14 });
		const at = { x: 0, y: 5, screenX: 0, screenY: 5, width: 60, height: 14, shift: false, alt: false, ctrl: false };
		shown.viewer.handleMouse({ type: "wheel", button: "none", wheelDelta: -4, ...at });
		await shown.settled();
		expect(texts(shown.body()).at(-1)).toBe("Message 98");
	});

	test("keeps its place when the screen changes its size", async () => {
		let height = 14;
		const shown = await show(new MemorySource(numbered(100)), { rows: () => height });
		await shown.press(KEYS.home, KEYS.pageDown, KEYS.pageDown);
		const top = texts(shown.body())[0];
		height = 40;
		await shown.settled();
		expect(texts(shown.body())[0]).toBe(top);
		expect(shown.screen()).toHaveLength(40);
	});

	test("follows again when the screen has grown down to the end", async () => {
		let height = 12;
		const source = new MemorySource(numbered(30));
		const shown = await show(source, { rows: () => height });
		await shown.press(KEYS.up, KEYS.up);
		height = 30;
		await shown.settled();
		expect(shown.status()).toContain("● live");
	});

	test("keys that a user has bound hold here, too", async () => {
		const keys = new KeybindingsManager(TUI_KEYBINDINGS, { "tui.select.up": "w", "tui.select.cancel": "ctrl+x" });
		const shown = await show(new MemorySource(numbered(30)), { keys, height: 12, width: 100 });
		await shown.press("w", "w");
		expect(texts(shown.body()).at(-1)).toBe("Message 29");
		expect(shown.hints()).toMatch(/w↓ scroll.*q close$/);
	});
});
