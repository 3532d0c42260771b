/** Time that moves only when a test says so. */

export interface HandClock {
	now: () => number;
	advance: (ms: number) => void;
}

export function handClock(start = 0): HandClock {
	let time = start;
	return {
		now: () => time,
		advance: (ms) => {
			time += ms;
		},
	};
}
