/**
 * Replaces secrets in texts, however they are written there: as they are, split over lines, in URLs, in JSON, in hex, or
 * inside Base64, such as `user:key` of HTTP's basic authentication. Pure, and linear in the length of the text: all
 * spellings of all secrets are searched for at once (Aho and Corasick, 1975), over the bytes of the text without its
 * white space, and again with its escapes decoded.
 */

const MASK = "[masked]";

/** Shorter values occur in ordinary text, too. */
const SHORTEST_SECRET = 8;
/** A line of a longer secret that is masked alone: people quote keys line by line. */
const SHORTEST_LINE = 16;
/** The beginning of a secret is masked where a text was cut, if it is at least this long. */
const SHORTEST_BEGINNING = 12;
/** A URL inside JSON inside a URL: deeper, what is escaped is not found. */
const MAX_LAYERS = 4;

/** The mask for these secrets. The same secrets give the same mask, which is kept. */
export function maskOf(secrets: readonly string[]): (text: string) => string {
	if (last && isSame(last.secrets, secrets)) return last.mask;
	last = { secrets: [...secrets], mask: createMask(secrets) };
	return last.mask;
}

let last: { secrets: readonly string[]; mask: (text: string) => string } | undefined;

function isSame(one: readonly string[], other: readonly string[]): boolean {
	return one.length === other.length && one.every((each, index) => each === other[index]);
}

function createMask(secrets: readonly string[]): (text: string) => string {
	const patterns = secrets.flatMap(spellings);
	if (patterns.length === 0) return (text) => text;
	const finder = new Finder(patterns);
	return (text) => {
		if (text.length < SHORTEST_SECRET) return text;
		// A report has thousands of short texts, and nearly all of them hold nothing: these take the short way.
		if (!ESCAPES.test(text) && !finder.finds(encoded(text))) return text;
		const bytes = ENCODER.encode(text);
		const found = rangesIn(bytes, finder);
		return found.length === 0 ? text : withoutRanges(bytes, found);
	};
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
const ESCAPES = /[%\\&]/;
const scratch = new Uint8Array(64 * 1024);

/** Valid until the next call. */
function encoded(text: string): Uint8Array {
	if (text.length * 3 > scratch.length) return ENCODER.encode(text);
	return scratch.subarray(0, ENCODER.encodeInto(text, scratch).written);
}

/** A part of a text, as bytes. */
interface Range {
	start: number;
	end: number;
}

function withoutRanges(bytes: Uint8Array, ranges: Range[]): string {
	const pieces: string[] = [];
	let at = 0;
	for (const { start, end } of ranges.sort((a, b) => a.start - b.start)) {
		if (start > at || pieces.length === 0) pieces.push(DECODER.decode(bytes.subarray(at, start)), MASK);
		at = Math.max(at, end);
	}
	return `${pieces.join("")}${DECODER.decode(bytes.subarray(at))}`;
}

// What to look for

interface Pattern {
	bytes: Uint8Array;
	/** Its neighbours belong to it: they share a few bits with the secret. */
	isBase64: boolean;
	/** Its beginning alone says nothing: that of a path is the path of something else. */
	isPath: boolean;
}

function spellings(value: string): Pattern[] {
	const whole = value.toWellFormed().trim();
	if (whole.length < SHORTEST_SECRET) return [];
	const isPath = /^(?:[/~]|\.{1,2}\/|[A-Za-z]:[\\/])|^\w+:\/\//.test(whole);
	const raw = ENCODER.encode(whole);
	const hex = Array.from(raw, (byte) => byte.toString(16).padStart(2, "0")).join("");
	const lines = /[\r\n]/.test(whole) ? whole.split(/[\r\n]+/).map((line) => line.trim()) : [];
	const texts = [
		whole,
		...lines.filter((line) => line.length >= SHORTEST_LINE),
		...(whole.includes(" ") ? [whole.replaceAll(" ", "+")] : []), // as forms write it
		hex,
		hex.toUpperCase(),
	];
	const plain = texts.map((text) => ({ bytes: withoutSpace(ENCODER.encode(text)), isBase64: false, isPath }));
	return [...plain, ...base64Of(raw)].filter(({ bytes }) => bytes.length >= SHORTEST_SECRET);
}

/**
 * Base64 writes three bytes as four characters, so what a secret looks like depends on how many bytes are before it.
 * Without the characters at both ends that also depend on what is beside it.
 */
function base64Of(raw: Uint8Array): Pattern[] {
	return [0, 1, 2].flatMap((before) => {
		const padded = new Uint8Array(before + raw.length);
		padded.set(raw, before);
		const sure = { from: Math.ceil((before * 8) / 6), to: Math.floor((padded.length * 8) / 6) };
		const standard = base64(padded).slice(sure.from, sure.to);
		const url = standard.replaceAll("+", "-").replaceAll("/", "_");
		const texts = url === standard ? [standard] : [standard, url];
		return texts.map((text) => ({ bytes: ENCODER.encode(text), isBase64: true, isPath: false }));
	});
}

function base64(bytes: Uint8Array): string {
	let text = "";
	for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
	return btoa(text);
}

/** More arguments could be too many for a call. */
const CHUNK = 8 * 1024;

function withoutSpace(bytes: Uint8Array): Uint8Array {
	return bytes.filter((byte) => !isSpace(byte));
}

function isSpace(byte: number): boolean {
	return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

// Where to look

/** The bytes that count, and where in the text each comes from. */
interface View {
	bytes: Uint8Array;
	starts: Uint32Array;
	ends: Uint32Array;
	length: number;
}

function rangesIn(bytes: Uint8Array, finder: Finder): Range[] {
	const ranges: Range[] = [];
	let view: View | undefined = spaceless(bytes);
	for (let layer = 0; view && layer < MAX_LAYERS; layer++) {
		finder.search(view, bytes, ranges);
		view = decoded(view);
	}
	return ranges;
}

/** Without white space, and without the backslash that continues a line. */
function spaceless(bytes: Uint8Array): View {
	const view = emptyView(bytes.length);
	for (let at = 0; at < bytes.length; at++) {
		const byte = bytes[at] ?? 0;
		const continues = byte === BACKSLASH && (bytes[at + 1] === LF || (bytes[at + 1] === CR && bytes[at + 2] === LF));
		if (!continues && !isSpace(byte)) put(view, byte, at, at + 1);
	}
	return view;
}

function emptyView(size: number): View {
	return { bytes: new Uint8Array(size), starts: new Uint32Array(size), ends: new Uint32Array(size), length: 0 };
}

function put(view: View, byte: number, start: number, end: number): void {
	view.bytes[view.length] = byte;
	view.starts[view.length] = start;
	view.ends[view.length] = end;
	view.length++;
}

const [LF, CR, BACKSLASH, PERCENT, AMPERSAND] = [0x0a, 0x0d, 0x5c, 0x25, 0x26];

/** With one layer of escapes decoded; undefined if there are none. Never longer. */
function decoded(view: View): View | undefined {
	if (!hasEscapes(view)) return undefined;
	const out = emptyView(view.length);
	let isChanged = false;
	for (let at = 0; at < view.length; ) {
		const found = escapeAt(view, at);
		const length = found?.length ?? 1;
		const start = view.starts[at] ?? 0;
		const end = view.ends[at + length - 1] ?? start;
		if (found) {
			isChanged = true;
			for (const byte of found.bytes) if (!isSpace(byte)) put(out, byte, start, end);
		} else put(out, view.bytes[at] ?? 0, start, end);
		at += length;
	}
	return isChanged ? out : undefined;
}

function hasEscapes({ bytes, length }: View): boolean {
	const used = bytes.subarray(0, length);
	return [BACKSLASH, PERCENT, AMPERSAND].some((byte) => used.includes(byte));
}

interface Escape {
	bytes: readonly number[] | Uint8Array;
	/** How many bytes it takes, never fewer than it stands for. */
	length: number;
}

function escapeAt(view: View, at: number): Escape | undefined {
	switch (view.bytes[at]) {
		case PERCENT: {
			const byte = hexAt(view, at + 1, 2);
			return byte === undefined ? undefined : { bytes: [byte], length: 3 };
		}
		case BACKSLASH:
			return backslashAt(view, at);
		case AMPERSAND:
			return entityAt(view, at);
		default:
			return undefined;
	}
}

const SHORT_ESCAPES: Readonly<Record<string, number>> = { n: LF, r: CR, t: 0x09, b: 0x08, f: 0x0c, v: 0x0b };

/** As in JSON, JavaScript and shells. An unknown one stands for its character. */
function backslashAt(view: View, at: number): Escape | undefined {
	if (at + 1 >= view.length) return undefined;
	const next = String.fromCharCode(view.bytes[at + 1] ?? 0);
	const digits = next === "u" ? 4 : next === "x" ? 2 : 0;
	const code = digits === 0 ? undefined : hexAt(view, at + 2, digits);
	if (code === undefined) return { bytes: [SHORT_ESCAPES[next] ?? view.bytes[at + 1] ?? 0], length: 2 };
	const isFirst = code >= 0xd800 && code < 0xdc00 && view.bytes[at + 6] === BACKSLASH && view.bytes[at + 7] === 0x75;
	const second = isFirst ? hexAt(view, at + 8, 4) : undefined;
	const text = second === undefined ? String.fromCharCode(code) : String.fromCharCode(code, second);
	return { bytes: ENCODER.encode(text), length: second === undefined ? 2 + digits : 12 };
}

const ENTITIES: readonly [string, number][] = [
	["&amp;", AMPERSAND],
	["&lt;", 0x3c],
	["&gt;", 0x3e],
	["&quot;", 0x22],
	["&apos;", 0x27],
	["&#39;", 0x27],
	["&#34;", 0x22],
	["&#x27;", 0x27],
	["&#x2F;", 0x2f],
	["&#x3D;", 0x3d],
];

function entityAt({ bytes, length }: View, at: number): Escape | undefined {
	const text = String.fromCharCode(...bytes.subarray(at, Math.min(length, at + 6)));
	const found = ENTITIES.find(([name]) => text.startsWith(name));
	return found && { bytes: [found[1]], length: found[0].length };
}

function hexAt({ bytes, length }: View, at: number, digits: number): number | undefined {
	if (at + digits > length) return undefined;
	let value = 0;
	for (let index = at; index < at + digits; index++) {
		const digit = digitOf(bytes[index] ?? 0);
		if (digit === undefined) return undefined;
		value = value * 16 + digit;
	}
	return value;
}

function digitOf(byte: number): number | undefined {
	if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
	const letter = byte | 0x20;
	return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : undefined;
}

// How to look

/** "…" as bytes: where a text was cut. */
const ELLIPSIS = [0xe2, 0x80, 0xa6] as const;

/**
 * A state is the longest beginning of a pattern that the bytes so far end with. State 0 is none. Transitions are in one
 * hash table, so that a secret of many kilobytes takes a few megabytes.
 */
class Finder {
	readonly #keys: Int32Array | Float64Array;
	readonly #values: Int32Array;
	readonly #mask: number;
	/** The transitions of state 0, where ordinary text is most of the time. */
	readonly #first = new Int32Array(256);
	/** Where to continue when no transition fits. */
	readonly #fail: Int32Array;
	/** The length of the longest pattern that ends here; negative in Base64. */
	readonly #found: Int32Array;
	/** The length of the beginning of a secret that may be masked alone. */
	readonly #beginning: Int32Array;

	constructor(patterns: readonly Pattern[]) {
		const most = patterns.reduce((sum, { bytes }) => sum + bytes.length, 1);
		const slots = 2 ** Math.ceil(Math.log2(most * 2 + 16));
		this.#keys = (most < 2 ** 23 ? new Int32Array(slots) : new Float64Array(slots)).fill(-1);
		this.#values = new Int32Array(slots);
		this.#mask = slots - 1;
		this.#fail = new Int32Array(most);
		this.#found = new Int32Array(most);
		this.#beginning = new Int32Array(most);
		const [parents, labels, depths] = [new Int32Array(most), new Uint8Array(most), new Int32Array(most)];
		let count = 1;
		for (const { bytes, isBase64, isPath } of patterns) {
			let state = 0;
			for (const byte of bytes) {
				let next = this.#go(state, byte);
				if (next === 0) {
					next = count++;
					this.#lead(state, byte, next);
					parents[next] = state;
					labels[next] = byte;
					depths[next] = (depths[state] ?? 0) + 1;
				}
				state = next;
				if (!isPath) this.#beginning[state] = depths[state] ?? 0;
			}
			this.#found[state] = isBase64 ? -bytes.length : bytes.length;
		}
		this.#connect({ parents, labels, depths, count });
	}

	/** Shorter beginnings first: a state's own depends on theirs. */
	#connect({ parents, labels, depths, count }: Built): void {
		for (const state of byDepth(depths, count)) {
			if (state === 0) continue;
			const parent = parents[state] ?? 0;
			const fail = parent === 0 ? 0 : this.#step(this.#fail[parent] ?? 0, labels[state] ?? 0);
			this.#fail[state] = fail;
			if (this.#found[state] === 0) this.#found[state] = this.#found[fail] ?? 0;
			if (this.#beginning[state] === 0) this.#beginning[state] = this.#beginning[fail] ?? 0;
		}
	}

	/** Whether a text without escapes has a secret, or ends with the beginning of one. */
	finds(bytes: Uint8Array): boolean {
		let state = 0;
		for (let at = 0; at < bytes.length; at++) {
			const byte = bytes[at] ?? 0;
			if (isSpace(byte)) continue;
			if (byte === ELLIPSIS[0] && this.#isBeginning(state)) return true;
			state = this.#step(state, byte);
			if (this.#found[state] !== 0) return true;
		}
		return this.#isBeginning(state);
	}

	/** Adds where the text has a secret. `text`: the bytes that the view is of. */
	search(view: View, text: Uint8Array, ranges: Range[]): void {
		const { bytes, starts, ends, length } = view;
		let state = 0;
		for (let at = 0; at < length; at++) {
			const byte = bytes[at] ?? 0;
			if (byte === ELLIPSIS[0] && bytes[at + 1] === ELLIPSIS[1] && bytes[at + 2] === ELLIPSIS[2])
				this.#maskBeginning(state, view, at, ranges);
			state = this.#step(state, byte);
			const found = this.#found[state] ?? 0;
			if (found === 0) continue;
			const range = { start: starts[at - Math.abs(found) + 1] ?? 0, end: ends[at] ?? 0 };
			add(ranges, found < 0 ? widened(range, text) : range);
		}
		this.#maskBeginning(state, view, length, ranges);
	}

	/** The text was cut at this place of the view. */
	#maskBeginning(state: number, { starts, ends }: View, at: number, ranges: Range[]): void {
		const length = this.#beginning[state] ?? 0;
		if (this.#isBeginning(state)) add(ranges, { start: starts[at - length] ?? 0, end: ends[at - 1] ?? 0 });
	}

	#isBeginning(state: number): boolean {
		return (this.#beginning[state] ?? 0) >= SHORTEST_BEGINNING;
	}

	#step(from: number, byte: number): number {
		for (let state = from; state !== 0; state = this.#fail[state] ?? 0) {
			const next = this.#go(state, byte);
			if (next !== 0) return next;
		}
		return this.#first[byte] ?? 0;
	}

	/** 0 if there is no transition. */
	#go(state: number, byte: number): number {
		const key = state * 256 + byte;
		for (let slot = hashOf(key) & this.#mask; ; slot = (slot + 1) & this.#mask) {
			const found = this.#keys[slot];
			if (found === key) return this.#values[slot] ?? 0;
			if (found === -1) return 0;
		}
	}

	#lead(state: number, byte: number, next: number): void {
		if (state === 0) this.#first[byte] = next;
		const key = state * 256 + byte;
		let slot = hashOf(key) & this.#mask;
		while (this.#keys[slot] !== -1) slot = (slot + 1) & this.#mask;
		this.#keys[slot] = key;
		this.#values[slot] = next;
	}
}

interface Built {
	parents: Int32Array;
	labels: Uint8Array;
	depths: Int32Array;
	count: number;
}

/** All states, those with shorter beginnings first. */
function byDepth(depths: Int32Array, count: number): Uint32Array {
	const used = depths.subarray(0, count);
	const starts = new Uint32Array(used.reduce((most, depth) => Math.max(most, depth), 0) + 2);
	for (const depth of used) starts[depth + 1] = (starts[depth + 1] ?? 0) + 1;
	for (let depth = 1; depth < starts.length; depth++) starts[depth] = (starts[depth] ?? 0) + (starts[depth - 1] ?? 0);
	const order = new Uint32Array(count);
	for (const [state, depth] of used.entries()) {
		const place = starts[depth] ?? 0;
		order[place] = state;
		starts[depth] = place + 1;
	}
	return order;
}

function hashOf(key: number): number {
	const mixed = Math.imul(key ^ (key >>> 15), 0x2c1b3c6d);
	return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** One that continues the last is joined with it: a repeated secret must not take a range per byte. */
function add(ranges: Range[], range: Range): void {
	const before = ranges.at(-1);
	if (before && range.start >= before.start && range.start <= before.end) before.end = Math.max(before.end, range.end);
	else ranges.push(range);
}

/** With the characters of Base64 on both sides that have bits of the secret, and the padding. */
function widened({ start, end }: Range, text: Uint8Array): Range {
	const from = isBase64(text[start - 1]) ? start - 1 : start;
	let to = isBase64(text[end]) ? end + 1 : end;
	while (text[to] === 0x3d) to++;
	return { start: from, end: to };
}

function isBase64(byte: number | undefined): boolean {
	return byte !== undefined && /[A-Za-z0-9+/_-]/.test(String.fromCharCode(byte));
}
