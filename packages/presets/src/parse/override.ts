/** Reads the overrides of a preset in a settings file, with the same field table as preset files. Pure; never throws. */

import { fields } from "../fields/fields.ts";
import { limitFault } from "../fields/limits.ts";
import { bareUnitMs, findField } from "../fields/spelling.ts";
import { expected, readValue } from "../fields/values.ts";
import type { Entry } from "../frontmatter/simple-frontmatter.ts";
import { translate } from "../imports/imports.ts";
import { isMapping } from "../model/items.ts";
import type { PresetFields } from "../model/preset.ts";
import { didYouMeanInline } from "../model/suggest.ts";
import { quote } from "../model/text.ts";

const names = fields.map(({ name }) => name);

/** Something wrong in an override. */
export interface OverrideFault {
	/** The field, as written. Absent if the whole is meant. */
	readonly key?: string;
	readonly message: string;
}

/** The result of reading an override. */
export interface Override {
	readonly fields: PresetFields;
	/** What could not be used, and what was expected instead. */
	readonly faults: readonly OverrideFault[];
	/** True when an invalid value may be meant as a restriction: the preset must not run without it. */
	readonly isRefused: boolean;
}

/**
 * Reads the fields that a settings file sets for a preset.
 *
 * @example
 * parseOverride({ model: "haiku", max_turns: 20 }).fields; // { model: "haiku", maxTurns: 20 }
 */
export function parseOverride(values: unknown): Override {
	if (!isMapping(values)) {
		const message = `must be an object of preset fields, but is ${quote(values)}`;
		return { fields: {}, faults: [{ message }], isRefused: true };
	}
	const written = Object.entries(values).map(([key, value]): Entry => ({ key, value, line: 1, column: 1 }));
	const { entries, faults: losses, isRefused: isBroken } = translate("agents", written);
	const read: Record<string, unknown> = {};
	const faults: OverrideFault[] = losses.map(({ field, message }) =>
		field === undefined ? { message } : { key: field, message },
	);
	let isRefused = isBroken;
	for (const { key, value, written: spelling = key } of entries) {
		const field = findField(key);
		if (field === undefined || field.key === "name") {
			const limit = field === undefined ? limitFault(key, { isImported: false }) : undefined;
			isRefused ||= limit !== undefined;
			const hint = field === undefined ? didYouMeanInline(key, names) : ": it cannot be changed here";
			faults.push({ key: spelling, message: limit ?? `unknown field ${quote(key)}${hint}` });
			continue;
		}
		const reading = readValue(field.kind, value, bareUnitMs(key));
		if (reading.ok && reading.value !== undefined) read[field.key] = reading.value;
		if (reading.ok) continue;
		isRefused ||= field.onError === "refuse";
		const message = `"${spelling}" must be ${expected(field.kind)}, but is ${quote(value)}`;
		faults.push({ key: spelling, message });
	}
	return { fields: read as PresetFields, faults, isRefused };
}
