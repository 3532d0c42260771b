/** Draws entries, cached by width and folding, and tracks what is unfolded; and the message that is being written. */
import { draw, type Unfolded } from "./draw.ts";
import { type Parsed, parse } from "./parts.ts";
import type { Row } from "./row.ts";
import { matchesIn } from "./search.ts";
import type { ConversationEntry } from "./source.ts";
import type { ViewerTheme } from "./theme.ts";

const EVERYTHING: Unfolded = { details: true, thinking: true };
const NOTHING: Unfolded = { details: false, thinking: false };

export class EntryRenderer {
	readonly #theme: ViewerTheme;
	/** Entries that the user or a search folded or unfolded individually. */
	readonly #own = new Map<number, Unfolded>();
	#drawn = new WeakMap<Parsed, { width: number; unfolded: Unfolded; rows: Row[] }>();
	#unfolded = NOTHING;
	width = 80;

	constructor(theme: ViewerTheme) {
		this.#theme = theme;
	}

	get unfolded(): Unfolded {
		return this.#unfolded;
	}

	rows(index: number, entry: Parsed): Row[] {
		const unfolded = this.#unfoldedOf(index);
		const known = this.#drawn.get(entry);
		if (known?.width === this.width && known.unfolded === unfolded) return known.rows;
		const rows = this.#draw(entry, unfolded);
		this.#drawn.set(entry, { width: this.width, unfolded, rows });
		return rows;
	}

	/** Unfolds or folds everything. */
	toggle(what: keyof Unfolded): void {
		this.#own.clear();
		this.#unfolded = { ...this.#unfolded, [what]: !this.#unfolded[what] };
	}

	toggleOne(index: number): void {
		this.#own.set(index, this.#unfoldedOf(index).details ? NOTHING : EVERYTHING);
	}

	/** Unfolds an entry if it hides matches. */
	reveal(index: number, entry: Parsed, pattern: RegExp): void {
		if (this.countIn(entry, pattern) > matchesIn(this.rows(index, entry), pattern).length)
			this.#own.set(index, EVERYTHING);
	}

	/** Its matches when everything is unfolded. */
	countIn(entry: Parsed, pattern: RegExp): number {
		return matchesIn(this.#draw(entry, EVERYTHING), pattern).length;
	}

	/** The conversation was replaced. */
	forgetEntries(): void {
		this.#own.clear();
	}

	/** The colours changed. */
	forgetDrawn(): void {
		this.#drawn = new WeakMap();
	}

	#unfoldedOf(index: number): Unfolded {
		return this.#own.get(index) ?? this.#unfolded;
	}

	#draw(entry: Parsed, unfolded: Unfolded): Row[] {
		return draw(entry, { width: this.width, unfolded, theme: this.#theme });
	}
}

/**
 * The last rows of the message that is being written, at most half of the body. It is not scrolled: its end is what
 * happens now, and the whole of it follows as an entry. Thinking is read while it is written, so nothing is folded.
 */
export function tailRows(
	writing: ConversationEntry | undefined,
	{ inner, body }: { inner: number; body: number },
	theme: ViewerTheme,
): Row[] {
	const most = Math.floor(body / 2);
	if (!writing || most === 0) return [];
	return draw(parse(writing), { width: inner, unfolded: EVERYTHING, theme }).slice(-most);
}

/** Directly behind the last row that says something; a short conversation leaves the rest of the screen blank. */
export function withTail(body: readonly Row[], tail: readonly Row[]): readonly Row[] {
	if (tail.length === 0) return body;
	const end = body.findLastIndex(({ lead, text }) => (lead + text).trim() !== "") + 1;
	return [...body.slice(0, end), ...tail, ...body.slice(end)];
}
