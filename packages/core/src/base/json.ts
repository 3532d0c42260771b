/** Text from a file, a child or another machine as JSON. Pure. */

/** Deeper than any tool's arguments. Much deeper JSON takes seconds to parse and later overflows the stack. */
const MAX_DEPTH = 500;

/** Undefined if it is not JSON, or nested too deeply. */
export function parseJson(text: string): unknown {
	if (isTooDeep(text)) return undefined;
	try {
		return JSON.parse(text);
	} catch (error) {
		if (error instanceof SyntaxError) return undefined; // truncated, or not ours
		throw error;
	}
}

function isTooDeep(text: string): boolean {
	let depth = 0;
	for (let at = 0; at < text.length; at++) {
		const character = text[at];
		if (character === '"') at = endOfString(text, at);
		else if (character === "{" || character === "[") depth++;
		else if (character === "}" || character === "]") depth--;
		if (depth > MAX_DEPTH) return true;
	}
	return false;
}

/** The index of the closing quote; the end of the text if there is none. */
function endOfString(text: string, start: number): number {
	for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
		let escapes = 0;
		while (text[at - 1 - escapes] === "\\") escapes++;
		if (escapes % 2 === 0) return at;
	}
	return text.length;
}
