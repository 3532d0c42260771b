/** Text with its width. Foreign text is cleaned here, once for each view, before it goes anywhere near a terminal. */
import { sliceByColumn, visibleWidth } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import type { AgentView } from "./view.ts";

const ELLIPSIS = "…";
/** No line is nearly as long, and reading more of a huge text would take time. */
const LONGEST = 1_000;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
/** Most text is: single spaces, and nothing that has to be cleaned away. */
const CLEAN_ASCII = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

/** Measuring and cutting wide text is slow, so each is done once. */
export class Text {
	readonly text: string;
	/** In columns. */
	readonly width: number;
	/** Each unit takes one column. */
	readonly #isSimple: boolean;
	#cutWidth = -1;
	#cutText = "";

	constructor(text: string, isSimple: boolean) {
		this.text = text;
		this.#isSimple = isSimple;
		this.width = isSimple ? text.length : visibleWidth(text);
	}

	/** At most that many columns of it, with a mark where it was cut. */
	cut(width: number): string {
		if (width >= this.width) return this.text;
		if (width === this.#cutWidth) return this.#cutText;
		const start = this.#isSimple
			? this.text.slice(0, Math.max(0, width - 1))
			: sliceByColumn(this.text, 0, width - 1, true);
		this.#cutWidth = width;
		this.#cutText = width < 1 ? "" : start.trimEnd() + ELLIPSIS;
		return this.#cutText;
	}
}

/** Our own words and signs, each of which is one column wide. */
export function ownText(text: string): Text {
	return new Text(text, true);
}

type Field = "type" | "description" | "model" | "activity" | "question" | "error";

interface Cleaned {
	readonly raw: string;
	readonly text: Text;
}

const cleaned = new WeakMap<AgentView, Partial<Record<Field, Cleaned>>>();

/** What a view says of itself, fit for a terminal. */
export function textOf(view: AgentView, field: Field, raw: string | undefined): Text {
	if (typeof raw !== "string" || raw === "") return NOTHING;
	const known = cleaned.get(view);
	const before = known?.[field];
	if (before?.raw === raw) return before.text; // somebody might write to a view after all
	const text = cleanText(raw);
	if (known) known[field] = { raw, text };
	else cleaned.set(view, { [field]: { raw, text } });
	return text;
}

/** Nothing of what is no string. */
export function cleanText(raw: unknown): Text {
	if (typeof raw !== "string") return NOTHING;
	const start = raw.length > LONGEST ? raw.slice(0, LONGEST) : raw;
	if (CLEAN_ASCII.test(start)) return ownText(start);
	const clean = sanitize(start);
	return new Text(clean, PRINTABLE_ASCII.test(clean));
}

const NOTHING = ownText("");
