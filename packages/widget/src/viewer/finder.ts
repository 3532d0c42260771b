/** The search in a conversation: what is looked for, where it was found, and the way to the next place. */
import type { Row } from "./row.ts";
import type { Place } from "./scroll.ts";
import { entriesWith, type Match, mark, matchesIn, patternOf } from "./search.ts";
import type { ConversationSource } from "./source.ts";
import type { ViewerTheme } from "./theme.ts";

export interface FinderOptions {
	source: ConversationSource;
	theme: ViewerTheme;
	/** The rows of an entry, unfolded if what is looked for is folded away; undefined if there is no such entry. */
	rowsWith: (index: number, pattern: RegExp) => Promise<readonly Row[] | undefined>;
	/** Shows this row. */
	goTo: (place: Place) => void;
	onChange: () => void;
	onTrouble: (error: unknown) => void;
}

/** What a search has to say. */
export type SearchState = { state: "searching"; part: number } | { state: "found" } | { state: "nowhere" };

interface Hit {
	index: number;
	match: Match;
}

/** One search for the next place. */
interface Hunt {
	pattern: RegExp;
	step: 1 | -1;
	isOver: () => boolean;
}

export class Finder {
	readonly #options: FinderOptions;
	#pattern: RegExp | undefined;
	#hit: Hit | undefined;
	#state: SearchState | undefined;
	/** The number of the last search; those before it are over. */
	#last = 0;

	constructor(options: FinderOptions) {
		this.#options = options;
	}

	get state(): SearchState | undefined {
		return this.#state;
	}

	/** The entry that was gone to. */
	get found(): number | undefined {
		return this.#hit?.index;
	}

	/** Looks for this text from there on; an empty one ends the search. */
	find(query: string, from: Place): void {
		this.stop();
		this.#pattern = patternOf(query);
		if (this.#pattern) this.next(1, from);
		else this.#options.onChange();
	}

	/** Goes to the next place; without `from` that is the one after the last that was found. */
	next(step: 1 | -1, from?: Place): void {
		if (!this.#pattern) return;
		const number = ++this.#last;
		const hunt = { pattern: this.#pattern, step, isOver: () => number !== this.#last };
		this.#hunt(hunt, from).catch(this.#options.onTrouble);
	}

	/** Nothing is looked for any more. */
	stop(): void {
		this.#last++;
		this.#pattern = undefined;
		this.#hit = undefined;
		this.#state = undefined;
	}

	/** The rows of an entry, with what is looked for painted. */
	mark(index: number, rows: readonly Row[]): readonly Row[] {
		if (!this.#pattern) return rows;
		const { theme } = this.#options;
		const stretches = rows.map((): Parameters<typeof mark>[1][number][] => []);
		for (const match of matchesIn(rows, this.#pattern)) {
			const isHit = this.#hit?.index === index && order(this.#hit.match, match) === 0;
			const paint = isHit ? theme.currentMatch : theme.match;
			for (const { row, start, end } of match.spans) stretches[row]?.push({ start, end, paint });
		}
		return rows.map((row, at) => {
			const painted = stretches[at] ?? [];
			return painted.length === 0 ? row : { lead: row.lead, text: mark(row.text, painted) };
		});
	}

	async #hunt(hunt: Hunt, from: Place | undefined): Promise<void> {
		const { source, onChange } = this.#options;
		const start = from?.index ?? this.#hit?.index ?? 0;
		if (await this.#hitIn(start, hunt, from ? edge(from.row, hunt.step) : this.#hit?.match)) return;
		const onProgress = (part: number) => {
			this.#state = { state: "searching", part };
			onChange();
		};
		for await (const index of entriesWith(source, { ...hunt, start, onProgress })) {
			if (await this.#hitIn(index, hunt)) return;
		}
		if (hunt.isOver()) return;
		this.#state = { state: "nowhere" };
		onChange();
	}

	/** Goes to the next match in an entry, behind the one given, if it has one. */
	async #hitIn(index: number, { pattern, step, isOver }: Hunt, last?: Match): Promise<boolean> {
		const rows = await this.#options.rowsWith(index, pattern);
		if (!rows || isOver()) return false;
		const matches = matchesIn(rows, pattern).filter((match) => !last || order(match, last) * step > 0);
		const match = step > 0 ? matches[0] : matches.at(-1);
		if (!match) return false;
		this.#hit = { index, match };
		this.#state = { state: "found" };
		this.#options.goTo({ index, row: match.row });
		return true;
	}
}

/** What stands just before a row, or just behind the one above it, in the direction of reading. */
function edge(row: number, step: 1 | -1): Match {
	const start = step > 0 ? Number.POSITIVE_INFINITY : -1;
	return { row: step > 0 ? row - 1 : row, spans: [{ row, start, end: start }] };
}

function order(one: Match, other: Match): number {
	return one.row - other.row || (one.spans[0]?.start ?? 0) - (other.spans[0]?.start ?? 0);
}
