/**
 * The scrollable part of the viewer: position, folding, and whether it follows the end.
 * Reads entries before it moves, so that no frame has gaps, and draws only what is on the screen.
 */
import type { Unfolded } from "./content/draw.ts";
import { EntryRenderer } from "./content/entry-renderer.ts";
import type { Row } from "./content/row.ts";
import type { ConversationSource } from "./content/source.ts";
import type { ViewerTheme } from "./content/theme.ts";
import { EntryWindow } from "./content/window.ts";
import { Finder, type SearchState } from "./finder.ts";
import { LoadQueue, type Step } from "./load-queue.ts";
import { clamped, type Extent, endOf, isAtEnd, type Missing, moved, type ScrollPosition } from "./scroll.ts";

export interface PaneOptions {
	source: ConversationSource;
	theme: ViewerTheme;
	onChange: () => void;
	onError: (error: unknown) => void;
}

/** What was added below the screen. `rows` is absent if there are too many to count. */
export interface Unseen {
	entries: number;
	rows?: number;
}

export interface PaneView {
	rows: Row[];
	/** The visible fraction of the conversation, from 0 to 1. */
	from: number;
	to: number;
}

const NOTHING_UNSEEN: Unseen = { entries: 0, rows: 0 };
/** Beyond this, new entries are not read just to count their lines. */
const MAX_COUNTED = 96;
const READ_AHEAD = 16;

export class Pane {
	readonly #options: PaneOptions;
	readonly #window: EntryWindow;
	readonly #queue: LoadQueue;
	readonly #finder: Finder;
	readonly #renderer: EntryRenderer;
	readonly #stopListening: () => void;
	#length = 0;
	#position: ScrollPosition = { index: 0, row: 0 };
	#isFollowing = true;
	#unseen = NOTHING_UNSEEN;
	/** A read failed: it is not retried at every frame. */
	#isStuck = false;
	#rows = 1;
	/** The entry that each row of the screen belongs to. */
	#shown: number[] = [];

	constructor(options: PaneOptions) {
		this.#options = options;
		const { source, theme, onChange } = options;
		const onError = (error: unknown) => {
			this.#isStuck = true;
			options.onError(error);
		};
		this.#window = new EntryWindow(source);
		this.#renderer = new EntryRenderer(theme);
		this.#queue = new LoadQueue({ load: (index) => this.#load(index), onDone: onChange, onError });
		this.#finder = new Finder({
			source,
			theme,
			rowsWith: (index, pattern) => this.#rowsWith(index, pattern),
			countIn: (entry, pattern) => this.#renderer.countIn(entry, pattern),
			goTo: (position) => this.#queue.add(() => this.#show(position)),
			onChange,
			onError,
		});
		this.#stopListening = source.onAppend((length) => this.#grow(length));
		this.#grow(source.length);
	}

	get length(): number {
		return this.#length;
	}

	get isFollowing(): boolean {
		return this.#isFollowing;
	}

	get unseen(): Unseen {
		return this.#unseen;
	}

	get unfolded(): Unfolded {
		return this.#renderer.unfolded;
	}

	get search(): SearchState | undefined {
		return this.#finder.state;
	}

	/** Exactly `rows` rows, padded with blank ones. */
	draw(width: number, rows: number): PaneView {
		this.#renderer.width = width;
		this.#rows = rows;
		this.#window.holdScreens(rows);
		const position = this.#isFollowing ? endOf(this.#extent()) : this.#filled(this.#position);
		if ("missing" in position) this.#need(position.missing);
		else this.#position = position;
		if (isAtEnd(this.#position, this.#extent()) === true) this.#follow(); // the screen may have grown to the end
		const view = this.#gather(this.#position);
		this.#readAhead(this.#position.index - READ_AHEAD);
		this.#readAhead((this.#shown.at(-1) ?? 0) + READ_AHEAD);
		return view;
	}

	/** By rows; negative is up. */
	scroll(by: number): void {
		this.#move(() => {
			const position = moved(this.#position, by, this.#extent());
			return "missing" in position ? position : this.#goTo(position);
		});
	}

	/** By screens. A whole screen keeps one row for context. */
	scrollScreens(by: number): void {
		const rows = Math.abs(by) < 1 ? Math.floor(Math.abs(by) * this.#rows) : Math.abs(by) * this.#rows - 1;
		this.scroll(Math.sign(by) * Math.max(1, rows));
	}

	toStart(): void {
		this.#move(() => {
			const position = this.#filled({ index: 0, row: 0 });
			return "missing" in position ? position : this.#goTo(position);
		});
	}

	toEnd(): void {
		this.#move(() => {
			const now = this.#options.source.length;
			const position = endOf(this.#extent(now));
			if ("missing" in position) return position;
			this.#length = now;
			return this.#follow();
		});
	}

	/** Unfolds or folds everything. */
	toggle(what: keyof Unfolded): void {
		this.#renderer.toggle(what);
		this.#options.onChange();
	}

	/** Unfolds or folds the entry at this row of the screen. */
	toggleAt(screenRow: number): void {
		const index = this.#shown[screenRow];
		if (index === undefined) return;
		this.#renderer.toggleOne(index);
		if (index < this.#length - 1) this.#pause();
		this.#options.onChange();
	}

	/** Goes to the next match; an empty query ends the search. */
	find(query: string): void {
		this.#isStuck = false;
		this.#finder.find(query, this.#position);
	}

	/** From the current match or, if it is off the screen, from the screen's top, or its bottom when going back. */
	findNext(step: 1 | -1): void {
		const { found } = this.#finder;
		const isShown = found !== undefined && this.#shown.includes(found);
		const bottom = { index: this.#shown.at(-1) ?? 0, row: Number.POSITIVE_INFINITY };
		this.#finder.next(step, isShown ? undefined : step > 0 ? this.#position : bottom);
	}

	/** The colours changed. */
	forgetDrawn(): void {
		this.#renderer.forgetDrawn();
	}

	close(): void {
		this.#stopListening();
		this.#queue.close();
		this.#finder.stop();
	}

	#extent(length = this.#length): Extent {
		return { length, rows: this.#rows, heightOf: (index) => this.#rowsOf(index)?.length };
	}

	#rowsOf(index: number): Row[] | undefined {
		const entry = this.#window.at(index);
		return entry && this.#renderer.rows(index, entry);
	}

	async #rowsWith(index: number, pattern: RegExp): Promise<readonly Row[] | undefined> {
		await this.#window.load(index);
		const entry = this.#window.at(index);
		if (entry) this.#renderer.reveal(index, entry, pattern);
		return this.#rowsOf(index);
	}

	#gather(position: ScrollPosition): PaneView {
		const rows: Row[] = [];
		this.#shown = [];
		let index = position.index;
		let from = position.row;
		let to = 0;
		for (; index < this.#length && rows.length < this.#rows; index++) {
			const all = this.#rowsOf(index);
			if (!all) {
				this.#need(index);
				break;
			}
			const some = this.#finder.mark(index, all).slice(from, from + this.#rows - rows.length);
			rows.push(...some);
			this.#shown.push(...some.map(() => index));
			to = (index + (from + some.length) / all.length) / this.#length;
			from = 0;
		}
		this.#window.touch(position.index, index);
		while (rows.length < this.#rows) rows.push({ lead: "", text: "" });
		const height = this.#rowsOf(position.index)?.length ?? 1;
		const start = this.#length === 0 ? 0 : (position.index + position.row / height) / this.#length;
		return { rows, from: start, to: Math.max(start, to) };
	}

	/** The nearest valid position that fills the screen. */
	#filled(position: ScrollPosition): ScrollPosition | Missing {
		const near = clamped(position, this.#extent());
		return "missing" in near ? near : moved(near, 0, this.#extent());
	}

	/** Shows the row a third below the top, to leave context above it. */
	#show(position: ScrollPosition): Missing | undefined {
		const above = moved(position, -Math.floor(this.#rows / 3), this.#extent());
		if ("missing" in above) return above;
		const filled = this.#filled(above);
		return "missing" in filled ? filled : this.#goTo(filled);
	}

	/** Follows if that is the end. */
	#goTo(position: ScrollPosition): undefined {
		this.#position = position;
		// If the end is not loaded, it is not on the screen.
		if (isAtEnd(position, this.#extent()) === true) this.#follow();
		else this.#pause();
	}

	#follow(): undefined {
		this.#isFollowing = true;
		this.#unseen = NOTHING_UNSEEN;
	}

	#pause(): void {
		if (this.#isFollowing) this.#unseen = NOTHING_UNSEEN;
		this.#isFollowing = false;
	}

	#grow(length: number): void {
		if (length < this.#length) this.#restart();
		this.#move(() => {
			const now = this.#options.source.length;
			if (now <= this.#length) return undefined;
			if (!this.#isFollowing) return this.#count(now);
			const position = endOf(this.#extent(now)); // read before it is shown
			if ("missing" in position) return position;
			this.#length = now;
			return undefined;
		});
	}

	#count(now: number): Missing | undefined {
		const entries = this.#unseen.entries + now - this.#length;
		let rows = entries > MAX_COUNTED ? undefined : this.#unseen.rows;
		for (let index = this.#length; rows !== undefined && index < now; index++) {
			const height = this.#rowsOf(index)?.length;
			if (height === undefined) return { missing: index };
			rows += height;
		}
		this.#unseen = rows === undefined ? { entries } : { entries, rows };
		this.#length = now;
		return undefined;
	}

	#restart(): void {
		this.#window.clear();
		this.#finder.stop();
		this.#renderer.forgetEntries();
		this.#length = 0;
		this.#position = { index: 0, row: 0 };
		this.#follow();
	}

	#move(step: Step): void {
		this.#isStuck = false;
		this.#queue.add(step);
	}

	/** If an entry turns out to be missing, the conversation ends before it. */
	async #load(index: number): Promise<boolean> {
		await this.#window.load(index);
		const isHere = this.#window.at(index) !== undefined;
		if (!isHere) this.#length = Math.min(this.#length, index);
		return isHere;
	}

	/** Loads it for the next frame; this one shows what is loaded. */
	#need(index: number): void {
		if (this.#queue.isBusy || this.#isStuck) return;
		this.#queue.add(() => (this.#window.at(index) ? undefined : { missing: index }));
	}

	#readAhead(index: number): void {
		const within = Math.max(0, Math.min(index, this.#length - 1));
		if (this.#length === 0 || this.#isStuck || this.#window.at(within)) return;
		this.#window.load(within).catch((error) => {
			this.#isStuck = true;
			this.#options.onError(error);
		});
	}
}
