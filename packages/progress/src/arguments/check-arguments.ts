/**
 * Checks the arguments of JavaScript callers where they call: otherwise a wrong argument shows up as an error of some
 * inner function, or as a strange result. For public functions only; it checks the kind, not the content.
 */

const KINDS = {
	string: { wanted: "a string", test: (value: unknown) => typeof value === "string" },
	number: { wanted: "a number", test: (value: unknown) => typeof value === "number" && !Number.isNaN(value) },
	function: { wanted: "a function", test: (value: unknown) => typeof value === "function" },
	object: { wanted: "an object", test: (value: unknown) => typeof value === "object" && !isNothing(value) },
	array: { wanted: "an array", test: (value: unknown) => Array.isArray(value) },
	iterable: {
		wanted: "an iterable of objects",
		test: (value: unknown) => typeof value === "object" && !isNothing(value) && Symbol.iterator in Object(value),
	},
} as const;

/** What an argument can be asked to be. */
type ArgumentKind = keyof typeof KINDS;

/**
 * Throws a `TypeError` that names the first argument which is not what it should be.
 *
 * @example
 * ```ts
 * checkArguments({ path: ["report.html", "string"] });
 * checkArguments({ path: [undefined, "string"] }); // throws: path must be a string, not undefined.
 * ```
 */
export function checkArguments(given: Readonly<Record<string, readonly [value: unknown, kind: ArgumentKind]>>): void {
	for (const [name, [value, kind]] of Object.entries(given)) {
		const { wanted, test } = KINDS[kind];
		if (!test(value)) throw new TypeError(`${name} must be ${wanted}, not ${kindOf(value)}.`);
	}
}

function isNothing(value: unknown): boolean {
	return value === null || value === undefined;
}

function kindOf(value: unknown): string {
	if (value === null || Number.isNaN(value)) return String(value);
	return Array.isArray(value) ? "an array" : typeof value;
}
