import { expect, test } from "vitest";
import { Store } from "../../src/index.ts";
import { log, queued, reading, settled, started } from "../fixtures/events.ts";

test("a snapshot is the same object until something changes", () => {
	const store = new Store();
	const [first, second, late] = log([queued, started, { type: "agent_answered" }]);
	if (first) store.dispatch(first);
	const before = store.snapshot();
	expect(store.snapshot()).toBe(before);
	if (late) store.dispatch(late); // does not fit, so nothing changes
	expect(store.snapshot()).toBe(before);
	if (second) store.dispatch(second);
	expect(store.snapshot()).not.toBe(before);
	expect(store.snapshot().records.map(({ id, status }) => [id, status])).toEqual([["a1", "running"]]);
});

test("what changed since a moment, each record once", () => {
	const store = new Store();
	let seq = 0;
	const tell = (id: string, ...events: Parameters<typeof log>[0]) => {
		for (const event of log(events, id)) store.dispatch({ ...event, seq: ++seq });
	};
	tell("a1", queued, started);
	tell("a2", queued, started);
	const moment = store.seq;
	tell("a1", reading("a.ts"), reading("b.ts"));
	expect(store.changedSince(moment).map(({ id, toolUses }) => [id, toolUses])).toEqual([["a1", 2]]);
	expect(store.changedSince(store.seq)).toEqual([]);
	for (let index = 0; index < 2_000; index++) tell("a1", reading(`${index}.ts`));
	expect(store.changedSince(moment).map(({ id }) => id)).toEqual(["a1"]);
	expect(new Set(store.changedSince(0).map(({ id }) => id))).toEqual(new Set(["a1", "a2"]));
});

test("listeners hear of changes after they are committed, until they leave", () => {
	const store = new Store();
	const heard: unknown[] = [];
	const leave = store.subscribe(({ event, record }) =>
		heard.push([event.type, record.status, store.record("a1") === record]),
	);
	const events = log([queued, started, settled({ status: "failed", error: "no" }), reading("late.ts")]);
	for (const event of events) store.dispatch(event);
	leave();
	for (const event of log([queued], "a2")) store.dispatch(event);
	expect(heard).toEqual([
		["agent_queued", "queued", true],
		["agent_started", "running", true],
		["agent_settled", "failed", true],
	]);
});

test("followers of one agent hear of its changes only, after all other listeners, until they leave", () => {
	const store = new Store();
	const heard: string[] = [];
	const leave = [1, 2].map((who) => store.follow("a1", ({ event }) => heard.push(`${who} ${event.type}`)));
	store.subscribe(({ record }) => heard.push(record.id));
	for (const event of [...log([queued], "a1"), ...log([queued], "a2")]) store.dispatch(event);
	expect(heard).toEqual(["a1", "1 agent_queued", "2 agent_queued", "a2"]);
	leave[0]?.();
	for (const event of log([started], "a1")) store.dispatch({ ...event, seq: store.seq + 1 });
	leave[1]?.();
	for (const event of log([reading("a.ts")], "a1")) store.dispatch({ ...event, seq: store.seq + 1 });
	expect(heard.slice(4)).toEqual(["a1", "2 agent_started", "a1"]);
});

test("agents of the past have no records until somebody asks, and then come before the others", () => {
	const store = new Store();
	let times = 0;
	const heard: string[] = [];
	store.subscribe(({ record }) => heard.push(record.id));
	store.setArchive({
		has: (id) => id.startsWith("p"),
		events() {
			times++;
			return ["p1", "p2"].flatMap((id) => log([queued, started, settled({ status: "failed", error: "no" })], id));
		},
	});
	for (const event of log([queued], "a1")) store.dispatch(event);
	expect(store.currentRecords().map(({ id }) => id)).toEqual(["a1"]);
	expect(store.record("a1")?.status).toBe("queued");
	expect(store.record("unknown")).toBeUndefined();
	expect(times).toBe(0);
	expect(store.record("p2")?.status).toBe("failed");
	expect(store.snapshot().records.map(({ id }) => id)).toEqual(["p1", "p2", "a1"]);
	expect(times).toBe(1);
	expect(heard).toEqual(["a1"]);
});

test("an agent of the past runs again", () => {
	const store = new Store();
	const [first, begun, over] = log([queued, started, settled({ status: "completed", text: "done" })], "p1");
	store.setArchive({ has: (id) => id === "p1", events: () => [first, begun, over].flatMap((event) => event ?? []) });
	const before = store.snapshot();
	const [again] = log([queued], "p1");
	if (again) store.dispatch({ ...again, run: 2 });
	expect(store.record("p1")).toMatchObject({ status: "queued", run: 2 });
	expect(store.snapshot()).not.toBe(before);
});
