/** Makes every text of a report safe to show, and masks secrets. Pure. */
import { sanitizeBlock } from "@pi-subagents/progress";
import type { Report } from "./types.ts";

const MASK = "[masked]";

/** Shorter values occur in ordinary text, too. */
const SHORTEST_SECRET = 8;

/** Nested deeper, data from a model is not shown. */
const MAX_DEPTH = 100;

/** A copy of the report without control characters and without the secrets, wherever they occur. */
export function cleanReport(report: Report, secrets: readonly string[]): Report {
	const hide = masker(secrets);
	return cleaned(report, (text) => hide(sanitizeBlock(text)), 0) as Report;
}

/** Replaces the secrets in a text, the longest first. */
function masker(secrets: readonly string[]): (text: string) => string {
	const known = [...new Set(secrets.flatMap(spellings))].filter(({ length }) => length >= SHORTEST_SECRET);
	if (known.length === 0) return (text) => text;
	const pattern = known.sort((a, b) => b.length - a.length).map((each) => each.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
	const any = new RegExp(pattern.join("|"), "g");
	return (text) => text.replace(any, MASK);
}

/** As it is, in a URL, in JSON, and in HTTP's basic authentication. */
function spellings(value: string): string[] {
	const secret = value.toWellFormed();
	const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(secret))).replace(/=+$/, "");
	return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64];
}

function cleaned(value: unknown, clean: (text: string) => string, depth: number): unknown {
	if (typeof value === "string") return clean(value);
	if (typeof value !== "object" || value === null) return value;
	if (depth > MAX_DEPTH) return "…";
	if (Array.isArray(value)) return value.map((each) => cleaned(each, clean, depth + 1));
	return Object.fromEntries(Object.entries(value).map(([key, each]) => [clean(key), cleaned(each, clean, depth + 1)]));
}
