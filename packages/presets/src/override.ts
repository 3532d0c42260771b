/** Reads what a settings file says about a preset, by the same table as the files themselves. Pure and total. */

import { fields } from "./fields.ts";
import type { PresetFields } from "./preset.ts";
import { findField, squash } from "./spelling.ts";
import { perhaps } from "./suggest.ts";
import { quote } from "./text.ts";
import { expected, readValue } from "./values.ts";

/** What an override gave. */
export interface Override {
	readonly fields: PresetFields;
	/** What could not be used, each with what was expected. */
	readonly faults: readonly string[];
	/** True when a wrong value may have been meant to take something away: the preset must not run without it. */
	readonly isRefused: boolean;
}

/**
 * @example
 * parseOverride({ model: "haiku", max_turns: 20 }).fields; // { model: "haiku", maxTurns: 20 }
 */
export function parseOverride(values: unknown): Override {
	if (typeof values !== "object" || values === null || Array.isArray(values)) {
		return { fields: {}, faults: [`must be an object of preset fields, but is ${quote(values)}`], isRefused: true };
	}
	const read: Record<string, unknown> = {};
	const faults: string[] = [];
	let isRefused = false;
	for (const [spelling, value] of Object.entries(values)) {
		const field = findField(spelling);
		if (field === undefined || field.key === "name") {
			const hint =
				field === undefined
					? perhaps(
							spelling,
							fields.map(({ name }) => name),
						)
					: ": it cannot be changed here";
			faults.push(`unknown field ${quote(spelling)}${hint}`);
			continue;
		}
		const reading = readValue(field.kind, value, squash(spelling).endsWith("ms") ? 1 : 1000);
		if (reading.ok && reading.value !== undefined) read[field.key] = reading.value;
		if (reading.ok) continue;
		isRefused ||= field.onError === "refuse";
		faults.push(`"${spelling}" must be ${expected(field.kind)}, but is ${quote(value)}`);
	}
	return { fields: read as PresetFields, faults, isRefused };
}
