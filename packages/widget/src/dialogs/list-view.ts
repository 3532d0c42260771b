/** A list to choose from, in pi's style: filter, columns, and details of the selected item below. */
import {
	type Component,
	decodeKittyPrintable,
	type Focusable,
	fuzzyFilter,
	Input,
	type Keybinding,
} from "@earendil-works/pi-tui";
import type { Clock, Report } from "@pi-subagents/core";
import { sanitize } from "@pi-subagents/progress";
import { clip } from "../cells/text.ts";
import { type DialogContext, framed, type Hint, helpLines, wrapped } from "./frame.ts";
import { type Columns, columnsFor, noteFor, rowFor } from "./list-layout.ts";
import { paintWith } from "./note-view.ts";
import type { Choice, Item, ItemKey } from "./screen.ts";

export interface ListOptions {
	choice: Choice;
	context: DialogContext;
	clock: Clock;
	report: Report;
	/** The value of the item, and the key that was pressed if it was not Enter. */
	done: (value: string | undefined, key?: string) => void;
}

const REFRESH_MS = 1_000;
/** Lines around the rows: the dialog's frame, pi's footer and a little of the conversation. */
const ROWS_AROUND = 16;
const [MIN_ROWS, MAX_ROWS] = [3, 15];
const NOTE_LINES = { wide: 3, narrow: 5 };
const NARROW = 60;
/** In longer lists some note will need the maximum anyway. */
const MAX_MEASURED = 50;

export class ListView implements Component, Focusable {
	readonly #options: ListOptions;
	readonly #filter = new Input();
	#all: readonly Item[];
	#shown: readonly Item[];
	#selected = 0;
	/** In a list with keys, whether characters go to the filter. */
	#isTyping = false;
	/** Whether the keys are shown in place of the items. */
	#isHelping = false;
	#isFocused = false;
	#drawn: { width: number; lines: string[] } | undefined;
	#cancel: (() => void) | undefined;

	constructor(options: ListOptions) {
		this.#options = options;
		this.#all = options.choice.items();
		this.#shown = this.#all;
		this.#select(options.choice.selected);
		if (options.choice.isLive) this.#refreshLater();
	}

	get focused(): boolean {
		return this.#isFocused;
	}

	set focused(isFocused: boolean) {
		this.#isFocused = isFocused;
		this.#filter.focused = isFocused && (!this.#options.choice.keys || this.#isTyping);
		this.invalidate();
	}

	invalidate(): void {
		this.#drawn = undefined;
	}

	dispose(): void {
		this.#cancel?.();
	}

	handleInput(data: string): void {
		const { context, choice } = this.#options;
		const is = (binding: Keybinding) => context.keys.matches(data, binding);
		if (this.#isHelping)
			this.#help(false); // whatever the key does elsewhere
		else if (is("tui.select.cancel")) this.#leave();
		else if (is("tui.select.confirm")) this.#confirm();
		else if (is("tui.select.up")) this.#move(-1, "wrap");
		else if (is("tui.select.down")) this.#move(1, "wrap");
		else if (is("tui.select.pageUp")) this.#move(-this.#pageRows(), "stop");
		else if (is("tui.select.pageDown")) this.#move(this.#pageRows(), "stop");
		else if (choice.keys && !this.#isTyping) this.#press(decodeKittyPrintable(data) ?? data, choice.keys);
		else if (choice.isSearchable) this.#search(data);
	}

	render(width: number): string[] {
		if (this.#drawn?.width !== width) this.#drawn = { width, lines: width > 0 ? this.#draw(width) : [] };
		return this.#drawn.lines;
	}

	#draw(width: number): string[] {
		const { choice, context } = this.#options;
		const { title, intro, isSearchable = false, keys } = choice;
		if (this.#isHelping)
			return framed(context, width, {
				title,
				hints: [["any key", "back"]],
				body: (room) => helpLines(this.#helpHints(keys ?? []), context, room),
			});
		const hasFilter = isSearchable && this.#all.length > 0 && (!keys || this.#isTyping || this.#isFiltered());
		return framed(context, width, {
			title,
			intro,
			hints: this.#hints(),
			body: (room) => [...(hasFilter ? [...this.#filter.render(room), ""] : []), ...this.#rows(room)],
		});
	}

	#rows(width: number): string[] {
		const { choice, context } = this.#options;
		const item = this.#shown[this.#selected];
		if (!item) {
			const text = this.#all.length === 0 ? (choice.empty ?? "There is nothing here.") : "No matches.";
			return [context.theme.fg("muted", clip(sanitize(text), width))];
		}
		const paint = paintWith(context.theme);
		const columns = columnsFor(this.#all, width);
		const page = this.#pageRows();
		const from = Math.max(0, Math.min(this.#selected - Math.floor(page / 2), this.#shown.length - page));
		const rows = this.#shown
			.slice(from, from + page)
			.map((each) => (this.#isFiltered() ? { ...each, branch: "" } : each))
			.map((each, index) => rowFor(each, columns, { isSelected: from + index === this.#selected, paint }));
		const place =
			this.#shown.length > page ? [context.theme.fg("dim", `  ${this.#selected + 1} of ${this.#shown.length}`)] : [];
		return [...rows, ...place, ...this.#note(item, columns, width)];
	}

	/** The same height for every item, so that nothing jumps while the selection moves. */
	#note(item: Item, columns: Columns, width: number): string[] {
		const most = width < NARROW ? NOTE_LINES.narrow : NOTE_LINES.wide;
		const linesOf = (each: Item) => wrapped(noteFor(each, columns), width - 2, most);
		const isLong = this.#all.length > MAX_MEASURED;
		const height = isLong ? most : this.#all.reduce((highest, each) => Math.max(highest, linesOf(each).length), 0);
		if (height === 0) return [];
		const lines = linesOf(item).map((line) => `  ${this.#options.context.theme.fg("muted", line)}`);
		return ["", ...lines, ...Array.from({ length: height - lines.length }, () => "")];
	}

	/** In a list with keys, Enter ends the typing first, so that the keys act on what was found. */
	#confirm(): void {
		const item = this.#shown[this.#selected];
		if (this.#isTyping) this.#type(false);
		else if (item) this.#options.done(item.value);
	}

	/** Leaves the filter first, then the list. */
	#leave(): void {
		const { choice, done } = this.#options;
		if (!choice.keys || !(this.#isTyping || this.#isFiltered())) {
			done(undefined);
			return;
		}
		const selected = this.#shown[this.#selected]?.value;
		this.#filter.setValue("");
		this.#shown = this.#all;
		this.#select(selected);
		this.#type(false);
	}

	#press(character: string, keys: readonly ItemKey[]): void {
		const item = this.#shown[this.#selected];
		const pressed = keys.find(({ key }) => key === character);
		if (character === "/" && this.#options.choice.isSearchable) this.#type(true);
		else if (character === "?" && !pressed) this.#help(true);
		else if (item && pressed?.isOffered(item.value)) this.#options.done(item.value, pressed.key);
	}

	#help(isHelping: boolean): void {
		this.#isHelping = isHelping;
		this.#redraw();
	}

	#type(isTyping: boolean): void {
		this.#isTyping = isTyping;
		this.#filter.focused = isTyping && this.#isFocused;
		this.#redraw();
	}

	#isFiltered(): boolean {
		return this.#filter.getValue() !== "";
	}

	#move(by: number, atTheEnd: "wrap" | "stop"): void {
		const count = this.#shown.length;
		if (count === 0) return;
		const next = this.#selected + by;
		this.#selected = atTheEnd === "wrap" ? (next + count) % count : Math.max(0, Math.min(count - 1, next));
		this.#redraw();
	}

	#search(data: string): void {
		const before = this.#filter.getValue();
		this.#filter.handleInput(data);
		if (this.#filter.getValue() !== before) {
			this.#shown = this.#matching();
			this.#selected = 0;
		}
		this.#redraw();
	}

	/** Items containing the typed words or, if there are none, fuzzy matches of the label. */
	#matching(): readonly Item[] {
		const typed = this.#filter.getValue();
		const words = typed.toLowerCase().split(/\s+/);
		const textOf = ({ label, tag, about }: Item) => sanitize([label, tag?.text, about].join(" ")).toLowerCase();
		const holding = this.#all.filter((item) => words.every((word) => textOf(item).includes(word)));
		return holding.length > 0 ? holding : fuzzyFilter([...this.#all], typed, ({ label }) => sanitize(label));
	}

	#select(value: string | undefined): void {
		this.#selected = Math.max(
			0,
			this.#shown.findIndex((item) => item.value === value),
		);
	}

	#refreshLater(): void {
		this.#cancel = this.#options.clock.after(REFRESH_MS, () => {
			try {
				this.#refresh();
			} catch (error) {
				this.#options.report(`refreshing the menu: ${error instanceof Error ? error.message : String(error)}`);
			}
		});
	}

	#refresh(): void {
		const selected = this.#shown[this.#selected]?.value;
		this.#all = this.#options.choice.items();
		this.#shown = this.#matching();
		this.#select(selected);
		this.#redraw();
		this.#refreshLater();
	}

	#redraw(): void {
		this.invalidate();
		this.#options.context.redraw();
	}

	#hints(): readonly Hint[] {
		const { keys, isSearchable = false, enter = "choose" } = this.#options.choice;
		if (this.#all.length === 0) return [BACK];
		const move: Hint[] = [MOVE, [["tui.select.confirm"], enter]];
		if (!keys) return [...move, BACK, ...(isSearchable ? [[[], "type to filter"] as Hint] : [])];
		if (this.#isTyping) return FILTERING;
		const { value } = this.#shown[this.#selected] ?? {};
		const offered = keys.filter((key) => value !== undefined && key.isOffered(value));
		return [
			...move,
			...offered.map(({ key, does }): Hint => [key, does]),
			...(isSearchable ? [["/", "filter"] as Hint] : []),
			["?", "keys"],
			this.#isFiltered() ? [["tui.select.cancel"], "show all"] : BACK,
		];
	}

	/** All keys, also those that the selected item does not have. */
	#helpHints(keys: readonly ItemKey[]): readonly Hint[] {
		const { isSearchable = false, enter = "choose" } = this.#options.choice;
		return [
			MOVE,
			[["tui.select.pageUp"], "a page up"],
			[["tui.select.pageDown"], "a page down"],
			[["tui.select.confirm"], enter],
			...keys.map(({ key, does, help = does }): Hint => [key, help]),
			...(isSearchable ? [["/", "filter by words"] as Hint] : []),
			["?", "these keys"],
			BACK,
		];
	}

	#pageRows(): number {
		return Math.max(MIN_ROWS, Math.min(MAX_ROWS, this.#options.context.rows() - ROWS_AROUND));
	}
}

const MOVE: Hint = [["tui.select.up", "tui.select.down"], "move"];
const BACK: Hint = [["tui.select.cancel"], "back"];
const FILTERING: readonly Hint[] = [MOVE, [["tui.select.confirm"], "done"], [["tui.select.cancel"], "show all"]];
