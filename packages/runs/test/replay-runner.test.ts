import { describe, expect, test } from "vitest";
import { Manager } from "../../core/src/index.ts";
import { handClock } from "../../core/src/testing/index.ts";
import { spec } from "../../core/test/fixtures/events.ts";
import type { EventLine } from "../src/format/lines.ts";
import { type Recording, replayRunner } from "../src/index.ts";

const recording: Recording = {
	lines: [
		{ type: "agent_queued", at: 900, seq: 1 },
		{ type: "agent_started", at: 1_000, seq: 2 },
		{ type: "assistant_text", text: "Reading.", at: 1_400, seq: 3 },
		{ type: "tool_call", callId: "c1", tool: "read", args: { path: "a.ts" }, at: 1_400, seq: 4 },
		{ type: "agent_steered", message: "Faster.", at: 1_500, seq: 5 },
		{ type: "tool_result", callId: "c1", tool: "read", isError: false, at: 2_000, seq: 6 },
		{ type: "idle", at: 1_900, seq: 7 }, // the time of day was set back
	] satisfies EventLine[],
	outcome: { status: "completed", text: "Done." },
	completedAt: 2_200,
};

function world(speed?: number) {
	const clock = handClock();
	const runner = replayRunner({ clock, recordingOf: () => recording, ...(speed === undefined ? {} : { speed }) });
	const manager = new Manager({ runners: { session: runner }, clock, newId: () => "a1" });
	const seen: [number, string][] = [];
	manager.store.subscribe(({ event: { at, type } }) => seen.push([at, type]));
	manager.spawn(spec);
	const heard = () => new Promise<void>((resolve) => setImmediate(resolve));
	return { clock, manager, seen, heard };
}

describe("a replay", () => {
	test.each([
		[1, [400, 400, 1_000, 1_000]],
		[4, [100, 100, 250, 250]],
	])("at speed %d emits the child's events at their distances and settles as recorded", async (speed, times) => {
		const { clock, manager, seen, heard } = world(speed);
		clock.advance(1_200 / speed);
		await heard();
		const types = ["assistant_text", "tool_call", "tool_result", "idle"];
		expect(seen.slice(2, -1)).toEqual(types.map((type, index) => [times[index], type]));
		expect(manager.store.record("a1")).toMatchObject({ outcome: recording.outcome, toolUses: 1 });
		expect(clock.waiting()).toBe(0);
	});

	test("ends when it is stopped, with what was said so far", async () => {
		const { clock, manager, heard } = world();
		clock.advance(500);
		manager.abort("a1", { by: "user" });
		await heard();
		expect(manager.store.record("a1")?.outcome).toEqual({ status: "aborted", by: "user", partialText: "Reading." });
		expect(clock.waiting()).toBe(0);
	});

	test("without a recording is a failed run, and a speed of nothing a mistake", () => {
		const clock = handClock();
		const recordingOf = () => {
			throw new Error("no such recording");
		};
		const manager = new Manager({
			runners: { session: replayRunner({ clock, recordingOf }) },
			clock,
			newId: () => "a1",
		});
		expect(manager.spawn(spec).outcome).toEqual({ status: "failed", error: "no such recording" });
		expect(() => replayRunner({ clock, recordingOf, speed: 0 })).toThrow("must be above 0");
	});
});
