/** Draws entries, each once for a width and a folding, and knows what is unfolded: everything, or one by one. */
import { draw, type Unfolded } from "./draw.ts";
import type { Parsed } from "./parts.ts";
import type { Row } from "./row.ts";
import { matchesIn } from "./search.ts";
import type { ViewerTheme } from "./theme.ts";

const EVERYTHING: Unfolded = { details: true, thinking: true };
const NOTHING: Unfolded = { details: false, thinking: false };

export class Painter {
	readonly #theme: ViewerTheme;
	/** What the user, or a search, folded or unfolded by itself. */
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

	/** Unfolds everything, or folds it again. */
	toggle(what: keyof Unfolded): void {
		this.#own.clear();
		this.#unfolded = { ...this.#unfolded, [what]: !this.#unfolded[what] };
	}

	toggleOne(index: number): void {
		this.#own.set(index, this.#unfoldedOf(index).details ? NOTHING : EVERYTHING);
	}

	/** Unfolds an entry if something that is looked for is folded away in it. */
	reveal(index: number, entry: Parsed, pattern: RegExp): void {
		const whole = matchesIn(this.#draw(entry, EVERYTHING), pattern);
		if (whole.length > matchesIn(this.rows(index, entry), pattern).length) this.#own.set(index, EVERYTHING);
	}

	/** They are other entries now. */
	forgetEntries(): void {
		this.#own.clear();
	}

	/** Colours have changed. */
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
