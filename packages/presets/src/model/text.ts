/**
 * Makes text from files safe to show or send: no escape sequences, no control or direction characters, bounded length.
 * Every string of this package that is shown to a person goes through here.
 */

const escapeSequence =
	/\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|[ -/]*[0-~])/g;
// Control characters, direction marks, invisible fillers, tag characters and halves of surrogate pairs.
const unprintable =
	/[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu;
const plainAscii = /^[ -~]*$/;

/** One line of printable text. */
export function oneLine(text: string): string {
	if (plainAscii.test(text) && !text.includes("  ")) return text.trim();
	return text.replace(escapeSequence, "").replace(/\s+/g, " ").replace(unprintable, "").trim();
}

/** Printable text that keeps its line breaks and tabs. */
export function block(text: string): string {
	return text
		.replace(/\r\n?/g, "\n")
		.replace(escapeSequence, "")
		.replace(unprintable, (character) => (character === "\n" || character === "\t" ? character : ""));
}

/** At most `max` UTF-16 units, the last of them an ellipsis when something was cut. */
export function cut(text: string, max: number): string {
	if (text.length <= max) return text;
	const head = text.slice(0, max - 1);
	return `${/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head}…`;
}

/** A value of a file as text. `String` would call what a mapping names `toString`, and throw. */
export function plainText(value: unknown): string {
	if (Array.isArray(value)) return value.map((item) => (typeof item === "object" ? "" : String(item))).join(",");
	return typeof value === "object" && value !== null ? "a mapping" : String(value);
}

/** A value inside a message: quoted, short, printable. */
export function quote(value: unknown): string {
	if (typeof value === "string") return `"${cut(oneLine(value), 60)}"`;
	if (value === null) return "empty";
	if (Array.isArray(value)) return "a list";
	return typeof value === "object" ? "a mapping" : cut(String(value), 60);
}

/** Removes a byte order mark and converts line ends to LF. */
export function normalizeLineEnds(text: string): string {
	const start = text.startsWith("\ufeff") ? text.slice(1) : text;
	return start.includes("\r") ? start.replaceAll("\r\n", "\n").replaceAll("\r", "\n") : start;
}

/** A prompt passes through files and arguments to a model: only text, line breaks and tabs are kept. */
export function promptText(body: string): string {
	return body.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "").trim();
}
