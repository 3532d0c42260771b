/** What a row of the field table says. Types only. */
import type { FieldKey, PresetSource } from "./preset.ts";
import type { Kind } from "./values.ts";

/** One row of the table. */
export interface Field {
	/** Property of `Preset`. */
	readonly key: FieldKey;
	/** As documented in frontmatter. camelCase and kebab-case spellings are understood as well. */
	readonly name: string;
	/** Other words for the same field. One that ends in `ms` counts bare numbers in milliseconds. */
	readonly aliases: readonly string[];
	readonly kind: Kind;
	/**
	 * What a wrong value costs. `refuse`: the whole preset, because without this field it could do more than its author
	 * allowed. `drop`: only the field.
	 */
	readonly onError: "refuse" | "drop";
	/** The value of a field that nobody wrote; absent when that is for others to decide. */
	readonly fallback?: (source: PresetSource) => unknown;
	/** What being absent means, for people. */
	readonly absent: string;
	/** What it does, in one sentence, for people. */
	readonly doc: string;
}
