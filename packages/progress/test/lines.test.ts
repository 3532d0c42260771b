import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineSplitter } from "../src/index.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function split(chunks: Uint8Array[], maxBytes?: number) {
	const lines: string[] = [];
	const skipped: number[] = [];
	const splitter = createLineSplitter({
		...(maxBytes === undefined ? {} : { maxBytes }),
		onLine: (text) => lines.push(text),
		onSkipped: (bytes) => skipped.push(bytes),
	});
	for (const chunk of chunks) {
		splitter.push(chunk);
		chunk.fill(0x2a); // the caller may reuse its buffer
	}
	splitter.end();
	splitter.end();
	return { lines, skipped };
}

test.each([
	["nothing", [], []],
	["a line without its end", ["a"], ["a"]],
	["LF and CRLF", ["a\nb\r\nc\n"], ["a", "b", "c"]],
	["empty lines", ["\n\r\n\n"], ["", "", ""]],
	["a CR inside a line, and at the very end", ["a\rb\nc\r"], ["a\rb", "c\r"]],
	["CR and LF in different pieces", ["a\r", "\nb"], ["a", "b"]],
	["no split on Unicode separators", ["a\u2028b\u2029c\x85d\n"], ["a\u2028b\u2029c\x85d"]],
	["a line over many pieces", ["a", "", "b", "c\nd", "e"], ["abc", "de"]],
	["a BOM at the start", ["\ufeff{}\n"], ["{}"]],
])("splits %s", (_, chunks, expected) => {
	expect(split(chunks.map(encode))).toEqual({ lines: expected, skipped: [] });
});

test("a character cut in two is whole again; broken bytes read as replacement characters", () => {
	const [first = 0, ...rest] = encode("é\n");
	expect(split([Uint8Array.of(first), Uint8Array.from(rest)])).toEqual({ lines: ["é"], skipped: [] });
	expect(split([Uint8Array.of(0x61, 0xff, 0xc3, 0x0a, 0x62)])).toEqual({ lines: ["a\ufffd\ufffd", "b"], skipped: [] });
});

test.each([
	["just fits", ["abcd\n"], ["abcd"], []],
	["just fits before CRLF", ["abcd\r\n"], ["abcd"], []],
	["just fits before CRLF, in pieces", ["ab", "cd", "\r", "\n"], ["abcd"], []],
	["one byte too long", ["abcde\nok\n"], ["ok"], [5]],
	["one byte too long, in pieces", ["abcd", "e", "\nok\n"], ["ok"], [5]],
	["one byte too long, at the end", ["ok\nabc", "de"], ["ok"], [5]],
	["far too long", ["ab", "cdefgh", "ijkl", "mn\nok"], ["ok"], [14]],
])("a line that %s", (_, chunks, lines, skipped) => {
	expect(split(chunks.map(encode), 4)).toEqual({ lines, skipped });
});

test("any bytes in any pieces give the same lines as splitting them at once", () => {
	const bytes = fc.array(fc.oneof(fc.constantFrom(0x0a, 0x0d, 0x61, 0xe2, 0x80, 0xa8), fc.nat(255)), {
		maxLength: 200,
	});
	fc.assert(
		fc.property(bytes, fc.array(fc.nat(200)), fc.integer({ min: 0, max: 20 }), (all, cuts, maxBytes) => {
			const places = [0, ...cuts.filter((cut) => cut < all.length).sort((a, b) => a - b), all.length];
			const chunks = places.slice(1).map((end, index) => Uint8Array.from(all.slice(places[index], end)));
			expect(split(chunks, maxBytes)).toEqual(reference(all, maxBytes));
		}),
		{ numRuns: 1_000 },
	);
});

function reference(bytes: number[], maxBytes: number) {
	const result = { lines: [] as string[], skipped: [] as number[] };
	const lines: number[][] = [[]];
	for (const byte of bytes) {
		if (byte === 0x0a) lines.push([]);
		else lines.at(-1)?.push(byte);
	}
	for (const [index, line] of lines.entries()) {
		const isLast = index === lines.length - 1;
		if (isLast && line.length === 0) continue;
		const text = !isLast && line.at(-1) === 0x0d ? line.slice(0, -1) : line;
		if (text.length <= maxBytes) result.lines.push(new TextDecoder().decode(Uint8Array.from(text)));
		else result.skipped.push(line.length);
	}
	return result;
}

test("millions of one-byte pieces take linear time and no memory beyond one line", () => {
	let skipped = 0;
	const splitter = createLineSplitter({
		maxBytes: 1_000_000,
		onLine: () => {},
		onSkipped: (bytes) => (skipped = bytes),
	});
	const piece = encode("x");
	for (let count = 0; count < 3_000_000; count++) splitter.push(piece);
	splitter.end();
	expect(skipped).toBe(3_000_000);
});
