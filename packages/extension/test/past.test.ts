import { expect, test } from "vitest";
import { sortOut } from "../src/journal/past.ts";
import { type Entry, NOTIFICATION } from "../src/journal/session-entry.ts";
import { newFile, open, type SessionFile, spec } from "./fake-session.ts";

const ours = (id: string, data: object, customType = "subagents:record"): Entry => ({
	...{ id, type: "custom", customType, data },
});
const launched = (id: string, agentId: string, more: object = {}) =>
	ours(id, { type: "launched", runId: `${agentId}-1`, agentId, isBackground: false, ...more });
const settled = (id: string, agentId: string) => ours(id, { type: "settled", runId: `${agentId}-1` });
const toldOf = (id: string, ...runIds: string[]): Entry => ({
	...{ id, type: "custom_message", customType: NOTIFICATION, details: { runIds } },
});

const pastOf = (...entries: Entry[]) => [...sortOut(entries).past().agentIds];

test("an agent is past when its run has settled, and was told of if it was to be", () => {
	expect(pastOf(launched("e1", "a"))).toEqual([]);
	expect(pastOf(launched("e1", "a"), settled("e2", "a"))).toEqual(["a"]);
	const inBackground = [launched("e1", "b", { isBackground: true }), settled("e2", "b")];
	expect(pastOf(...inBackground)).toEqual([]);
	expect(pastOf(...inBackground, toldOf("e3", "b-1"))).toEqual(["b"]);
	expect(pastOf(...inBackground, ours("e3", { type: "closed", runId: "b-1" }))).toEqual(["b"]);
});

test("an agent that was waited for and then left is to be told of", () => {
	const entries = [launched("e1", "a"), launched("e2", "a", { isBackground: true }), settled("e3", "a")];
	expect(pastOf(...entries)).toEqual([]);
	expect(pastOf(...entries, toldOf("e4", "a-1"))).toEqual(["a"]);
});

test("one run that goes on keeps all runs of its agent from being past", () => {
	const second = ours("e3", { type: "launched", runId: "a-2", agentId: "a", isBackground: false });
	const { past, rest } = sortOut([launched("e1", "a"), settled("e2", "a"), second]);
	expect([past().agentIds.size, rest.length]).toEqual([0, 3]);
});

test("past agents beside others: what is left is everything else, in its order", () => {
	const others = [launched("e2", "b"), toldOf("e4", "c-1")];
	const entries = [launched("e1", "a"), others[0], settled("e3", "a"), others[1]].flatMap((entry) => entry ?? []);
	const { past, rest } = sortOut(entries);
	expect(past().entries).toEqual(entries.filter((entry) => !others.includes(entry)));
	expect(rest).toEqual(others);
});

test("what outlives sessions, is none of ours or makes no sense is left to a closer look", () => {
	const entries = [
		ours("e1", { type: "launched", runId: "p-1", agentId: "p", isBackground: false }, "pi-subagents:bg-run"),
		ours("e2", { type: "settled", runId: "p-1" }, "pi-subagents:bg-update"),
		launched("e3", "q", { isBackground: "no" }),
		settled("e4", "q"),
		settled("e5", "never launched"),
		ours("e6", { type: "launched", runId: 7, agentId: {} }),
		{ id: "e7", type: "custom", customType: "theirs", data: { type: "launched", runId: "x-1", agentId: "x" } },
		{ id: "e8", type: "custom", customType: "subagents:record", data: null },
		{ id: "e9", type: "message" },
	];
	const { past, rest } = sortOut(entries);
	expect([past().agentIds.size, past().runIds.size, past().entries.length]).toEqual([0, 0, 0]);
	expect(rest).toEqual(entries);
});

test("a session that is opened again knows its past agents, and nothing happens to them", async () => {
	const file = newFile();
	const before = await open(file);
	const { id } = before.manager.spawn(spec);
	await before.answer(id, "Found it.");

	const after = await open(file, { firstId: 2 });
	const heard: string[] = [];
	after.manager.store.subscribe(({ type }) => heard.push(type));
	expect(after.manager.store.atHand()).toEqual([]);
	const second = after.manager.spawn(spec);
	expect(after.manager.store.atHand().map(({ id }) => id)).toEqual([second.id]);
	expect(after.manager.store.record(id)).toMatchObject({ outcome: { status: "completed", text: "Found it." } });
	expect(after.manager.store.snapshot().records.map(({ id }) => id)).toEqual([id, second.id]);
	expect(new Set(heard)).toEqual(new Set(["agent_queued", "agent_started"]));
	expect(after.sent).toEqual([]);

	const again = after.manager.resume(id, spec);
	expect(again).toMatchObject({ run: 2, id });
	expect(file.entries.filter(({ data }) => (data as { type?: string })?.type === "launched")).toHaveLength(3);
});

test("an agent that was stopped in the queue has not started when the session is opened again either", async () => {
	const file = newFile();
	const before = await open(file);
	before.manager.setSlots({ maxConcurrent: 1, whenFull: "queue" });
	const first = before.manager.spawn(spec);
	const { id } = before.manager.spawn(spec);
	before.manager.abort(id, { by: "user" });
	await before.answer(first.id, "Found it.");
	const after = await open(file, { firstId: 2 });
	const known = after.manager.store.record(id);
	expect(known).toMatchObject({ outcome: { status: "aborted", by: "user" } });
	expect(known?.startedAt).toBeUndefined();
});

/** Somebody writes this into the session's entries of that type. */
function edit(file: SessionFile, type: string, change: object): void {
	for (const entry of file.entries) {
		const data = entry.data as { type?: string };
		if (data.type === type) entry.data = { ...data, ...change };
	}
}

test("a past agent has no files where somebody has written that they are", async () => {
	const file = newFile();
	const before = await open(file);
	const { id } = before.manager.spawn(spec);
	await before.answer(id, "Found it.");
	edit(file, "launched", { artifacts: "/etc" });

	const after = await open(file, { firstId: 2 });
	const known = after.manager.store.record(id);
	expect(known?.outcome).toMatchObject({ status: "completed" });
	expect(known?.artifacts).toBeUndefined();
});

test("of a past agent whose end cannot be read it is said that it is over", async () => {
	const file = newFile();
	const before = await open(file);
	const { id } = before.manager.spawn(spec);
	await before.answer(id, "Found it.");
	edit(file, "settled", { turns: "many" });

	const after = await open(file, { firstId: 2 });
	expect(after.manager.store.record(id)?.outcome).toMatchObject({ status: "aborted", by: "lost" });
});
