import { expect, test } from "vitest";
import { Pace } from "../src/pace.ts";

function setUp() {
	let now = 0;
	const pace = new Pace(() => now);
	const ask = (ms: number) =>
		pace.ask(() => {
			now += ms;
		});
	/** A batch of one file, which takes so long if it is asked for at once. */
	const batch = (ms: number) => {
		const when = pace.nextBatch();
		if (when === "at once") ask(ms);
		return when;
	};
	return { pace, ask, batch };
}

test("files are asked for at once as long as none is slow", () => {
	const { batch } = setUp();
	for (let at = 0; at < 10; at++) expect(batch(0.02)).toBe("at once");
});

test("after a slow file they are left to the background, for longer each time", () => {
	const { batch } = setUp();
	const order = Array.from({ length: 11 }, () => batch(10));
	expect(order.flatMap((when, at) => (when === "at once" ? [at] : []))).toEqual([0, 2, 5, 10]);
});

test("a slow file is forgiven when the next ones are quick", () => {
	const { batch } = setUp();
	const order = [10, 0.02, 0.02, 10, 0.02, 0.02].map(batch);
	expect(order).toEqual(["at once", "later", "at once", "at once", "later", "at once"]);
});

test("it is tired after a few milliseconds, and fresh after a rest", async () => {
	const { pace, ask } = setUp();
	ask(1);
	expect(pace.isTired).toBe(false);
	ask(1.5);
	expect(pace.isTired).toBe(true);
	await pace.rest();
	expect(pace.isTired).toBe(false);
});
