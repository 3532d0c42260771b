import { expect, test } from "vitest";
import { once } from "../../src/base/values.ts";

test.each([[undefined], [null], [7]])("once calls a function that returns %s a single time", (value) => {
	let calls = 0;
	const make = once(() => {
		calls++;
		return value;
	});
	expect([make(), make(), calls]).toEqual([value, value, 1]);
});

test("once tries again after an error", () => {
	let calls = 0;
	const make = once(() => {
		if (++calls === 1) throw new Error("not yet");
		return calls;
	});
	expect(make).toThrow("not yet");
	expect(make()).toBe(2);
});
