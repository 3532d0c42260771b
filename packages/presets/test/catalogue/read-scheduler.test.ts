import { expect, test } from "vitest";
import { ReadScheduler } from "../../src/catalogue/read-scheduler.ts";

function setUp() {
	let now = 0;
	const scheduler = new ReadScheduler(() => now);
	const read = (ms: number) =>
		scheduler.measure(() => {
			now += ms;
		});
	/** A batch of one file that takes this long when it is read synchronously. */
	const batch = (ms: number) => {
		const mode = scheduler.nextBatch();
		if (mode === "sync") read(ms);
		return mode;
	};
	return { scheduler, read, batch };
}

test("files are read synchronously as long as none is slow", () => {
	const { batch } = setUp();
	for (let at = 0; at < 10; at++) expect(batch(0.02)).toBe("sync");
});

test("after a slow file they are read in the background, for longer each time", () => {
	const { batch } = setUp();
	const order = Array.from({ length: 11 }, () => batch(10));
	expect(order.flatMap((mode, at) => (mode === "sync" ? [at] : []))).toEqual([0, 2, 5, 10]);
});

test("a slow file is forgiven when the next ones are quick", () => {
	const { batch } = setUp();
	const order = [10, 0.02, 0.02, 10, 0.02, 0.02].map(batch);
	expect(order).toEqual(["sync", "background", "sync", "sync", "background", "sync"]);
});

test("it asks to yield after a few milliseconds, and starts again after that", async () => {
	const { scheduler, read } = setUp();
	read(1);
	expect(scheduler.mustYield).toBe(false);
	read(1.5);
	expect(scheduler.mustYield).toBe(true);
	await scheduler.yieldToEventLoop();
	expect(scheduler.mustYield).toBe(false);
});
