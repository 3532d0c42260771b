import { expect, test } from "vitest";
import { Pacer, type PacerOptions } from "../../src/base/pacer.ts";
import { handClock } from "../../src/testing/index.ts";

function paced(options: Partial<PacerOptions> = {}) {
	const clock = handClock();
	let count = 0;
	const pacer = new Pacer({ clock, pauseMs: 100, work: () => void count++, ...options });
	return { clock, pacer, done: () => count };
}

test("work that is asked for any number of times is done once, after the pause", () => {
	const { clock, pacer, done } = paced();
	for (let asked = 0; asked < 5; asked++) pacer.ask();
	clock.advance(99);
	expect(done()).toBe(0);
	pacer.ask();
	clock.advance(1);
	expect(done()).toBe(1);
	clock.advance(1_000);
	expect(done()).toBe(1);
	pacer.ask();
	clock.advance(100);
	expect(done()).toBe(2);
});

test("prompt work begins at once after a quiet time, and then waits for its pause", () => {
	const { clock, pacer, done } = paced({ isPrompt: true });
	pacer.ask();
	expect(done()).toBe(1);
	clock.advance(40);
	pacer.ask();
	pacer.ask();
	clock.advance(59);
	expect(done()).toBe(1);
	clock.advance(1);
	expect(done()).toBe(2);
	clock.advance(100);
	pacer.ask();
	expect(done()).toBe(3);
});

test("work that was done otherwise is not done again, and begins a pause", () => {
	const { clock, pacer, done } = paced({ isPrompt: true });
	pacer.ask();
	pacer.ask();
	clock.advance(50);
	pacer.skip();
	expect(clock.waiting()).toBe(0);
	pacer.ask();
	clock.advance(99);
	expect(done()).toBe(1);
	clock.advance(1);
	expect(done()).toBe(2);
});

test("what was cancelled is not done, but what is asked for later", () => {
	const { clock, pacer, done } = paced();
	pacer.ask();
	pacer.cancel();
	clock.advance(1_000);
	expect(done()).toBe(0);
	pacer.ask();
	clock.advance(100);
	expect(done()).toBe(1);
});

test("after it was closed nothing is done and no timer is left", () => {
	const { clock, pacer, done } = paced();
	pacer.ask();
	pacer.close();
	pacer.ask(); // an agent that was just stopped
	expect(clock.waiting()).toBe(0);
	clock.advance(1_000);
	expect(done()).toBe(0);
});

test("without a pause nothing waits", () => {
	const { pacer, done } = paced({ pauseMs: 0 });
	pacer.ask();
	pacer.ask();
	expect(done()).toBe(2);
});

test("a change of the time of day neither skips a pause nor extends it", () => {
	const { clock, pacer, done } = paced({ isPrompt: true });
	pacer.ask();
	clock.set(-3_600_000);
	pacer.ask();
	clock.advance(100);
	expect(done()).toBe(2);
	clock.set(3_600_000);
	pacer.ask();
	expect(done()).toBe(2);
});
