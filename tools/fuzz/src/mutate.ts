/** Inputs that are almost right: valid examples, changed in a few places. As arbitraries, so that a failure shrinks. */
import fc from "fast-check";

/** Texts that have fooled parsers: control sequences, names of prototypes, ways out of a directory, broken characters. */
const HOSTILE = [
	"",
	" ",
	"\u0000",
	"\u001b[31m\u001b]0;x\u0007",
	"\u009b31m",
	"\u202eabc\u2066",
	"\ud800",
	"\ufeff",
	"\r",
	"\r\n",
	"\u2028",
	"__proto__",
	"constructor",
	"toString",
	"../../../etc/passwd",
	"/etc/passwd",
	"..\\..\\x",
	"C:\\x",
	"~/x",
	".git/config",
	"-rf",
	"--upload-pack=x",
	"$(id)",
	"*",
	"**/*",
	"null",
	"true",
	"NaN",
	"1e999",
	"-0",
	"0x10",
	"99999999999999999999",
	"{",
	"}",
	"[",
	"]]]]",
	'"',
	"\\",
	"---\n",
	"- - - -",
	"&a [*a]",
	"/**/",
	["`$", "{x}`"].join(""),
	"a".repeat(300),
	"x".repeat(20_000),
	"[".repeat(2_000),
	'{"a":'.repeat(700),
] as const;

export const hostileText: fc.Arbitrary<string> = fc.oneof(
	fc.constantFrom<string>(...HOSTILE),
	fc.string({ maxLength: 12, unit: "binary" }),
	fc.tuple(fc.constantFrom<string>(...HOSTILE), fc.string({ maxLength: 6 })).map((parts) => parts.join("")),
);

const hostileNumber = fc.oneof(
	fc.constantFrom(0, -0, -1, 1, 0.5, 1e-9, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 100_001),
	fc.double({ noNaN: true, noDefaultInfinity: true }),
	fc.integer(),
);

/** What can stand in JSON. */
const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
	{ weight: 3, arbitrary: hostileText },
	{ weight: 3, arbitrary: hostileNumber },
	fc.constantFrom<unknown>(null, true, false, [], {}, [[[[]]]], nested(600)),
	fc.jsonValue({ maxDepth: 2 }),
	fc.array(hostileText, { maxLength: 4 }),
	fc.dictionary(hostileText, fc.oneof(hostileText, hostileNumber), { maxKeys: 4 }),
);

function nested(depth: number): unknown {
	let value: unknown = {};
	for (let at = 0; at < depth; at++) value = [value];
	return value;
}

interface Change {
	/** From 0 to 1: which of the places. */
	at: number;
	how: "replace" | "delete" | "rename" | "add" | "repeat" | "wrap";
	key: string;
	value: unknown;
}

const change: fc.Arbitrary<Change> = fc.record({
	at: fc.double({ min: 0, max: 1, noNaN: true }),
	how: fc.constantFrom("replace", "replace", "replace", "delete", "rename", "add", "repeat", "wrap"),
	key: hostileText,
	value: hostileJson,
});

/** One of the examples, in which a few values were replaced, removed, renamed, added or repeated. */
export function changedJson(examples: readonly unknown[]): fc.Arbitrary<unknown> {
	return fc
		.tuple(fc.constantFrom(...examples), fc.array(change, { maxLength: 3 }))
		.map(([example, changes]) => changes.reduce(applied, structuredClone(example)));
}

type Holder = Record<string, unknown> | unknown[];

function applied(root: unknown, { at, how, key, value: given }: Change): unknown {
	const value = structuredClone(given); // a later change may reach into it, and it may be used again
	const places = placesIn(root);
	const place = places[Math.floor(at * places.length)];
	if (!place) return how === "wrap" ? [root] : value;
	const { holder, name } = place;
	const slot = holder as Record<string, unknown>;
	if (how === "replace") set(slot, name, value);
	else if (how === "wrap") set(slot, name, [slot[name]]);
	else if (Array.isArray(holder)) {
		if (how === "delete") holder.splice(Number(name), 1);
		else holder.splice(Number(name), 0, how === "repeat" ? slot[name] : value);
	} else {
		const old = slot[name];
		if (how === "delete" || how === "rename") delete slot[name];
		if (how === "rename") set(slot, key, old);
		if (how === "add" || how === "repeat") set(slot, key, how === "add" ? value : old);
	}
	return root;
}

/** Also a key that is called `__proto__`, as JSON.parse does it. */
function set(slot: Record<string, unknown>, name: string, value: unknown): void {
	Object.defineProperty(slot, name, { value, enumerable: true, configurable: true, writable: true });
}

function placesIn(root: unknown): { holder: Holder; name: string }[] {
	const found: { holder: Holder; name: string }[] = [];
	const open: unknown[] = [root];
	for (let value = open.pop(); open.length > 0 || value !== undefined; value = open.pop()) {
		if (typeof value !== "object" || value === null) continue;
		for (const name of Object.keys(value)) {
			found.push({ holder: value as Holder, name });
			if (found.length < 500) open.push((value as Record<string, unknown>)[name]);
		}
	}
	return found;
}

interface Edit {
	from: number;
	length: number;
	how: "insert" | "delete" | "repeat" | "cut" | "replace" | "swap lines";
	text: string;
}

const edit: fc.Arbitrary<Edit> = fc.record({
	from: fc.double({ min: 0, max: 1, noNaN: true }),
	length: fc.oneof(fc.constantFrom(1, 1, 1, 2, 5), fc.nat(200)),
	how: fc.constantFrom("insert", "insert", "replace", "replace", "delete", "repeat", "cut", "swap lines"),
	text: hostileText,
});

/** One of the examples, in which a few pieces of the text were changed. */
export function changedText(examples: readonly string[]): fc.Arbitrary<string> {
	return fc
		.tuple(fc.constantFrom(...examples), fc.array(edit, { maxLength: 4 }))
		.map(([example, edits]) => edits.reduce(edited, example));
}

function edited(text: string, { from, length, how, text: more }: Edit): string {
	const at = Math.floor(from * (text.length + 1));
	const [before, piece, after] = [text.slice(0, at), text.slice(at, at + length), text.slice(at + length)];
	switch (how) {
		case "insert":
			return before + more + piece + after;
		case "replace":
			return before + more + after;
		case "delete":
			return before + after;
		case "repeat":
			return before + piece.repeat(20) + after;
		case "cut":
			return before;
		case "swap lines": {
			const lines = text.split("\n");
			const one = Math.floor(from * lines.length);
			const other = length % lines.length;
			[lines[one], lines[other]] = [lines[other] ?? "", lines[one] ?? ""];
			return lines.join("\n");
		}
	}
}

/** The bytes of a file: of a changed text, of changed JSON, or any at all. */
export function changedFile(examples: readonly string[]): fc.Arbitrary<Buffer> {
	const json = examples.flatMap((text) => (isJson(text) ? [JSON.parse(text) as unknown] : []));
	const whole = changedText(examples).map((text) => Buffer.from(text, "utf8"));
	const flipped = fc
		.tuple(whole, fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)), { maxLength: 3 }))
		.map(([bytes, flips]) => {
			for (const [at, value] of flips)
				if (bytes.length > 0) bytes[Math.min(bytes.length - 1, Math.floor(at * bytes.length))] = value;
			return bytes;
		});
	return fc.oneof(
		{ weight: 4, arbitrary: whole },
		{ weight: 2, arbitrary: flipped },
		fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
		...(json.length > 0
			? [{ weight: 4, arbitrary: changedJson(json).map((value) => Buffer.from(JSON.stringify(value) ?? "")) }]
			: []),
	);
}

function isJson(text: string): boolean {
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
}
