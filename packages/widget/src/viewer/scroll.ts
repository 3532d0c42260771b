/** The scroll position in a conversation. Pure arithmetic over heights, only some of which are known. */

/** The row at the top of the screen: the entry, and the row in it. */
export interface ScrollPosition {
	index: number;
	row: number;
}

/** The entry that must be loaded first. */
export interface Missing {
	missing: number;
}

export interface Extent {
	length: number;
	rows: number;
	/** The rows of an entry, at least one; undefined if it is not loaded. */
	heightOf: (index: number) => number | undefined;
}

/** The position at which the conversation ends at the bottom of the screen. */
export function endOf({ length, rows, heightOf }: Extent): ScrollPosition | Missing {
	let room = rows;
	for (let index = length - 1; index >= 0; index--) {
		const height = heightOf(index);
		if (height === undefined) return { missing: index };
		if (height >= room) return { index, row: height - room };
		room -= height;
	}
	return { index: 0, row: 0 };
}

/** Moves down, or up if `by` is negative, within the conversation. */
export function moved(from: ScrollPosition, by: number, extent: Extent): ScrollPosition | Missing {
	return by < 0 ? movedUp(from, -by, extent) : movedDown(from, by, extent);
}

/** Whether the end is on the screen. */
export function isAtEnd(position: ScrollPosition, extent: Extent): boolean | Missing {
	const end = endOf(extent);
	return "missing" in end ? end : !isBefore(position, end);
}

/** Makes a position valid again after folding or truncation. */
export function clamped({ index, row }: ScrollPosition, { length, heightOf }: Extent): ScrollPosition | Missing {
	if (length === 0) return { index: 0, row: 0 };
	const within = Math.min(index, length - 1);
	const height = heightOf(within);
	if (height === undefined) return { missing: within };
	return { index: within, row: Math.max(0, Math.min(row, height - 1)) };
}

function movedUp(from: ScrollPosition, by: number, { heightOf }: Extent): ScrollPosition | Missing {
	let { index } = from;
	let row = from.row - by;
	while (row < 0 && index > 0) {
		index--;
		const height = heightOf(index);
		if (height === undefined) return { missing: index };
		row += height;
	}
	return { index, row: Math.max(0, row) };
}

function movedDown(from: ScrollPosition, by: number, extent: Extent): ScrollPosition | Missing {
	const { length, heightOf } = extent;
	let { index } = from;
	let row = from.row + by;
	while (index < length) {
		const height = heightOf(index);
		if (height === undefined) return { missing: index };
		if (row < height) break;
		row -= height;
		index++;
	}
	const isLow = fillsScreen({ index, row }, extent);
	if (typeof isLow !== "boolean") return isLow;
	return isLow ? { index, row } : endOf(extent);
}

/** Whether the rows from here on fill the screen. */
function fillsScreen({ index, row }: ScrollPosition, { length, rows, heightOf }: Extent): boolean | Missing {
	let found = -row;
	for (let at = index; at < length && found < rows; at++) {
		const height = heightOf(at);
		if (height === undefined) return { missing: at };
		found += height;
	}
	return found >= rows;
}

function isBefore(one: ScrollPosition, other: ScrollPosition): boolean {
	return one.index < other.index || (one.index === other.index && one.row < other.row);
}
