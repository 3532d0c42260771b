/** Adding and subtracting usage. Pure. */
import type { Usage } from "@pi-subagents/progress";

const NONE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

/** Costs are sums of fractions: a smaller difference comes from adding in another order. */
const ROUNDING = 1e-9;

export function addUsage(a: Usage = NONE, b: Usage = NONE): Usage {
	return combine(a, b, (x, y) => x + y);
}

/** What `a` has more than `b`; never below nothing. */
export function minus(a: Usage, b: Usage): Usage {
	return combine(a, b, (x, y) => (x - y > ROUNDING ? x - y : 0));
}

export function isZero(usage: Usage): boolean {
	return Object.values(usage).every((amount) => amount === 0);
}

function combine(a: Usage, b: Usage, by: (x: number, y: number) => number): Usage {
	return {
		input: by(a.input, b.input),
		output: by(a.output, b.output),
		cacheRead: by(a.cacheRead, b.cacheRead),
		cacheWrite: by(a.cacheWrite, b.cacheWrite),
		cost: by(a.cost, b.cost),
	};
}
