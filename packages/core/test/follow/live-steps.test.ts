import { expect, test } from "vitest";
import { followLive, type LiveDelta, type LiveEntry } from "../../src/index.ts";
import { spec } from "../fixtures/events.ts";
import { setUp } from "../fixtures/manager.ts";

function following(options: Parameters<typeof followLive>[2] = {}) {
	const it = setUp();
	const told: (LiveDelta | LiveEntry)[] = [];
	const listener = { onDelta: (delta: LiveDelta) => told.push(delta), onEntry: (entry: LiveEntry) => told.push(entry) };
	const feed = followLive(it.manager, listener, { clock: it.clock, ...options });
	return { ...it, told, feed };
}

test("deltas and entries come in one order: a block ends before the entry that has its text", () => {
	const { spawn, told, clock } = following();
	const { run } = spawn();
	run.write({ block: 0, kind: "thinking", offset: 0, text: "Hm", isFinal: true });
	run.write({ block: 1, kind: "text", offset: 0, text: "I look" });
	run.emit({ type: "assistant_text", text: "I look.", stopReason: "toolUse" });
	run.write({ block: 1, kind: "text", offset: 6, text: ".", isFinal: true }); // another file was faster
	run.emit({ type: "tool_call", callId: "1", tool: "read", args: { path: "a.ts" } });
	clock.advance(40);
	run.emit({ type: "tool_result", callId: "1", tool: "read", isError: true });
	run.write({ block: 2, kind: "text", offset: 0, text: "Two doors.", isFinal: true });
	run.emit({ type: "assistant_text", text: "Two doors.", error: "cut off" });
	const a1 = { agentId: "a1" };
	expect(told).toEqual([
		{ ...a1, block: 0, kind: "thinking", offset: 0, text: "Hm", isFinal: true },
		{ ...a1, seq: 0, at: 0, kind: "thinking", text: "Hm", block: 0 },
		{ ...a1, block: 1, kind: "text", offset: 0, text: "I look", isFinal: false },
		{ ...a1, block: 1, kind: "text", offset: 6, text: "", isFinal: true },
		{ ...a1, seq: 1, at: 0, kind: "text", text: "I look." },
		{
			...a1,
			seq: 2,
			at: 40,
			kind: "tool",
			text: "Read failed: a.ts",
			tool: "read",
			args: { path: "a.ts" },
			durationMs: 40,
			isError: true,
		},
		{ ...a1, block: 2, kind: "text", offset: 0, text: "Two doors.", isFinal: true },
		{ ...a1, seq: 3, at: 40, kind: "text", text: "Two doors.", block: 2 },
		{ ...a1, seq: 4, at: 40, kind: "error", text: "cut off", isError: true },
	]);
});

test("an agent that is stopped mid-block ends it, and its next run continues to count", async () => {
	const { spawn, told, manager, heard } = following();
	const agent = spawn();
	agent.run.write({ block: 0, kind: "text", offset: 0, text: "Two" });
	manager.abort(agent.id, { by: "user" });
	await heard(); // its first run is cleaned up
	manager.resume(agent.id, spec);
	await heard();
	agent.run.write({ block: 0, kind: "text", offset: 0, text: "Again" });
	agent.run.answer("Again");
	expect(told).toMatchObject([
		{ block: 0, text: "Two", isFinal: false },
		{ block: 0, offset: 3, text: "", isFinal: true },
		{ block: 1, text: "Again", isFinal: false },
		{ block: 1, isFinal: true },
		{ seq: 0, kind: "text", text: "Again", block: 1 },
	]);
});

test("only one agent, and only while its text is wanted", () => {
	const { spawn, told, feed } = following({ agentId: "a2", hasText: false });
	const [other, wanted] = [spawn(), spawn()];
	const both = (text: string) => {
		for (const { run } of [other, wanted]) run.write({ block: 0, kind: "text", offset: 0, text });
	};
	both("unheard");
	feed.setText(true);
	both("heard");
	feed.setText(false);
	both("unheard");
	wanted.run.emit({ type: "assistant_text", text: "Said." });
	feed.close();
	wanted.run.emit({ type: "assistant_text", text: "Unheard." });
	expect(told.map(({ agentId, text }) => [agentId, text])).toEqual([
		["a2", "heard"],
		["a2", ""],
		["a2", "Said."],
	]);
});
