/**
 * The part of the screen that shows the conversation: where it is, what is unfolded, whether it follows the end.
 * Reads what it needs before it moves, so that no frame has holes, and draws only what is on the screen.
 */
import type { Unfolded } from "./draw.ts";
import { Finder, type SearchState } from "./finder.ts";
import { Painter } from "./painter.ts";
import type { Row } from "./row.ts";
import { clamped, type Extent, endOf, isAtEnd, type Missing, moved, type Place } from "./scroll.ts";
import type { ConversationSource } from "./source.ts";
import { type Step, Steps } from "./steps.ts";
import type { ViewerTheme } from "./theme.ts";
import { EntryWindow } from "./window.ts";

export interface PaneOptions {
	source: ConversationSource;
	theme: ViewerTheme;
	/** Something looks different now. */
	onChange: () => void;
	onTrouble: (error: unknown) => void;
}

/** What was added behind the screen. `rows` only while they are few enough to be counted. */
export interface News {
	entries: number;
	rows?: number;
}

export interface PaneView {
	rows: Row[];
	/** Which part of the conversation is on the screen: from 0 to 1. */
	from: number;
	to: number;
}

const NO_NEWS: News = { entries: 0, rows: 0 };
/** More new entries than this are not read just to count their lines. */
const MOST_COUNTED = 96;
const READ_AHEAD = 16;

export class Pane {
	readonly #options: PaneOptions;
	readonly #window: EntryWindow;
	readonly #steps: Steps;
	readonly #finder: Finder;
	readonly #painter: Painter;
	readonly #stopListening: () => void;
	#length = 0;
	#place: Place = { index: 0, row: 0 };
	#isFollowing = true;
	#news = NO_NEWS;
	/** Something could not be read: it is not tried at every frame. */
	#isStuck = false;
	#rows = 1;
	/** The entry that each row of the screen belongs to. */
	#shown: number[] = [];

	constructor(options: PaneOptions) {
		this.#options = options;
		const { source, theme, onChange } = options;
		const onTrouble = (error: unknown) => {
			this.#isStuck = true;
			options.onTrouble(error);
		};
		this.#window = new EntryWindow(source);
		this.#painter = new Painter(theme);
		this.#steps = new Steps({ load: (index) => this.#load(index), onDone: onChange, onTrouble });
		this.#finder = new Finder({
			source,
			theme,
			rowsWith: (index, pattern) => this.#rowsWith(index, pattern),
			goTo: (place) => this.#steps.add(() => this.#show(place)),
			onChange,
			onTrouble,
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

	get news(): News {
		return this.#news;
	}

	get unfolded(): Unfolded {
		return this.#painter.unfolded;
	}

	get search(): SearchState | undefined {
		return this.#finder.state;
	}

	/** Exactly `rows` rows, the last ones blank where there is nothing. */
	draw(width: number, rows: number): PaneView {
		this.#painter.width = width;
		this.#rows = rows;
		this.#window.holdScreens(rows);
		const place = this.#isFollowing ? endOf(this.#extent()) : this.#filled(this.#place);
		if ("missing" in place) this.#need(place.missing);
		else this.#place = place;
		if (isAtEnd(this.#place, this.#extent()) === true) this.#follow(); // the screen may have grown down to it
		const view = this.#gather(this.#place);
		this.#readAhead(this.#place.index - READ_AHEAD);
		this.#readAhead((this.#shown.at(-1) ?? 0) + READ_AHEAD);
		return view;
	}

	/** By so many rows: down, or up where it is negative. */
	scroll(by: number): void {
		this.#move(() => {
			const place = moved(this.#place, by, this.#extent());
			return "missing" in place ? place : this.#goTo(place);
		});
	}

	/** By so many screens. Of a whole one, a row stays to go on from. */
	scrollScreens(by: number): void {
		const rows = Math.abs(by) < 1 ? Math.floor(Math.abs(by) * this.#rows) : Math.abs(by) * this.#rows - 1;
		this.scroll(Math.sign(by) * Math.max(1, rows));
	}

	toStart(): void {
		this.#move(() => {
			const place = this.#filled({ index: 0, row: 0 });
			return "missing" in place ? place : this.#goTo(place);
		});
	}

	toEnd(): void {
		this.#move(() => {
			const now = this.#options.source.length;
			const place = endOf(this.#extent(now));
			if ("missing" in place) return place;
			this.#length = now;
			return this.#follow();
		});
	}

	/** Unfolds everything, or folds it again. */
	toggle(what: keyof Unfolded): void {
		this.#painter.toggle(what);
		this.#options.onChange();
	}

	/** Unfolds what is on this row of the screen, or folds it again. */
	toggleAt(screenRow: number): void {
		const index = this.#shown[screenRow];
		if (index === undefined) return;
		this.#painter.toggleOne(index);
		if (index < this.#length - 1) this.#pause();
		this.#options.onChange();
	}

	/** Goes to the next place that has this text; an empty one ends the search. */
	find(query: string): void {
		this.#isStuck = false;
		this.#finder.find(query, this.#place);
	}

	/** From the last place on, or from the screen if it has been left: from its top, or going back from its bottom. */
	findNext(step: 1 | -1): void {
		const { found } = this.#finder;
		const isShown = found !== undefined && this.#shown.includes(found);
		const bottom = { index: this.#shown.at(-1) ?? 0, row: Number.POSITIVE_INFINITY };
		this.#finder.next(step, isShown ? undefined : step > 0 ? this.#place : bottom);
	}

	/** Colours have changed. */
	forgetDrawn(): void {
		this.#painter.forgetDrawn();
	}

	close(): void {
		this.#stopListening();
		this.#steps.close();
		this.#finder.stop();
	}

	#extent(length = this.#length): Extent {
		return { length, rows: this.#rows, heightOf: (index) => this.#rowsOf(index)?.length };
	}

	#rowsOf(index: number): Row[] | undefined {
		const entry = this.#window.at(index);
		return entry && this.#painter.rows(index, entry);
	}

	async #rowsWith(index: number, pattern: RegExp): Promise<readonly Row[] | undefined> {
		await this.#window.load(index);
		const entry = this.#window.at(index);
		if (entry) this.#painter.reveal(index, entry, pattern);
		return this.#rowsOf(index);
	}

	#gather(place: Place): PaneView {
		const rows: Row[] = [];
		this.#shown = [];
		let index = place.index;
		let from = place.row;
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
		this.#window.touch(place.index, index);
		while (rows.length < this.#rows) rows.push({ lead: "", text: "" });
		const height = this.#rowsOf(place.index)?.length ?? 1;
		const start = this.#length === 0 ? 0 : (place.index + place.row / height) / this.#length;
		return { rows, from: start, to: Math.max(start, to) };
	}

	/** As near to it as the conversation allows, without leaving the end of the screen blank. */
	#filled(place: Place): Place | Missing {
		const near = clamped(place, this.#extent());
		return "missing" in near ? near : moved(near, 0, this.#extent());
	}

	/** The row, a third below the top: what is before it helps to understand it. */
	#show(place: Place): Missing | undefined {
		const above = moved(place, -Math.floor(this.#rows / 3), this.#extent());
		if ("missing" in above) return above;
		const filled = this.#filled(above);
		return "missing" in filled ? filled : this.#goTo(filled);
	}

	/** Follows from there on if that is the end. */
	#goTo(place: Place): undefined {
		this.#place = place;
		// What has not been read is not on the screen, so this is not the end then.
		if (isAtEnd(place, this.#extent()) === true) this.#follow();
		else this.#pause();
	}

	#follow(): undefined {
		this.#isFollowing = true;
		this.#news = NO_NEWS;
	}

	#pause(): void {
		if (this.#isFollowing) this.#news = NO_NEWS;
		this.#isFollowing = false;
	}

	#grow(length: number): void {
		if (length < this.#length) this.#restart();
		this.#move(() => {
			const now = this.#options.source.length;
			if (now <= this.#length) return undefined;
			if (!this.#isFollowing) return this.#count(now);
			const place = endOf(this.#extent(now)); // what will be shown is read first
			if ("missing" in place) return place;
			this.#length = now;
			return undefined;
		});
	}

	#count(now: number): Missing | undefined {
		const entries = this.#news.entries + now - this.#length;
		let rows = entries > MOST_COUNTED ? undefined : this.#news.rows;
		for (let index = this.#length; rows !== undefined && index < now; index++) {
			const height = this.#rowsOf(index)?.length;
			if (height === undefined) return { missing: index };
			rows += height;
		}
		this.#news = rows === undefined ? { entries } : { entries, rows };
		this.#length = now;
		return undefined;
	}

	#restart(): void {
		this.#window.clear();
		this.#finder.stop();
		this.#painter.forgetEntries();
		this.#length = 0;
		this.#place = { index: 0, row: 0 };
		this.#follow();
	}

	#move(step: Step): void {
		this.#isStuck = false;
		this.#steps.add(step);
	}

	/** One that was promised and is not there does not count. */
	async #load(index: number): Promise<boolean> {
		await this.#window.load(index);
		const isHere = this.#window.at(index) !== undefined;
		if (!isHere) this.#length = Math.min(this.#length, index);
		return isHere;
	}

	/** For the next frame: this one shows what there is. */
	#need(index: number): void {
		if (this.#steps.isBusy || this.#isStuck) return;
		this.#steps.add(() => (this.#window.at(index) ? undefined : { missing: index }));
	}

	#readAhead(index: number): void {
		const within = Math.max(0, Math.min(index, this.#length - 1));
		if (this.#length === 0 || this.#isStuck || this.#window.at(within)) return;
		this.#window.load(within).catch((error) => {
			this.#isStuck = true;
			this.#options.onTrouble(error);
		});
	}
}
