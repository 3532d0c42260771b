import { expect, test } from "vitest";
import { ConcurrencyLimit } from "../../src/output/validate.ts";

test("so many pass at a time, the others in their order, also after one that failed", async () => {
	const turnstile = new ConcurrencyLimit(2);
	const inside = new Set<number>();
	const order: number[] = [];
	let most = 0;
	const pass = (number: number) =>
		turnstile.pass(async () => {
			inside.add(number);
			order.push(number);
			most = Math.max(most, inside.size);
			await new Promise((resolve) => setImmediate(resolve));
			inside.delete(number);
			if (number % 2 === 0) throw new Error("no");
			return number;
		});
	const ended = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map(pass));
	expect(ended.map(({ status }) => status === "fulfilled")).toEqual([false, true, false, true, false, true, false]);
	expect({ most, order, left: inside.size }).toEqual({ most: 2, order: [0, 1, 2, 3, 4, 5, 6], left: 0 });
	expect(await pass(7)).toBe(7);
});
