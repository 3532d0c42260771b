/** What the lines of a journal say: entries of anybody, how large it was at its beginning, and where it ends. */
import type { Entry, StoredJob } from "./ledger.ts";
import { isEntry } from "./valid.ts";

export type Line =
	| { kind: "entry"; entry: Entry; by: unknown; n: unknown }
	| { kind: "begin"; size: number }
	/** Nothing behind it counts. */
	| { kind: "seal" }
	| { kind: "damaged" };

export const SEAL_LINE = JSON.stringify({ type: "seal" });

/** `by` and `n` let whoever wrote it recognise it. */
export const entryLine = (entry: Entry, by: string, n: number) => JSON.stringify({ ...entry, by, n });

/** What a journal begins with. */
export function beginLines(jobs: Iterable<StoredJob>): string[] {
	const lines = Array.from(jobs, (job) => JSON.stringify({ type: "job", job }));
	return [JSON.stringify({ type: "begin", size: lines.join("\n").length }), ...lines];
}

export function readLine(text: string): Line {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return { kind: "damaged" };
	}
	if (isEntry(value)) {
		const { by, n, ...entry } = value as Entry & { by?: unknown; n?: unknown };
		return { kind: "entry", entry, by, n };
	}
	const { type, size } = (value ?? {}) as { type?: unknown; size?: unknown };
	if (type === "seal") return { kind: "seal" };
	return type === "begin" && typeof size === "number" ? { kind: "begin", size } : { kind: "damaged" };
}
