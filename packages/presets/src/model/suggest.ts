/** Finds the known word that a typo was probably meant to be. Long words are not compared, which bounds the work. */

/** `: did you mean "x"?`, or an empty string. */
export function didYouMean(word: string, known: Iterable<string>): string {
	const nearest = closest(word, known);
	return nearest === undefined ? "" : `: did you mean "${nearest}"?`;
}

/** The same for the middle of a sentence: ` (did you mean "x"?)`. */
export function didYouMeanInline(word: string, known: Iterable<string>): string {
	const nearest = closest(word, known);
	return nearest === undefined ? "" : ` (did you mean "${nearest}"?)`;
}

/** The closest known word within two edits, or one edit for short words. */
export function closest(word: string, known: Iterable<string>): string | undefined {
	return closestWithin(word, known, () => (word.length < 5 ? 1 : 2));
}

/**
 * The known tool that a denied name resembles, with one edit allowed per three letters. Starting an agent applies the same
 * rule, so a different rule here would announce errors that do not happen.
 */
export function resembling(word: string, known: Iterable<string>): string | undefined {
	return closestWithin(word, known, (candidate) => Math.max(1, candidate.length / 3));
}

/** The known word with the fewest edits, if they are within its tolerance. */
export function closestWithin(
	word: string,
	known: Iterable<string>,
	tolerance: (candidate: string) => number,
): string | undefined {
	if (word.length > 40) return undefined;
	let best: string | undefined;
	let bestDistance = Number.POSITIVE_INFINITY;
	for (const candidate of known) {
		const most = Math.min(tolerance(candidate), bestDistance - 1);
		if (Math.abs(candidate.length - word.length) > most) continue;
		const distance = edits(word.toLowerCase(), candidate.toLowerCase());
		if (distance <= most) [best, bestDistance] = [candidate, distance];
	}
	return best;
}

/** Edit distance: insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
function edits(a: string, b: string): number {
	let before: number[] = [];
	let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i++) {
		const current = [i];
		for (let j = 1; j <= b.length; j++) {
			const same = a[i - 1] === b[j - 1];
			let cost = Math.min(at(previous, j) + 1, at(current, j - 1) + 1, at(previous, j - 1) + (same ? 0 : 1));
			const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
			if (swapped) cost = Math.min(cost, at(before, j - 2) + 1);
			current.push(cost);
		}
		[before, previous] = [previous, current];
	}
	return at(previous, b.length);
}

function at(row: readonly number[], index: number): number {
	return row[index] ?? Number.POSITIVE_INFINITY;
}
