/** What a terminal sends for a key, in the classic encoding that every pi understands. */

const NAMED = {
	enter: "\r",
	escape: "\x1b",
	tab: "\t",
	"shift+tab": "\x1b[Z",
	backspace: "\x7f",
	delete: "\x1b[3~",
	space: " ",
	up: "\x1b[A",
	down: "\x1b[B",
	right: "\x1b[C",
	left: "\x1b[D",
	home: "\x1b[H",
	end: "\x1b[F",
	pageup: "\x1b[5~",
	pagedown: "\x1b[6~",
	"alt+enter": "\x1b\r",
	"alt+up": "\x1b[1;3A",
	"alt+down": "\x1b[1;3B",
} as const;

type NamedKey = keyof typeof NAMED;

/** A named key, or a letter with ctrl or alt. */
export type Key = NamedKey | `ctrl+${string}` | `alt+${string}`;

export function bytesOf(key: Key): string {
	if (key in NAMED) return NAMED[key as NamedKey];
	const [modifier, letter = ""] = key.split("+");
	if (!/^[a-z]$/.test(letter)) throw new Error(`Unknown key ${key}`);
	return modifier === "alt" ? `\x1b${letter}` : String.fromCharCode(letter.charCodeAt(0) & 0x1f);
}
