/** Collects what an import makes of a file: entries in our words, warnings about losses, and a note for each change. */

import type { Fault } from "./frontmatter.ts";
import type { Entry } from "./plain.ts";
import type { ImportNote } from "./preset.ts";
import { squash } from "./spelling.ts";
import { cut, oneLine } from "./text.ts";

/** Frontmatter in our words. */
export interface Translation {
	readonly entries: readonly Entry[];
	readonly faults: readonly Fault[];
	readonly notes: readonly ImportNote[];
}

/** A file while it is rewritten. */
export class Rewrite {
	readonly #left: Entry[];
	readonly #entries: Entry[] = [];
	readonly #faults: Fault[] = [];
	readonly #notes: ImportNote[] = [];

	constructor(entries: readonly Entry[]) {
		this.#left = [...entries];
	}

	/** Takes all entries of that name (in any spelling) out of the file. */
	take(name: string): Entry[] {
		const taken = this.#left.filter((entry) => squash(entry.key) === squash(name));
		for (const entry of taken) this.#left.splice(this.#left.indexOf(entry), 1);
		return taken;
	}

	/** Writes one of our fields, at the place of the entry it came from. */
	put(key: string, value: unknown, { line, column }: Entry): void {
		this.#entries.push({ key, value, line, column });
	}

	/** Writes which agents it may start; when that is said twice, the narrower holds. */
	putSubagents(value: "*" | readonly string[], from: Entry): void {
		const index = this.#entries.findIndex((entry) => entry.key === "subagents");
		const before = this.#entries[index];
		if (before === undefined) this.put("subagents", value, from);
		if (before === undefined || value === "*") return;
		const allowed: unknown = before.value;
		this.#entries[index] = {
			...before,
			value: Array.isArray(allowed) ? value.filter((name) => allowed.includes(name)) : value,
		};
	}

	/** Switches the preset off, whatever else the file says. */
	disable(from: Entry): void {
		if (!this.#entries.some((entry) => entry.key === "enabled")) this.put("enabled", false, from);
	}

	/** Adds denied tools to those already written. */
	deny(tools: readonly string[], from: Entry): void {
		if (tools.length === 0) return;
		const index = this.#entries.findIndex((entry) => entry.key === "disallowed_tools");
		const before = this.#entries[index];
		if (before === undefined) {
			this.put("disallowed_tools", [...tools], from);
			return;
		}
		const value = Array.isArray(before.value) ? [...new Set([...before.value, ...tools])] : before.value;
		this.#entries[index] = { ...before, value };
	}

	note({ line }: Entry, from: string, to?: string): void {
		const text = cut(oneLine(from), 100);
		this.#notes.push(to === undefined ? { line, from: text } : { line, from: text, to: cut(oneLine(to), 100) });
	}

	/** Notes a value that has no counterpart, and warns. */
	lose(entry: Entry, from: string, consequence: string): void {
		this.note(entry, from);
		const { line, column, key } = entry;
		const message = `"${cut(oneLine(from), 100)}" has no counterpart here: ${consequence}`;
		this.#faults.push({ line, column, severity: "warning", field: key, message });
	}

	/** Everything, with what was not taken passed through unchanged. */
	finish(): Translation {
		return { entries: [...this.#left, ...this.#entries], faults: this.#faults, notes: this.#notes };
	}
}
