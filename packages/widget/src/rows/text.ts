/** Text with its width. Untrusted text is sanitized here, once per view, before it reaches a terminal. */
import { sliceByColumn, visibleWidth } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import type { AgentView } from "../tree/view.ts";

const ELLIPSIS = "…";
/** No line is nearly as long; the rest of a huge text is not even read. */
const MAX_LENGTH = 1_000;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
/** The common case: single spaces and nothing to sanitize. */
const CLEAN_ASCII = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

/** Measuring and cutting wide text is slow, so both are cached. */
export class Text {
	readonly text: string;
	/** In columns. */
	readonly width: number;
	/** One column per UTF-16 unit. */
	readonly #isSimple: boolean;
	#cutWidth = -1;
	#cutText = "";

	constructor(text: string, isSimple: boolean) {
		this.text = text;
		this.#isSimple = isSimple;
		this.width = isSimple ? text.length : visibleWidth(text);
	}

	/** At most `width` columns, with an ellipsis if cut. */
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

/** Our own text, in which every character is one column wide. */
export function plainText(text: string): Text {
	return new Text(text, true);
}

type Field = "type" | "machine" | "description" | "model" | "activity" | "question" | "error";

interface Cleaned {
	readonly raw: string;
	readonly text: Text;
}

const cleaned = new WeakMap<AgentView, Partial<Record<Field, Cleaned>>>();

/** A field of a view, sanitized. */
export function textOf(view: AgentView, field: Field, raw: string | undefined): Text {
	if (typeof raw !== "string" || raw === "") return NOTHING;
	const known = cleaned.get(view);
	const before = known?.[field];
	if (before?.raw === raw) return before.text; // in case a caller mutates a view
	const text = cleanText(raw);
	if (known) known[field] = { raw, text };
	else cleaned.set(view, { [field]: { raw, text } });
	return text;
}

/** Empty unless `raw` is a string. */
export function cleanText(raw: unknown): Text {
	if (typeof raw !== "string") return NOTHING;
	const start = raw.length > MAX_LENGTH ? raw.slice(0, MAX_LENGTH) : raw;
	if (CLEAN_ASCII.test(start)) return plainText(start);
	const clean = sanitize(start);
	return new Text(clean, PRINTABLE_ASCII.test(clean));
}

const NOTHING = plainText("");
