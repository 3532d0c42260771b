/** JSON that is safe to print: a terminal that shows it obeys nothing in it. */

/**
 * What `JSON.stringify` leaves as it is and terminals or readers obey: DEL and the 8-bit controls, such as U+009B, which
 * begins a sequence as ESC does; bidirectional controls, line separators, the byte order mark, interlinear annotation and
 * tag characters.
 */
const OBEYED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

/**
 * As `JSON.stringify`, in ASCII where it matters; parsed, it is the same value.
 *
 * @example
 * ```ts
 * safeJson({ task: "\u009b2J" }); // '{"task":"\\u009b2J"}'
 * ```
 */
export function safeJson(value: unknown, indent?: string): string {
	const json: string | undefined = JSON.stringify(value, undefined, indent);
	return (json ?? "null").replace(OBEYED, (found) => found.split("").map(escaped).join(""));
}

function escaped(unit: string): string {
	return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
