/** What the dialogs of the menu draw: beautiful at usual widths, within the terminal at all of them. */
import { KeybindingsManager, TUI_KEYBINDINGS, visibleWidth } from "@earendil-works/pi-tui";
import { handClock } from "@pi-subagents/core/testing";
import { isFullRun } from "@pi-subagents-dev/testkit/full-run";
import { describe, expect, test } from "vitest";
import { BusyView } from "../../src/dialogs/busy-view.ts";
import type { DialogContext } from "../../src/dialogs/frame.ts";
import { InputView } from "../../src/dialogs/input-view.ts";
import { ListView } from "../../src/dialogs/list-view.ts";
import type { DialogTheme } from "../../src/dialogs/note-view.ts";
import { ReadView } from "../../src/dialogs/read-view.ts";
import type { Choice, Item } from "../../src/dialogs/screen.ts";

const theme = { fg: (_colour: string, text: string) => text, bold: (text: string) => text } as unknown as DialogTheme;

function context({ rows = 30, bindings = {} } = {}): DialogContext & { redraws: number } {
	const keys = new KeybindingsManager(TUI_KEYBINDINGS, bindings);
	const it = { theme, keys, rows: () => rows, redraws: 0, redraw: () => void it.redraws++ };
	return it;
}

const ENTER = "\r";
const ESCAPE = "\u001b";
const UP = "\u001b[A";
const DOWN = "\u001b[B";
const PAGE_DOWN = "\u001b[6~";

function list(
	choice: Partial<Choice>,
	{ clock = handClock(), ...more }: { clock?: ReturnType<typeof handClock>; rows?: number; bindings?: object } = {},
) {
	const chosen: (string | undefined)[] = [];
	const its = context(more);
	const view = new ListView({
		choice: { title: "Agents", items: () => [], ...choice },
		context: its,
		clock,
		report: () => undefined,
		done: (value) => chosen.push(value),
	});
	const press = (...keys: readonly string[]) => {
		for (const key of keys) view.handleInput(key);
	};
	const shown = (width = 80) =>
		view
			.render(width)
			.map((line) => strip(line))
			.join("\n");
	return { view, chosen, press, shown, context: its };
}

/** The cursor of an input is drawn with sequences; they are no text. */
function strip(line: string): string {
	return line.replace(/\u001b(?:\[[0-9;]*m|_[^\u0007]*\u0007)/g, "").trimEnd();
}

const fruit = (...names: readonly string[]) => names.map((name): Item => ({ value: name, label: name }));

describe("a list", () => {
	test("moves, wraps around, chooses and goes back with the user's own keys", () => {
		const { press, chosen, shown } = list({ items: () => fruit("apple", "pear", "plum") });
		press(DOWN, ENTER, UP, UP, ENTER, ESCAPE);
		expect(chosen).toEqual(["pear", "plum", undefined]);
		expect(shown()).toContain("↑↓ move   enter choose   esc back");
		const rebound = list(
			{ items: () => fruit("apple", "pear") },
			{ bindings: { "tui.select.down": "ctrl+n", "tui.select.cancel": "ctrl+q" } },
		);
		rebound.press("\u000e", ENTER, ESCAPE, "\u0011");
		expect(rebound.chosen).toEqual(["pear", undefined]);
		expect(rebound.shown()).toContain("↑ctrl+n move   enter choose   ctrl+q back");
	});

	test("is narrowed by typing: by what it holds, else by what comes near", () => {
		const items = [...fruit("apple", "pear", "plum"), { value: "x", label: "grape", about: "not an apple" }];
		const { press, chosen, shown } = list({ items: () => items, isSearchable: true });
		press("a", "p", "p");
		expect(shown()).toMatch(/→ apple\n {3}grape {2}not an apple\n/);
		press("\u007f", "\u007f", "\u007f", "p", "m");
		expect(shown()).toMatch(/→ plum\n\n/);
		press("x", "q");
		expect(shown()).toContain("No matches.");
		press(ENTER);
		expect(chosen).toEqual([]);
	});

	test("begins where it was left, and shows the part around the selected one", () => {
		const items = fruit(...Array.from({ length: 40 }, (_, index) => `number ${index + 1}`));
		const { press, shown, chosen } = list({ items: () => items, selected: "number 20" }, { rows: 21 });
		expect(shown()).toMatch(/ {3}number 18\n {3}number 19\n → number 20\n {3}number 21\n {3}number 22\n {3}20 of 40\n/);
		press(PAGE_DOWN, PAGE_DOWN, PAGE_DOWN, PAGE_DOWN, PAGE_DOWN, ENTER);
		expect(chosen).toEqual(["number 40"]);
	});

	test("that is live follows what changes, keeps its selection, and stops when it is closed", () => {
		const clock = handClock();
		let items = fruit("apple", "pear");
		const { view, press, shown, context } = list({ items: () => items, isLive: true }, { clock });
		press(DOWN);
		items = fruit("fig", "apple", "pear");
		clock.advance(1_000);
		expect(shown()).toMatch(/ {3}fig\n {3}apple\n → pear\n/);
		expect(context.redraws).toBe(2);
		view.dispose();
		expect(clock.waiting()).toBe(0);
	});

	test("that is empty says why", () => {
		const { press, shown, chosen } = list({ empty: "No agent is running.", isSearchable: true });
		press(ENTER, DOWN, "x");
		expect(shown()).toMatch(/^─+\n Agents\n\n No agent is running\.\n\n esc back\n─+$/);
		expect(chosen).toEqual([]);
	});
});

const HOSTILE = [
	"日本語のとても長い名前".repeat(5),
	"👩‍👩‍👧‍👦 family 🇩🇪",
	"\u001b[31mred\u001b[0m\u001b]0;title\u0007",
	"tab\tand\nline\r\n",
	"\u202eright to left",
	"x".repeat(2_000),
	"",
];

const hostileItems = HOSTILE.map(
	(text, index): Item => ({
		value: String(index),
		label: text,
		mark: { text: "●" },
		tag: { text },
		about: text,
		end: index % 2 === 0 ? "1m 12s" : text.slice(0, 40),
		note: text,
	}),
);

const views = {
	list: (rows: number) =>
		list(
			{ title: `Agents › ${HOSTILE[0]}`, intro: HOSTILE.join("\n"), items: () => hostileItems, isSearchable: true },
			{ rows },
		).view,
	plain: (rows: number) => list({ items: () => fruit("apple", "pear") }, { rows }).view,
	text: (rows: number) =>
		new ReadView({
			title: HOSTILE.join(" "),
			blocks: HOSTILE.map((text) => ({ text })),
			context: context({ rows }),
			done: () => undefined,
		}),
	input: (rows: number) =>
		new InputView({
			question: { title: HOSTILE.join(" "), intro: HOSTILE[0], value: HOSTILE[1], fault: HOSTILE[2] },
			context: context({ rows }),
			done: () => undefined,
		}),
	busy: (rows: number) => {
		const view = new BusyView({ title: HOSTILE.join(" "), context: context({ rows }), onCancel: () => undefined });
		view.setLines(HOSTILE);
		return view;
	},
};

describe.each(Object.entries(views))("hostile texts in a %s", (_name, create) => {
	test("fit every width, and bring no control characters of their own", () => {
		const everyWidth = Array.from({ length: 301 }, (_, width) => width).filter(
			(width) => isFullRun || width <= 40 || width % 10 === 0,
		);
		const drawn = [
			...everyWidth.map((width) => ({ width, rows: 24 })),
			...[1, 10, 60].flatMap((rows) => [1, 2, 20, 21, 40, 200].map((width) => ({ width, rows }))),
		].flatMap(({ width, rows }) =>
			create(rows)
				.render(width)
				.map((line) => ({ width, line })),
		);
		expect(drawn.filter(({ width, line }) => visibleWidth(line) > width)).toEqual([]);
		expect(drawn.filter(({ line }) => /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/.test(strip(line)))).toEqual([]);
	});
});

test("a text is scrolled within its bounds, and Enter closes it as well", () => {
	const blocks = [{ text: Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join("\n") }];
	let closed = 0;
	const view = new ReadView({ title: "Preset", blocks, context: context({ rows: 20 }), done: () => void closed++ });
	const shown = () =>
		view
			.render(60)
			.map((line) => line.trim())
			.filter((line) => /^line|of/.test(line));
	expect(shown().at(-1)).toBe("1–10 of 30");
	for (const key of [UP, DOWN, DOWN, PAGE_DOWN]) view.handleInput(key);
	expect([shown()[0], shown().at(-1)]).toEqual(["line 13", "13–22 of 30"]);
	for (const key of [PAGE_DOWN, PAGE_DOWN]) view.handleInput(key);
	expect(shown().at(-1)).toBe("21–30 of 30");
	view.handleInput(ENTER);
	expect(closed).toBe(1);
});

test("an input begins with what was there, and shows what was wrong with it", () => {
	const typed: (string | undefined)[] = [];
	const question = { title: "Levels of agents", intro: "How many?", value: "99", fault: "Too many." };
	const view = new InputView({ question, context: context(), done: (text) => typed.push(text) });
	expect(view.render(60).map(strip).slice(1, -3)).toEqual([
		" Levels of agents",
		" How many?",
		" Too many.",
		"",
		" > 99",
	]);
	for (const key of ["\u007f", "\u007f", "3", ENTER, ESCAPE]) view.handleInput(key);
	expect(typed).toEqual(["3", undefined]);
});

test("waiting can be given up once", () => {
	let given = 0;
	const view = new BusyView({ title: "An agent writes it", context: context(), onCancel: () => void given++ });
	view.setLines(["Reading notes.txt"]);
	expect(view.render(60).map(strip).slice(1, -1)).toEqual([
		" An agent writes it",
		"",
		" Reading notes.txt",
		"",
		" esc cancel",
	]);
	for (const key of [ENTER, ESCAPE, ESCAPE]) view.handleInput(key);
	expect(given).toBe(1);
	expect(view.render(60).join("\n")).toContain("Stopping…");
});
