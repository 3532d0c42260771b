/** A copy of somebody else's value that is plain JSON and of bounded size. Whatever is no JSON throws, saying where. */

/** Nobody writes so deep or so much by hand, and walking on could take forever: a proxy need not end. */
const MOST_LEVELS = 64;
const MOST_VALUES = 20_000;
const MOST_CHARACTERS = 1_000_000;

export function copyJson(value: unknown, what: string): unknown {
	return copy(value, { what, levels: 0, size: { values: 0, characters: 0 } });
}

interface Walk {
	/** Where we are, for the error. */
	what: string;
	levels: number;
	/** So far, of the whole value. */
	size: { values: number; characters: number };
}

function copy(value: unknown, walk: Walk): unknown {
	const { what, levels, size } = walk;
	if (levels > MOST_LEVELS) throw new Error(`${clip(what)} is nested too deeply, or holds itself`);
	count(walk, typeof value === "string" ? value.length : 0);
	if (value === null || typeof value === "string" || typeof value === "boolean") return value;
	if (typeof value === "number" && Number.isFinite(value)) return value;
	if (typeof value !== "object") throw new Error(`${clip(what)} is no JSON`);
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
	if (size.values > MOST_VALUES || size.characters > MOST_CHARACTERS) throw new Error("it is too large");
}

function clip(text: string): string {
	return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
