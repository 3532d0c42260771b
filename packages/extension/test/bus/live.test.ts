/** What dashboards hear while agents work, and that it costs nothing when there are none. */
import { createEventBus } from "@earendil-works/pi-coding-agent";
import { Manager } from "@pi-subagents/core";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import { busEvents } from "@pi-subagents-dev/docs";
import { expect, test, vi } from "vitest";
import { publishEvents } from "../../src/bus/bus.ts";
import { spec } from "../fixtures/fake-session.ts";

function setUp() {
	const events = createEventBus();
	const runner = fakeRunner();
	const clock = handClock(1_000);
	let ids = 0;
	const manager = new Manager({ runners: { session: runner }, clock, newId: () => `a${++ids}` });
	publishEvents({ events }, { manager, host: { warn: () => undefined }, clock });
	const launch = () => {
		const { id } = manager.spawn(spec);
		const run = runner.runs.at(-1);
		if (!run) throw new Error("not started");
		return { id, run, watched: vi.spyOn(run, "watch") };
	};
	const heard: { channel: string; [field: string]: unknown }[] = [];
	const listen = (...channels: string[]) =>
		channels.map((channel) => events.on(channel, (payload) => heard.push({ channel, ...(payload as object) })));
	return { events, manager, clock, launch, heard, listen };
}

type Entry = Record<string, unknown>;

test("a dashboard that knows only these two channels rebuilds what the agent did and wrote", () => {
	const { launch, heard, listen } = setUp();
	listen("subagents:entry", "subagents:delta", "subagents:completed");
	const { id, run } = launch();
	run.write({ block: 0, kind: "thinking", offset: 0, text: "Hm", isFinal: true });
	run.write({ block: 1, kind: "text", offset: 0, text: "I " });
	run.write({ block: 1, kind: "text", offset: 2, text: "look.", isFinal: true });
	run.emit({ type: "assistant_text", text: "I look.", stopReason: "toolUse" });
	run.emit({ type: "tool_call", callId: "1", tool: "read", args: { path: "a.ts" } });
	run.emit({ type: "tool_result", callId: "1", tool: "read", isError: false });
	expect(heard[0]).toEqual({
		channel: "subagents:delta",
		v: 1,
		agentId: id,
		toolCallId: "",
		blockId: 0,
		kind: "text",
		offset: 0,
		text: "",
		final: true,
	});
	const timeline: Entry[] = [];
	const blocks: string[] = [];
	for (const { channel, agentId, index, entry, blockId, offset, text } of heard) {
		expect(agentId).toBe(id);
		if (channel === "subagents:entry") timeline[index as number] = entry as Entry;
		else {
			expect(offset).toBe((blocks[blockId as number] ?? "").length);
			blocks[blockId as number] = (blocks[blockId as number] ?? "") + text;
		}
	}
	expect(blocks).toEqual(["", "Hm", "I look."]);
	expect(timeline).toEqual([
		{ kind: "thinking", text: "Hm", ts: 1_000 },
		{ kind: "text", text: "I look.", ts: 1_000 },
		{
			kind: "tool",
			text: "Finished reading a.ts",
			ts: 1_000,
			toolName: "read",
			input: { path: "a.ts" },
			isError: false,
		},
	]);
	expect(heard.filter(({ channel }) => channel === "subagents:entry")).toMatchObject([
		{ seq: 0, kind: "thinking", blockId: 1 },
		{ seq: 1, kind: "text", text: "I look.", blockId: 2 },
		{ seq: 2, kind: "tool", tool: "read", durationMs: 0, isError: false },
	]);
	for (const { channel, ...payload } of heard) {
		const { fields } = busEvents[channel === "subagents:entry" ? "entry" : "delta"];
		expect(Object.keys(fields)).toEqual(expect.arrayContaining(Object.keys(payload)));
		for (const [name, { isOptional }] of Object.entries(fields)) if (!isOptional) expect(payload).toHaveProperty(name);
	}
});

test("agents are watched only while a listener reads what they write", () => {
	const { launch, listen, heard, events } = setUp();
	events.on("subagents:delta", () => undefined); // does not look at it
	listen("subagents:entry", "subagents:started");
	const first = launch();
	first.run.write({ block: 0, kind: "text", offset: 0, text: "unread" });
	first.run.emit({ type: "assistant_text", text: "Said." });
	expect(heard.map(({ channel }) => channel)).toEqual(["subagents:started", "subagents:entry"]);
	expect(first.watched).not.toHaveBeenCalled();

	const [stop] = listen("subagents:delta");
	first.run.emit({ type: "turn" });
	expect(first.watched).toHaveBeenCalledOnce();
	for (let block = 1; block < 3; block++)
		first.run.write({ block, kind: "text", offset: 0, text: "read", isFinal: true });
	expect(
		heard.filter(({ channel }) => channel === "subagents:delta").map(({ blockId, text }) => [blockId, text]),
	).toEqual([
		[1, ""],
		[2, "read"],
		[3, "read"],
	]);

	stop?.();
	for (let block = 3; block < 20; block++)
		first.run.write({ block, kind: "text", offset: 0, text: "?", isFinal: true });
	expect(launch().watched).not.toHaveBeenCalled();
});

test("what an agent was writing is ended before its own end is told", () => {
	const { launch, heard, listen, manager } = setUp();
	listen("subagents:failed", "subagents:delta");
	const { id, run } = launch();
	run.write({ block: 0, kind: "text", offset: 0, text: "Two" });
	manager.abort(id, { by: "user" });
	expect(heard.map(({ channel, text, final }) => [channel, text, final])).toEqual([
		["subagents:delta", "", true],
		["subagents:delta", "Two", false],
		["subagents:delta", "", true],
		["subagents:failed", undefined, undefined],
	]);
});
