/** Where the screen is in the conversation. Pure arithmetic over heights, of which only some are known. */

/** The row at the top of the screen: of which entry, and which of its rows. */
export interface Place {
	index: number;
	row: number;
}

/** The entry that must be read before the question can be answered. */
export interface Missing {
	missing: number;
}

export interface Extent {
	/** How many entries there are. */
	length: number;
	/** How many rows the screen has. */
	rows: number;
	/** How many rows an entry has, at least one; undefined if it has not been read. */
	heightOf: (index: number) => number | undefined;
}

/** Where the last row of the conversation is the last of the screen. */
export function endOf({ length, rows, heightOf }: Extent): Place | Missing {
	let room = rows;
	for (let index = length - 1; index >= 0; index--) {
		const height = heightOf(index);
		if (height === undefined) return { missing: index };
		if (height >= room) return { index, row: height - room };
		room -= height;
	}
	return { index: 0, row: 0 };
}

/** Down, or up where `by` is negative; no further than the conversation goes. */
export function moved(from: Place, by: number, extent: Extent): Place | Missing {
	return by < 0 ? movedUp(from, -by, extent) : movedDown(from, by, extent);
}

/** Whether nothing is below the screen. */
export function isAtEnd(place: Place, extent: Extent): boolean | Missing {
	const end = endOf(extent);
	return "missing" in end ? end : !isBefore(place, end);
}

/** A place that may have become none, because things were folded or the conversation became shorter. */
export function clamped({ index, row }: Place, { length, heightOf }: Extent): Place | Missing {
	if (length === 0) return { index: 0, row: 0 };
	const within = Math.min(index, length - 1);
	const height = heightOf(within);
	if (height === undefined) return { missing: within };
	return { index: within, row: Math.max(0, Math.min(row, height - 1)) };
}

function movedUp(from: Place, by: number, { heightOf }: Extent): Place | Missing {
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

function movedDown(from: Place, by: number, extent: Extent): Place | Missing {
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

/** Whether there are rows for the whole screen from here on. Looks no further than that. */
function fillsScreen({ index, row }: Place, { length, rows, heightOf }: Extent): boolean | Missing {
	let found = -row;
	for (let at = index; at < length && found < rows; at++) {
		const height = heightOf(at);
		if (height === undefined) return { missing: at };
		found += height;
	}
	return found >= rows;
}

function isBefore(one: Place, other: Place): boolean {
	return one.index < other.index || (one.index === other.index && one.row < other.row);
}
