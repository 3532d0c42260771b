import { expect, test } from "vitest";
import { cachedShare } from "../../src/index.ts";

test.each([
	[{ input: 250, cacheRead: 750, cacheWrite: 0 }, 0.75],
	[{ input: 100, cacheRead: 300, cacheWrite: 100 }, 0.6],
	[{ input: 100, cacheRead: 0, cacheWrite: 0 }, 0],
	[{ input: 0, cacheRead: 0, cacheWrite: 0 }, undefined],
])("of %j the share that came from the cache is %s", (read, share) => {
	expect(cachedShare({ ...read, output: 50, cost: 1 })).toBe(share);
});
