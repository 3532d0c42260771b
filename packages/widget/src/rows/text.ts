/** The texts of a view. Untrusted text is sanitized here, once per view, before it reaches a terminal. */
import { sanitize } from "@pi-subagents/progress";
import { measured, plainText, type Text } from "../cells/text.ts";
import type { AgentView } from "../tree/view.ts";

/** No line is nearly as long; the rest of a huge text is not even read. */
const MAX_LENGTH = 1_000;
/** The common case: single spaces and nothing to sanitize. */
const CLEAN_ASCII = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

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
	return measured(sanitize(start));
}

const NOTHING = plainText("");
