import fc from "fast-check";
import { expect, test } from "vitest";
import { sanitize, sanitizeBlock } from "../src/index.ts";
import { hostileText, UNCLEAN } from "./fixtures/arbitraries.ts";

test.each([
	["plain text stays", "Reading src/auth.ts", "Reading src/auth.ts"],
	["empty", "", ""],
	["only spacing", " \t\r\n\u00a0 ", ""],
	["spacing collapses", "  a\t\tb \n\n c\r\nd\ve\ff  ", "a b c d e f"],
	["removed characters leave no double space", "a \x00 \x1b[0m b", "a b"],
	["colours", "\x1b[1;31mred\x1b[0m text", "red text"],
	["cursor movement and private modes", "a\x1b[2J\x1b[?25l\x1b[3;4Hb", "ab"],
	["8-bit CSI", "\x9b31mred\x9b0m", "red"],
	["CSI with intermediate bytes", "\x1b[0 qblock", "block"],
	["title set, ended by BEL", "\x1b]0;title\x07text", "text"],
	["title set, ended by ST", "\x1b]0;title\x1b\\text", "text"],
	["title set, all 8-bit", "\x9d0;title\x9ctext", "text"],
	["hyperlink keeps its label", "\x1b]8;;https://example.com\x1b\\label\x1b]8;;\x1b\\", "label"],
	["DCS", "a\x1bPq#0;2\x1b\\b", "ab"],
	["SOS, PM, APC", "a\x1bXx\x1b\\b\x1b^y\x1b\\c\x1b_z\x1b\\d", "abcd"],
	["8-bit DCS, SOS, PM, APC", "a\x90w\x9cb\x98x\x9cc\x9ey\x9cd\x9fz\x9ce", "abcde"],
	["APC ended by BEL, pi's cursor marker", "a\x1b_pi:c\x07b", "ab"],
	["character set", "\x1b(B\x1b[mtext", "text"],
	["unterminated OSC loses only its introducer", "a\x1b]honest text", "ahonest text"],
	["unterminated OSC does not reach into the next line", "\x1b]honest\ntext\x07!", "honest text!"],
	["unterminated OSC before a sequence", "\x1b]honest \x1b[31mtext\x07", "honest text"],
	["unterminated CSI", "a\x1b[12;\nb", "a12; b"],
	["unterminated 8-bit CSI", "a\x9b1\x9b", "a1"],
	["unterminated DCS, 8-bit OSC", "\x1bPtext \x9dmore", "text more"],
	["stray ST", "a\x1b\\b\x9cc", "abc"],
	["other escapes lose only ESC", "\x1bhello \x1b", "hello"],
	["C0, DEL, C1", "a\x00\x01\x08\x1f\x7f\x80\x9ab", "ab"],
	["NEL separates", "a\x85b", "a b"],
	["line and paragraph separators", "a\u2028b\u2029c", "a b c"],
	["bidirectional controls", "\u061ca\u200e\u200fb\u202a\u202ec\u2066\u2069d", "abcd"],
	["annotation, BOM", "\ufeffa\ufff9b\ufffa\ufffbc", "abc"],
	["tag characters", "a\u{e0001}\u{e0041}\u{e007f}b", "ab"],
	["lone surrogates", "a\ud83db\ude00c\ud83d", "a\ufffdb\ufffdc\ufffd"],
	["a removed character joins no surrogates", "\ud83d\x00\ude00 \ud83d\x1b[m\ude00", "\ufffd\ufffd \ufffd\ufffd"],
	["emoji with joiners and modifiers", "👩‍👩‍👧 👍🏽 🇩🇪", "👩‍👩‍👧 👍🏽 🇩🇪"],
	["CJK, accents, wide space", "漢字　かな e\u0301", "漢字　かな e\u0301"],
])("sanitize: %s", (_, text, expected) => {
	expect(sanitize(text)).toBe(expected);
});

test.each([
	["plain text stays", "a  b\n\n  c  \n", "a  b\n\n  c  \n"],
	["line ends become LF", "a\r\nb\rc\n\rd\r", "a\nb\nc\n\nd\n"],
	["tabs become spaces", "\ta\tb", "    a    b"],
	["other spacing becomes a space", "a\vb\fc\x85d\u2028e", "a b c d e"],
	["sequences go", "\x1b[31mred\x1b[0m\n\x1b]0;t\x07text", "red\ntext"],
	["controls and overrides go", "a\x00\u202eb\x7f", "ab"],
	["a CR before a removed character is a line end", "a\r\x00\nb", "a\n\nb"],
	["lone surrogates", "\ud83d\n\ude00", "\ufffd\n\ufffd"],
	["emoji", "👩‍👩‍👧\n", "👩‍👩‍👧\n"],
])("sanitizeBlock: %s", (_, text, expected) => {
	expect(sanitizeBlock(text)).toBe(expected);
});

test.each([undefined, null, 42, {}, ["a"], Symbol("a")])("what is not a string gives nothing: %s", (value) => {
	expect([sanitize(value as string), sanitizeBlock(value as string)]).toEqual(["", ""]);
});

test("sanitize gives one clean line, whatever the input", () => {
	fc.assert(
		fc.property(hostileText, (text) => {
			const clean = sanitize(text);
			expect(clean).not.toMatch(UNCLEAN);
			expect(clean).not.toMatch(/ {2}|^\s|\s$/);
			expect(sanitize(clean)).toBe(clean);
		}),
		{ numRuns: 2_000 },
	);
});

test("sanitizeBlock leaves LF as the only control, whatever comes", () => {
	fc.assert(
		fc.property(hostileText, (text) => {
			const clean = sanitizeBlock(text);
			expect(clean.replaceAll("\n", "")).not.toMatch(UNCLEAN);
			expect(sanitizeBlock(clean)).toBe(clean);
		}),
		{ numRuns: 2_000 },
	);
});

test("printable ASCII without double spaces comes through unchanged", () => {
	const word = fc.string({ unit: "grapheme-ascii", minLength: 1 }).map((text) => text.replaceAll(" ", "_"));
	fc.assert(
		fc.property(fc.array(word), (words) => {
			const text = words.join(" ");
			expect([sanitize(text), sanitizeBlock(text)]).toEqual([text, text]);
		}),
	);
});

test.each(["\x1b]", "\x1b[", "\x9d", "\x1bPa", "\x1b[1", "\x1b]a\n", "\x1b]a\x1b", " \x00", "\ud83d", "\r"])(
	"a megabyte of %j takes linear time",
	(piece) => {
		const text = piece.repeat(1_000_000 / piece.length);
		// A quadratic pass would take minutes, and the test would time out.
		expect(sanitize(text)).not.toMatch(UNCLEAN);
		expect(sanitizeBlock(text).replaceAll("\n", "")).not.toMatch(UNCLEAN);
	},
);
