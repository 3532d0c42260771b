import { PassThrough } from "node:stream";
import { handClock } from "@pi-subagents/core/testing";
import { expect, test, vi } from "vitest";
import type { Worker } from "../../src/far/worker.ts";
import { BEAT_MS, SILENCE_MS } from "../../src/stdio/protocol.ts";
import { serve } from "../../src/stdio/serve.ts";

/** A connection to a worker that only notes what it is asked for. */
function served() {
	const clock = handClock();
	const input = new PassThrough();
	const asked: string[] = [];
	const signals: AbortSignal[] = [];
	const worker = {
		accept: async (order: string, _fetch: unknown, signal: AbortSignal) => {
			asked.push(order);
			signals.push(signal);
		},
		leave: async () => void asked.push("left alone"),
	} as unknown as Worker;
	const ended = serve({ worker, version: "1", input, output: new PassThrough().resume(), clock });
	const submit = (body: string) => input.write(`${JSON.stringify({ id: 1, does: "submit", body })}\n`);
	return { clock, asked, signals, submit, ended };
}

test("an order that waited while the worker was asleep is ignored: another worker may have it", async () => {
	const { clock, asked, signals, submit, ended } = served();
	submit("early");
	await expect.poll(() => asked).toEqual(["early"]);
	clock.advance(BEAT_MS);
	submit("in time");
	await expect.poll(() => asked).toEqual(["early", "in time"]);
	vi.spyOn(clock, "now").mockReturnValue(clock.now() + SILENCE_MS); // its timers slept, too
	submit("late");
	await ended;
	expect(asked).toEqual(["early", "in time", "left alone"]);
	expect(
		signals.every(({ aborted }) => aborted),
		"and what was begun for it is given up",
	).toBe(true);
});
