/**
 * Tells whether text can be given to pi's Markdown parser without stopping the screen. The time that takes grows with
 * the square of the marks in a paragraph and with the depth of nesting, and a model may write, or repeat, anything.
 */

const MOST_CHARACTERS = 32 * 1024;
/** The sum of the squares of how many marks each paragraph has. About a tenth of a second. */
const MOST_WORK = 250_000;

export function isTame(text: string): boolean {
	if (text.length > MOST_CHARACTERS) return false;
	let work = 0;
	let marks = 0;
	let fence = "";
	for (const line of text.split("\n")) {
		const ticks = FENCE.exec(line)?.[1] ?? "";
		if (fence === "" && ticks === "") {
			if (NESTED.test(line)) return false;
			if (BEGINNING.test(line)) {
				work += marks ** 2;
				marks = 0;
			}
			marks += line.match(MARK)?.length ?? 0;
		} else if (fence === "") fence = ticks;
		else if (ticks.startsWith(fence)) fence = ""; // what was between them is code, and not parsed
	}
	return work + marks ** 2 <= MOST_WORK;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** A blank line, an item of a list, a row of a table: each is parsed by itself. */
const BEGINNING = /^\s*(?:$|\||[-*+] |\d+[.)] )/;
const NESTED = /^(?: {40,}(?:[-*+>]|\d+[.)])|[> ]{80}|(?:[-*+] ){40})/;
const MARK = /[*_~[]/g;
