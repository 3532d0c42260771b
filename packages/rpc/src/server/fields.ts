/**
 * Reads the fields of untrusted objects: live ones, which may have getters that throw, proxies or manipulated
 * prototypes. Own fields only; each error names its field.
 */

/** Reads one field of an object. */
export type Fields = (key: string) => unknown;

/** The longest id, name of a model or the like. */
export const MAX_ID = 256;
/** The longest text about an agent. */
export const MAX_TEXT = 10_000;

/** Own fields only: inherited ones were not set by the caller. */
export function fieldsOf(value: unknown, what: string): Fields {
	if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${what} must be an object`);
	return (key) => (Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined);
}

/** Callers that use JSON write `null` for an absent field. */
export function optional(get: Fields, key: string): unknown {
	return get(key) ?? undefined;
}

export function text(get: Fields, key: string, most: number): string {
	const value = optionalText(get, key, most);
	if (value === undefined || value.trim() === "") throw new Error(`${key} must be a non-blank string`);
	return value;
}

export function optionalText(get: Fields, key: string, most: number): string | undefined {
	const value = optional(get, key);
	if (value === undefined) return undefined;
	if (typeof value !== "string") throw new Error(`${key} must be a string`);
	if (value.length > most) throw new Error(`${key} has ${value.length} characters; at most ${most} are allowed`);
	return value;
}

export function optionalBoolean(get: Fields, key: string): boolean | undefined {
	const value = optional(get, key);
	if (value !== undefined && typeof value !== "boolean") throw new Error(`${key} must be true or false`);
	return value;
}

export function optionalInteger(get: Fields, key: string): number | undefined {
	const value = optional(get, key);
	if (value === undefined) return undefined;
	if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error(`${key} must be a whole number`);
	return value as number;
}
