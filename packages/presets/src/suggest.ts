/** Finds the word that a typo was probably meant to be. Work is bounded: long words are not compared. */

/** `: did you mean "x"?` or nothing. */
export function didYouMean(word: string, known: Iterable<string>): string {
	const nearest = closest(word, known);
	return nearest === undefined ? "" : `: did you mean "${nearest}"?`;
}

/** The known word within two edits (one for short words), if there is one. */
export function closest(word: string, known: Iterable<string>): string | undefined {
	if (word.length > 40) return undefined;
	const wanted = word.toLowerCase();
	let best: string | undefined;
	let bestDistance = wanted.length < 5 ? 2 : 3; // one above what is accepted
	for (const candidate of known) {
		if (Math.abs(candidate.length - wanted.length) >= bestDistance) continue;
		const distance = edits(wanted, candidate.toLowerCase());
		if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
	}
	return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
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
