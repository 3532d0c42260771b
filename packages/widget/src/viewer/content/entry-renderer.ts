/** Draws entries, cached by width and folding, and tracks what is unfolded, globally or per entry. */
import { draw, type Unfolded } from "./draw.ts";
import type { Parsed } from "./parts.ts";
import type { Row } from "./row.ts";
import { matchesIn } from "./search.ts";
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
