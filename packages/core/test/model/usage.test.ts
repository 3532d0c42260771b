import { expect, test } from "vitest";
import { addUsage, cachedShare } from "../../src/index.ts";

test.each([
	[{ input: 250, cacheRead: 750, cacheWrite: 0 }, 0.75],
	[{ input: 100, cacheRead: 300, cacheWrite: 100 }, 0.6],
	[{ input: 100, cacheRead: 0, cacheWrite: 0 }, 0],
	[{ input: 0, cacheRead: 0, cacheWrite: 0 }, undefined],
])("of %j the share that came from the cache is %s", (read, share) => {
	expect(cachedShare({ ...read, output: 50, cost: 1 })).toBe(share);
});

test("a sum of costs is the provider's own only if every part that cost something is", () => {
	const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
	const estimated = { ...none, input: 5, cost: 1 };
	const billed = { ...estimated, costFromProvider: true } as const;
	expect(addUsage(none, billed)).toEqual(billed);
	expect(addUsage(billed, billed)).toMatchObject({ cost: 2, costFromProvider: true });
	for (const sum of [addUsage(billed, estimated), addUsage(none, none), addUsage(estimated, none)])
		expect(sum).not.toHaveProperty("costFromProvider");
});
