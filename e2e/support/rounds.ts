/** Chance that can be repeated, and a few rounds at a time. */

export interface Random {
	/** From 0 to below 1. */
	next(): number;
	pick<T>(from: readonly T[]): T;
	shuffle<T>(list: readonly T[]): T[];
}

/** The same numbers for the same seed. */
export function randomFrom(start: number): Random {
	let state = start >>> 0;
	const next = () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
	return {
		next,
		pick: (from) => from[Math.floor(next() * from.length)] as (typeof from)[number],
		shuffle: (list) =>
			list
				.map((item) => ({ item, at: next() }))
				.sort((a, b) => a.at - b.at)
				.map(({ item }) => item),
	};
}

export async function inLanes<T>(count: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
	const left = [...items];
	const lane = async () => {
		for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
	};
	await Promise.all(Array.from({ length: count }, lane));
}
