/** Small helpers for values. Pure. */

/** Creates the value on the first call and returns the same one afterwards: most processes never need all of them. */
export function once<T>(make: () => T): () => T {
	let made: T | undefined;
	return () => {
		made ??= make();
		return made;
	};
}

/** A JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The same object without the properties that are undefined: an optional property is absent, never undefined. */
export function defined<T extends object>(values: T): Defined<T> {
	return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };
