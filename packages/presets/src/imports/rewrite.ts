/** Collects the translation of a foreign file: entries under our names, warnings about losses, a note for each change. */

import { findField, squash } from "../fields/spelling.ts";
import type { Fault } from "../frontmatter/frontmatter.ts";
import type { Entry } from "../frontmatter/simple-frontmatter.ts";
import { keyword, splitItems, splitTools } from "../model/items.ts";
import { nameKey } from "../model/names.ts";
import type { FieldKey, ImportNote } from "../model/preset.ts";
import { cut, oneLine } from "../model/text.ts";

/** Frontmatter under our names. */
export interface Translation {
	readonly entries: readonly Entry[];
	readonly faults: readonly Fault[];
	readonly notes: readonly ImportNote[];
	/** True when a limit of the file cannot be enforced, so the preset must not be used; a fault says which. */
	readonly isRefused: boolean;
	/** A prompt in the frontmatter; the body has precedence. */
	readonly prompt?: string;
}

/** A file while it is translated. */
export class Rewrite {
	readonly #entries: Entry[];
	readonly #faults: Fault[] = [];
	readonly #notes: ImportNote[] = [];
	#isRefused = false;
	#prompt: string | undefined;

	constructor(entries: readonly Entry[]) {
		this.#entries = [...entries];
	}

	/** Removes and returns all entries with one of these names, in any spelling. */
	take(...names: readonly string[]): Entry[] {
		const words = names.map(squash);
		const taken = this.#entries.filter((entry) => words.includes(squash(entry.key)));
		for (const entry of taken) this.#entries.splice(this.#entries.indexOf(entry), 1);
		return taken;
	}

	/** Adds one of our fields, at the position of the entry it came from. */
	put(key: string, value: unknown, from: Entry): void {
		this.#entries.push(underOurName(key, value, from));
	}

	/** The entry of a field, in any spelling. */
	entryOf(key: FieldKey): Entry | undefined {
		return this.#entries.find((entry) => findField(entry.key)?.key === key);
	}

	/** Sets which agents it may start; when that is given twice, the narrower value wins. */
	putSubagents(value: "*" | readonly string[], from: Entry): void {
		const before = this.entryOf("subagents");
		if (before === undefined) this.put("subagents", value, from);
		if (before === undefined || value === "*") return;
		const allowed = namesIn(before.value);
		if (allowed === undefined) return; // it is refused on its own
		const narrower = value.filter((name) => allowed === "*" || allowed.includes(nameKey(name)));
		this.#replace(before, underOurName("subagents", narrower, before));
	}

	/** Disables the preset, whatever else the file says. */
	disable(from: Entry): void {
		const before = this.entryOf("enabled");
		if (before === undefined) this.put("enabled", false, from);
		else this.#replace(before, { ...before, value: false });
	}

	/** Adds to the denied tools. */
	deny(tools: readonly string[], from: Entry): void {
		if (tools.length === 0) return;
		const before = this.entryOf("disallowedTools");
		if (before === undefined) {
			this.put("disallowed_tools", [...tools], from);
			return;
		}
		const denied = keyword(before.value) === "none" ? [] : splitTools(before.value);
		if (denied !== undefined) this.#replace(before, { ...before, value: [...new Set([...denied, ...tools])] });
	}

	/** A prompt in the frontmatter, for a file without a body. */
	putPrompt(text: string): void {
		this.#prompt = text;
	}

	note({ line }: Entry, from: string, to?: string): void {
		const text = cut(oneLine(from), 100);
		this.#notes.push(to === undefined ? { line, from: text } : { line, from: text, to: cut(oneLine(to), 100) });
	}

	/** Notes a value that has no counterpart, and warns. */
	reportLoss(entry: Entry, from: string, consequence: string): void {
		this.note(entry, from);
		this.warn(entry, `"${cut(oneLine(from), 100)}" has no counterpart here: ${consequence}`);
	}

	warn(entry: Entry, message: string): void {
		this.#report(entry, "warning", message);
	}

	/** Refuses the preset because a limit cannot be enforced. */
	refuse(entry: Entry, message: string): void {
		this.#isRefused = true;
		this.#report(entry, "error", `${message}; the preset is not used until this is fixed`);
	}

	/** The translation; entries that were not taken are passed through unchanged. */
	finish(): Translation {
		return {
			entries: this.#entries,
			faults: this.#faults,
			notes: this.#notes,
			isRefused: this.#isRefused,
			...(this.#prompt === undefined ? {} : { prompt: this.#prompt }),
		};
	}

	#report({ line, column, key, written = key }: Entry, severity: Fault["severity"], message: string): void {
		this.#faults.push({ line, column, severity, field: cut(oneLine(written), 60), message });
	}

	#replace(before: Entry, after: Entry): void {
		this.#entries[this.#entries.indexOf(before)] = after;
	}
}

/** An entry under our name that keeps the spelling of the file. */
function underOurName(key: string, value: unknown, { line, column, key: theirs, written = theirs }: Entry): Entry {
	return written === key ? { key, value, line, column } : { key, value, line, column, written };
}

/** The name keys of the presets in a value. */
function namesIn(value: unknown): "*" | readonly string[] | undefined {
	if (typeof value === "boolean") return value ? "*" : [];
	const word = keyword(value);
	if (word !== undefined) return word === "all" ? "*" : [];
	return splitItems(value)?.map(nameKey);
}
