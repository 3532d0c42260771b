/** Small helpers for values. Pure. */

/** Calls `make` on the first call and returns the same value afterwards, also if it is undefined. */
export function once<T>(make: () => T): () => T {
	let made: { value: T } | undefined;
	return () => {
		made ??= { value: make() };
		return made.value;
	};
}

/** A JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The same object without the properties that are undefined: an optional property is absent, never undefined. */
export function defined<T extends object>(values: T): Defined<T> {
	const kept: Partial<T> = {};
	// In a loop: this is done dozens of times for each agent.
	for (const name of Object.keys(values) as (keyof T)[]) if (values[name] !== undefined) kept[name] = values[name];
	return kept as Defined<T>;
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };
