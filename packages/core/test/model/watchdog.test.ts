import { expect, test } from "vitest";
import { steadyClock } from "../../src/base/clock.ts";
import type { Limits, Stop } from "../../src/index.ts";
import type { Activity } from "../../src/model/deadlines.ts";
import { Watchdog } from "../../src/model/watchdog.ts";
import { handClock } from "../../src/testing/index.ts";

const CALL = { type: "tool_call", callId: "1", tool: "ls", args: {} } as const;
const RESULT = { type: "tool_result", callId: "1", tool: "ls", isError: false } as const;

function watched(limits: Limits, { sparedMs }: { sparedMs?: number } = {}) {
	const clock = handClock(1_000);
	const steady = steadyClock(clock);
	const stops: Stop[] = [];
	const state: { activity: Activity | undefined; quietMs?: () => number } = { activity: { status: "running" } };
	const watchdog = new Watchdog({
		clock: steady,
		limits,
		activity: () => state.activity,
		quietMs: () => state.quietMs?.(),
		onLate: (stop) => stops.push(stop),
		...(sparedMs === undefined ? {} : { sparedMs }),
	});
	const hear = (event: Parameters<Watchdog["observe"]>[0]) => watchdog.observe(event, steady.now());
	watchdog.begin(steady.now());
	watchdog.watch();
	return { clock, steady, stops, state, watchdog, hear };
}

test("stops an agent that does nothing for too long, but not while it waits for an answer", () => {
	const { clock, stops, watchdog, hear } = watched({ idleTimeoutMs: 1_000, toolTimeoutMs: 1_500 });
	hear({ ...CALL, tool: "ask_main_session" });
	const goOn = watchdog.hold();
	clock.advance(60_000);
	goOn();
	clock.advance(999);
	expect(stops).toEqual([]);
	clock.advance(1);
	expect(stops).toEqual([{ by: "idle", reason: "nothing happened for 1s" }]);
});

test("an agent that waits for two things waits until both have come, however often one reports it", () => {
	const { clock, stops, watchdog } = watched({ idleTimeoutMs: 1_000 });
	const [first, second] = [watchdog.hold(), watchdog.hold()];
	first();
	first();
	clock.advance(60_000);
	expect(stops).toEqual([]);
	second();
	clock.advance(1_000);
	expect(stops).toHaveLength(1);
});

test("the limit of the whole run counts also while the agent waits", () => {
	const { clock, stops, watchdog } = watched({ timeoutMs: 5_000 });
	watchdog.hold();
	clock.advance(5_000);
	expect(stops).toEqual([{ by: "timeout", reason: "it ran longer than 5s" }]);
});

test("a sign of life moves the deadline, and a tool that ended has none", () => {
	const { clock, stops, watchdog, hear } = watched({ idleTimeoutMs: 1_000, toolTimeoutMs: 100 });
	hear(CALL);
	clock.advance(99);
	hear(RESULT);
	clock.advance(900);
	hear({ type: "turn" });
	clock.advance(999);
	expect(stops).toEqual([]);
	watchdog.close();
	expect(clock.waiting()).toBe(0);
});

test("a tool that runs too long is named", () => {
	const { clock, stops, hear } = watched({ toolTimeoutMs: 1_000 });
	hear(CALL);
	clock.advance(1_000);
	expect(stops).toEqual([{ by: "timeout", reason: "ls ran longer than 1s" }]);
});

test("a tool whose result pi never printed has ended when the model speaks again", () => {
	const { clock, stops, hear } = watched({ toolTimeoutMs: 1_000 });
	hear(CALL);
	hear({ type: "assistant_text", text: "A large file.", stopReason: "stop" });
	clock.advance(60_000);
	expect(stops).toEqual([]);
});

test("no tool of a run that is started over is still running", () => {
	const { clock, stops, watchdog, hear } = watched({ toolTimeoutMs: 1_000 });
	hear(CALL);
	watchdog.startOver();
	clock.advance(60_000);
	expect(stops).toEqual([]);
});

test("an agent whose work is being checked is not idle", () => {
	const { clock, stops, state, hear } = watched({ idleTimeoutMs: 1_000 });
	state.activity = { status: "running", isVerifying: true };
	hear({ type: "verifying", command: "make test" });
	clock.advance(60_000);
	expect(stops).toEqual([]);
	state.activity = { status: "running" };
	hear({ type: "verified", verification: { ok: true, command: "make test" } });
	clock.advance(1_000);
	expect(stops).toHaveLength(1);
});

test("changing the system clock makes no agent late, and extends no limit", () => {
	const { clock, stops, watchdog, hear } = watched({ timeoutMs: 60_000, idleTimeoutMs: 10_000 });
	clock.set(7 * 3_600_000);
	watchdog.hold()();
	clock.advance(9_999);
	hear({ type: "turn" });
	expect(stops).toEqual([]);
	clock.set(-9 * 3_600_000);
	clock.advance(10_000);
	expect(stops).toEqual([{ by: "idle", reason: "nothing happened for 10s" }]);
});

test("a run that is rejoined after its limit is read before it counts as late", () => {
	const { clock, stops, watchdog } = watched({ timeoutMs: 1_000 }, { sparedMs: 10_000 });
	watchdog.begin(-50_000);
	watchdog.watch();
	clock.advance(9_999);
	expect(stops).toEqual([]);
	clock.advance(1);
	expect(stops).toHaveLength(1);
});

test("a run that is over, or whose runner enforces the limits, is left alone", () => {
	const over = watched({ timeoutMs: 1_000 });
	const goOn = over.watchdog.hold();
	over.watchdog.close();
	goOn();
	const elsewhere = watched({ timeoutMs: 1_000 });
	elsewhere.state.activity = undefined;
	elsewhere.watchdog.watch();
	for (const { clock, stops } of [over, elsewhere]) {
		expect(clock.waiting()).toBe(0);
		clock.advance(60_000);
		expect(stops).toEqual([]);
	}
});

test("reports for how long an agent has been silent once that counts as stalled", () => {
	const { clock, watchdog, state } = watched({ stalledAfterMs: 1_000 });
	clock.advance(999);
	expect(watchdog.silentMs({ status: "running" })).toBeUndefined();
	clock.advance(1);
	expect(watchdog.silentMs({ status: "running" })).toBe(1_000);
	state.quietMs = () => 5; // it is writing
	expect(watchdog.silentMs({ status: "running" })).toBeUndefined();
	delete state.quietMs;
	clock.advance(995);
	expect(watchdog.silentMs({ status: "running" })).toBe(1_000);
	watchdog.hold();
	expect(watchdog.silentMs({ status: "running" })).toBeUndefined();
});

test("a child that writes is not stopped for silence, and is asked about that only when its time is up", () => {
	const { clock, steady, stops, state } = watched({ idleTimeoutMs: 1_000 });
	let wroteAt = 0;
	let looks = 0;
	state.quietMs = () => {
		looks++;
		return steady.now() - wroteAt;
	};
	for (let piece = 0; piece < 1_000; piece++) {
		clock.advance(10);
		wroteAt = steady.now();
	}
	expect(stops).toEqual([]);
	expect(looks).toBeLessThanOrEqual(11);
	clock.advance(1_000);
	expect(stops).toEqual([{ by: "idle", reason: "nothing happened for 1s" }]);
});

test("no clock runs while the run cannot be seen, and its time starts again when it is started over", () => {
	const { clock, stops, watchdog } = watched({ timeoutMs: 5_000, idleTimeoutMs: 2_000 });
	clock.advance(1_000);
	watchdog.setSeen(false);
	watchdog.setSeen(false);
	clock.advance(60_000);
	watchdog.setSeen(true);
	clock.advance(1_999);
	expect(stops).toEqual([]);
	clock.advance(1);
	expect(stops).toEqual([{ by: "idle", reason: "nothing happened for 2s" }]);
	watchdog.hold();
	clock.advance(1_999);
	expect(stops).toHaveLength(1);
	clock.advance(1);
	expect(stops[1]).toEqual({ by: "timeout", reason: "it ran longer than 5s" });
	expect(watchdog.elapsedMs, "people read all of it").toBe(65_000);
});

test("a run that is started over has all of its time again", () => {
	const { clock, stops, watchdog } = watched({ timeoutMs: 5_000 });
	clock.advance(4_000);
	watchdog.startOver();
	watchdog.watch();
	clock.advance(4_999);
	expect(stops).toEqual([]);
	clock.advance(1);
	expect(stops).toHaveLength(1);
});
