/** Agents of the past in a session that is opened again. */
import { expect, test } from "vitest";
import { newFile, open, type SessionFile, spec } from "../fixtures/fake-session.ts";

test("a session that is opened again knows its past agents, and nothing happens to them", async () => {
	const file = newFile();
	const before = await open(file);
	const { id } = before.manager.spawn(spec);
	await before.answer(id, "Found it.");

	const after = await open(file, { firstId: 2 });
	const heard: string[] = [];
	after.manager.store.subscribe(({ event }) => heard.push(event.type));
	expect(after.manager.store.currentRecords()).toEqual([]);
	const second = after.manager.spawn(spec);
	expect(after.manager.store.currentRecords().map(({ id }) => id)).toEqual([second.id]);
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
