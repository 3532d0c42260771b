/**
 * Where in a script a call is made. A path is the same in every run of the script, whatever finishes first: each call
 * opens a place of its own, in which what its answer leads to is counted. Pure, but places count.
 */

export interface Place {
	/** The path of the place that this one belongs to. */
	readonly base: string;
	readonly position: number;
	/** The fan-out that it is in. */
	readonly within: FanOut | undefined;
	/** The script's time here, when the last answer on the way to this place came, and what all agents had used by then. */
	now: number;
	spent: number;
	/** What was opened, drawn and noted here. */
	forks: number;
	draws: number;
	notes: number;
}

/** `parallel`, `pipeline` or `map`: a line of its own for each item, which come together again. */
export interface FanOut {
	readonly place: Place;
	/** When the last answer to any of its items came, and what had been used by then. */
	now: number;
	spent: number;
}

type Reached = Pick<Place, "now" | "spent">;

export function rootPlace({ now, spent }: Reached, base = "", position = 0, within?: FanOut): Place {
	return { base, position, within, now, spent, forks: 0, draws: 0, notes: 0 };
}

export function pathOf({ base, position }: Place): string {
	return `${base}${position}`;
}

/**
 * The place of the next call here. The first continues the line (`3` is followed by `4`), any other begins a line of
 * its own (`3~1/1`): that is what an answer leads to while the code behind the call already went on.
 */
export function fork(place: Place): Place {
	const { base, position, within } = place;
	const nth = place.forks++;
	if (nth === 0) return rootPlace(place, base, position + 1, within);
	return rootPlace(place, shortened(`${pathOf(place)}~${nth}/`), 1, within);
}

export function fanOut(place: Place): FanOut {
	return { place, now: place.now, spent: place.spent };
}

/** The place of one item of a fan-out. */
export function itemOf(all: FanOut, index: number): Place {
	return rootPlace(all.place, shortened(`${pathOf(all.place)}[${index}]/`), 0, all);
}

/** The call that was made here has its answer. */
export function answered(place: Place, by: Reached): void {
	reach(place, by);
	for (let all = place.within; all; all = all.place.within) reach(all, by);
}

/** All its items are done: what comes next is later than their answers. */
export function join(all: FanOut): void {
	reach(all.place, all);
}

function reach(place: Reached, { now, spent }: Reached): void {
	place.now = Math.max(place.now, now);
	place.spent = Math.max(place.spent, spent);
}

/** The same number for the same place and draw: from 0 to below 1. */
export function draw(place: Place, seed: string): number {
	return hash53(`${seed} ${pathOf(place)} ${place.draws++}`) / 2 ** 53;
}

export function notePath(place: Place): string {
	return `${pathOf(place)}#${place.notes++}`;
}

const LONGEST = 160;

/** A loop may nest without end, and every call writes its path. */
function shortened(base: string): string {
	return base.length <= LONGEST ? base : `…${hash53(base).toString(36)}/`;
}

/** A fast 53-bit hash with good mixing (cyrb53). Not for secrets. */
function hash53(text: string): number {
	let high = 0xdeadbeef;
	let low = 0x41c6ce57;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		high = Math.imul(high ^ code, 2654435761);
		low = Math.imul(low ^ code, 1597334677);
	}
	high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
	low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
	return 4294967296 * (2097151 & low) + (high >>> 0);
}
