/** The search in a conversation: query, current match, next and previous. */

import { type Parsed, parse } from "./content/parts.ts";
import type { Row } from "./content/row.ts";
import { entriesWith, has, type Match, mark, matchesIn, patternOf } from "./content/search.ts";
import type { ConversationSource } from "./content/source.ts";
import type { ViewerTheme } from "./content/theme.ts";
import type { ScrollPosition } from "./scroll.ts";

export interface FinderOptions {
	source: ConversationSource;
	theme: ViewerTheme;
	/** The rows of an entry, unfolded if it hides matches; undefined if there is no such entry. */
	rowsWith: (index: number, pattern: RegExp) => Promise<readonly Row[] | undefined>;
	/** How many matches an entry has when it is unfolded. */
	countIn: (entry: Parsed, pattern: RegExp) => number;
	/** Scrolls to this row. */
	goTo: (position: ScrollPosition) => void;
	onChange: () => void;
	onError: (error: unknown) => void;
}

/** The progress or result of a search. `place`: which match of how many, once they are counted. */
export type SearchState =
	| { state: "searching"; part: number }
	| { state: "found"; place?: { at: number; of: number } }
	| { state: "nowhere" };

interface Hit {
	index: number;
	match: Match;
	/** Its number among the matches of its entry, from 1. */
	nth: number;
}

/** The matches of the entries that were read so far. */
interface Tally {
	length: number;
	counts: Map<number, number>;
	/** The last entry read: the next one may answer it. */
	last?: Parsed;
}

/** To count the matches of a longer conversation would take seconds. */
const MAX_COUNTED = 2_000;
const BATCH = 64;

/** One search for the next match. */
interface SearchRun {
	pattern: RegExp;
	step: 1 | -1;
	isOver: () => boolean;
}

export class Finder {
	readonly #options: FinderOptions;
	#pattern: RegExp | undefined;
	#hit: Hit | undefined;
	#state: SearchState | undefined;
	#tally: Tally = { length: 0, counts: new Map() };
	/** The id of the latest search; earlier ones are cancelled. */
	#last = 0;

	constructor(options: FinderOptions) {
		this.#options = options;
	}

	get state(): SearchState | undefined {
		return this.#state?.state === "found" ? { ...this.#state, ...this.#place() } : this.#state;
	}

	/** The entry of the current match. */
	get found(): number | undefined {
		return this.#hit?.index;
	}

	/** Searches from there on; an empty query ends the search. */
	find(query: string, from: ScrollPosition): void {
		this.stop();
		this.#pattern = patternOf(query);
		if (this.#pattern) this.next(1, from);
		else this.#options.onChange();
	}

	/** Goes to the next match, by default after the current one. */
	next(step: 1 | -1, from?: ScrollPosition): void {
		if (!this.#pattern) return;
		const number = ++this.#last;
		const run = { pattern: this.#pattern, step, isOver: () => number !== this.#last };
		this.#search(run, from).catch(this.#options.onError);
	}

	stop(): void {
		this.#last++;
		this.#pattern = undefined;
		this.#hit = undefined;
		this.#state = undefined;
		this.#tally = { length: 0, counts: new Map() };
	}

	/** The rows of an entry with matches highlighted. */
	mark(index: number, rows: readonly Row[]): readonly Row[] {
		if (!this.#pattern) return rows;
		const { theme } = this.#options;
		const ranges = rows.map((): Parameters<typeof mark>[1][number][] => []);
		for (const match of matchesIn(rows, this.#pattern)) {
			const isHit = this.#hit?.index === index && order(this.#hit.match, match) === 0;
			const paint = isHit ? theme.currentMatch : theme.match;
			for (const { row, start, end } of match.spans) ranges[row]?.push({ start, end, paint });
		}
		return rows.map((row, at) => {
			const painted = ranges[at] ?? [];
			return painted.length === 0 ? row : { lead: row.lead, text: mark(row.text, painted) };
		});
	}

	async #search(run: SearchRun, from: ScrollPosition | undefined): Promise<void> {
		const { source, onChange } = this.#options;
		const start = from?.index ?? this.#hit?.index ?? 0;
		if (await this.#findIn(start, run, from ? edge(from.row, run.step) : this.#hit?.match)) return;
		const onProgress = (part: number) => {
			this.#state = { state: "searching", part };
			onChange();
		};
		for await (const index of entriesWith(source, { ...run, start, onProgress })) {
			if (await this.#findIn(index, run)) return;
		}
		if (run.isOver()) return;
		this.#state = { state: "nowhere" };
		onChange();
	}

	/** Goes to the next match in an entry after `last`; false if there is none. */
	async #findIn(index: number, { pattern, step, isOver }: SearchRun, last?: Match): Promise<boolean> {
		const rows = await this.#options.rowsWith(index, pattern);
		if (!rows || isOver()) return false;
		const all = matchesIn(rows, pattern);
		const matches = all.filter((match) => !last || order(match, last) * step > 0);
		const match = step > 0 ? matches[0] : matches.at(-1);
		if (!match) return false;
		this.#hit = { index, match, nth: all.indexOf(match) + 1 };
		this.#state = { state: "found" };
		this.#options.goTo({ index, row: match.row });
		this.#count(pattern, isOver).catch(this.#options.onError);
		return true;
	}

	/** Continues where it stopped: the conversation may have grown, or another search have come in between. */
	async #count(pattern: RegExp, isOver: () => boolean): Promise<void> {
		const { source, countIn, onChange } = this.#options;
		const tally = this.#tally;
		while (tally.length < source.length && source.length <= MAX_COUNTED) {
			const entries = await source.read(tally.length, BATCH);
			if (entries.length === 0 || isOver()) return;
			for (const entry of entries) {
				tally.last = parse(entry, tally.last);
				const count = has(tally.last, pattern) ? countIn(tally.last, pattern) : 0;
				if (count > 0) tally.counts.set(tally.length, count);
				tally.length++;
			}
			await new Promise((resolve) => setImmediate(resolve)); // lets input and frames in
			if (isOver()) return;
		}
		onChange();
	}

	#place(): { place?: { at: number; of: number } } {
		if (!this.#hit || this.#tally.length < this.#options.source.length) return {};
		let before = 0;
		let of = 0;
		for (const [index, count] of this.#tally.counts) {
			if (index < this.#hit.index) before += count;
			of += count;
		}
		const at = before + this.#hit.nth;
		return { place: { at, of: Math.max(at, of) } };
	}
}

/** A virtual match at the edge of a row, as the starting point of a search. */
function edge(row: number, step: 1 | -1): Match {
	const start = step > 0 ? Number.POSITIVE_INFINITY : -1;
	return { row: step > 0 ? row - 1 : row, spans: [{ row, start, end: start }] };
}

function order(one: Match, other: Match): number {
	return one.row - other.row || (one.spans[0]?.start ?? 0) - (other.spans[0]?.start ?? 0);
}
