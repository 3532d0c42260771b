import { afterEach, expect, test, vi } from "vitest";
import { debounce } from "../../src/ui/debounce.ts";

afterEach(() => vi.useRealTimers());

test("any number of calls show something once, and a session that has ended nothing more", () => {
	vi.useFakeTimers();
	const show = vi.fn();
	const ask = debounce("showing", () => undefined, show, 50);
	ask();
	ask();
	vi.advanceTimersByTime(50);
	expect(show).toHaveBeenCalledTimes(1);
	ask();
	ask.cancel();
	ask(); // an agent that was just stopped
	expect(vi.getTimerCount()).toBe(0);
	vi.advanceTimersByTime(1_000);
	expect(show).toHaveBeenCalledTimes(1);
});
