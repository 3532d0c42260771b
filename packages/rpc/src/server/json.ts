/** Copies an untrusted value as plain JSON of bounded size. Throws for anything else, with the path of the value. */

/** Larger than any schema written by hand. Without limits, a proxy could make the walk endless. */
const MAX_LEVELS = 64;
const MAX_VALUES = 20_000;
const MAX_CHARACTERS = 1_000_000;

export function copyJson(value: unknown, what: string): unknown {
	return copy(value, { what, levels: 0, size: { values: 0, characters: 0 } });
}

interface Walk {
	/** Where we are, for the error. */
	what: string;
	levels: number;
	/** Totals of the whole value so far. */
	size: { values: number; characters: number };
}

function copy(value: unknown, walk: Walk): unknown {
	const { what, levels, size } = walk;
	if (levels > MAX_LEVELS) throw new Error(`${clip(what)} is nested too deeply or contains itself`);
	count(walk, typeof value === "string" ? value.length : 0);
	if (value === null || typeof value === "string" || typeof value === "boolean") return value;
	if (typeof value === "number" && Number.isFinite(value)) return value;
	if (typeof value !== "object") throw new Error(`${clip(what)} is not JSON`);
	const inside = (key: string | number): Walk => ({ what: `${what}.${key}`, levels: levels + 1, size });
	if (Array.isArray(value)) {
		const { length } = value;
		const items: unknown[] = [];
		for (let index = 0; index < length; index++) items.push(copy(value[index], inside(index)));
		return items;
	}
	const entries: [string, unknown][] = [];
	for (const key of Object.keys(value)) {
		const inner: unknown = value[key as keyof typeof value];
		count(walk, key.length);
		if (inner !== undefined) entries.push([key, copy(inner, inside(clip(key)))]);
	}
	return Object.fromEntries(entries); // unlike an assignment, safe for a key like `__proto__`
}

function count({ size }: Walk, characters: number): void {
	size.values++;
	size.characters += characters;
	if (size.values > MAX_VALUES || size.characters > MAX_CHARACTERS) throw new Error("it is too large");
}

function clip(text: string): string {
	return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
