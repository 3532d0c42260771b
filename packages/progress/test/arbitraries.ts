/** Hostile input for the property tests. */
import fc from "fast-check";

/** Any UTF-16 units at all, lone surrogates included, rich in the characters that terminals act on. */
export const hostileText: fc.Arbitrary<string> = fc
	.array(
		fc.oneof(
			fc.constantFrom("\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b\\", "\x07", "\x9b", "\x9d", "\x9c", "\x90", "\x1b(B"),
			fc.constantFrom(" ", "  ", "\t", "\n", "\r\n", "\r", "\u2028", "\u00a0", "\u3000", "\ufeff", "\u200f", "\u202e"),
			fc.constantFrom(
				"\ud83d",
				"\ude00",
				"👍🏽",
				"👩‍👩‍👧",
				"e\u0301",
				"漢字",
				"\u{e0041}",
				"\u{10ffff}",
				"0;1",
				"{path}",
				"m",
			),
			fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
			fc.string({ unit: "binary" }),
		),
		{ maxLength: 40 },
	)
	.map((pieces) => pieces.join(""));

/** What may not be in a line for people: C0, DEL, C1, bidirectional controls, separators, BOM, tags, lone surrogates. */
export const UNCLEAN =
	/[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;
