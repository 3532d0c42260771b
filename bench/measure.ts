/** How figures are made: subjects take turns in every round, and the medians are compared as ratios. */

export interface Subject {
	name: string;
	/** Does the work once and returns what it cost, in any unit. */
	once(): Promise<number> | number;
}

/** A subject whose cost is how long it takes. */
export function timed(name: string, work: () => unknown): Subject {
	return {
		name,
		async once() {
			const start = performance.now();
			await work();
			return performance.now() - start;
		},
	};
}

/** The longest time in which nothing else of the process could run, in milliseconds. */
export async function longestPause(work: () => Promise<unknown>): Promise<number> {
	let longest = 0;
	let isDone = false;
	let last = performance.now();
	const look = () => {
		const now = performance.now();
		longest = Math.max(longest, now - last);
		last = now;
		if (!isDone) setImmediate(look);
	};
	setImmediate(look);
	await new Promise(setImmediate);
	await work();
	await new Promise(setImmediate);
	isDone = true;
	return longest;
}

/** One line of the table. */
export interface Benchmark {
	name: string;
	/** What the ratio must not exceed. */
	target: number;
	unit: string;
	rounds: number;
	ours: Subject;
	/** A floor or a rival, measured in the same rounds. */
	against: Subject;
}

export interface Figure {
	name: string;
	unit: string;
	ours: number;
	against: { name: string; value: number };
	/** Median of ours over median of the other; undefined when there is nothing to compare with. */
	ratio: number | undefined;
	/** The middle half of the ratios of single rounds. */
	spread: [number, number];
	target: number;
	ok: boolean;
}

export async function measure(benchmark: Benchmark): Promise<Figure> {
	const first = await attempt(benchmark);
	return first.ok ? first : attempt(benchmark); // machines are noisy: a miss counts when it happens twice
}

async function attempt({ name, target, unit, rounds, ours, against }: Benchmark): Promise<Figure> {
	await against.once();
	await ours.once(); // the first of each warms caches and is not counted
	const pairs: { ours: number; against: number }[] = [];
	for (let round = 0; round < rounds; round++) {
		// Who goes first changes, so that neither always runs on the other's leftovers.
		if (round % 2 === 0) {
			const other = await against.once();
			pairs.push({ against: other, ours: await ours.once() });
		} else {
			const mine = await ours.once();
			pairs.push({ ours: mine, against: await against.once() });
		}
	}
	const value = median(pairs.map((pair) => pair.ours));
	const other = median(pairs.map((pair) => pair.against));
	const ratio = other > 0 ? value / other : undefined;
	const ratios = pairs.map((pair) => pair.ours / pair.against);
	return {
		name,
		unit,
		ours: value,
		against: { name: against.name, value: other },
		ratio,
		spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
		target,
		ok: ratio !== undefined && ratio <= target,
	};
}

export function median(values: readonly number[]): number {
	return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
