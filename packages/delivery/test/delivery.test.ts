/** Delivery over plain arrays, as a program without pi uses it. */
import { Manager } from "@pi-subagents/core";
import { fakeRunner, handClock, sampleSpec } from "@pi-subagents/core/testing";
import { expect, test } from "vitest";
import { createDelivery, type Delivery, type DeliveryDeps, memorySession, type SessionEntry } from "../src/index.ts";

const spec = sampleSpec;

/** A process that has the session open. */
async function open(
	entries: SessionEntry[],
	over: (deps: DeliveryDeps, delivery: () => Delivery) => Partial<DeliveryDeps> = () => ({}),
) {
	const received: string[] = [];
	const warnings: string[] = [];
	const runner = fakeRunner();
	const clock = handClock();
	let ids = entries.length;
	const manager = new Manager({ runners: { session: runner }, clock, newId: () => `a${++ids}` });
	const session = memorySession(entries, ({ details }) => received.push(details.agents[0]?.preview ?? ""));
	const deps: DeliveryDeps = { manager, ...session, warn: (message) => warnings.push(message), clock };
	const delivery: Delivery = createDelivery({ ...deps, ...over(deps, () => delivery) });
	const started = delivery.sessionStarted();
	const launch = (isBackground = true) => manager.spawn(spec, { isBackground });
	const answer = async (id: string, text: string) => {
		runner.runs.findLast((run) => run.spec.agentId === id)?.answer(text);
		await manager.wait(id);
	};
	await started;
	return { manager, delivery, received, warnings, clock, launch, answer };
}

const kinds = (entries: SessionEntry[]) =>
	entries.map(({ type, data }) => (type === "custom" ? (data as { type: string }).type : type));

const busy: DeliveryDeps["messenger"] = {
	canSend: () => false,
	send: () => false,
	onArrived: () => undefined,
};

test("a result is delivered once, however often the session is opened", async () => {
	const entries: SessionEntry[] = [];
	const it = await open(entries);
	await it.answer(it.launch().id, "Two doors.");
	expect(it.received).toEqual(["Two doors."]);
	expect(kinds(entries)).toEqual(["launched", "settled", "custom_message"]);
	for (let again = 0; again < 2; again++) expect((await open(entries)).received).toEqual([]);
	expect(entries).toHaveLength(3);
});

test("agents of agents are in the log for reports, and nothing about them is delivered or restored", async () => {
	const entries: SessionEntry[] = [];
	const it = await open(entries);
	const root = it.manager.spawn({ ...spec, subagents: "*" }, { callId: "call_1" });
	const nested = it.manager.spawn(spec, { parentAgentId: root.id, callId: "call_2", isBackground: true });
	await it.answer(nested.id, "One door.");
	await it.answer(root.id, "Two doors.");
	const found = entries.map(({ customType, data }) => [customType, data]);
	expect(found).toMatchObject([
		["subagents:record", { type: "launched", callId: "call_1" }],
		["subagents:nested", { type: "launched", agentId: nested.id, parentAgentId: root.id, depth: 2, callId: "call_2" }],
		["subagents:nested", { type: "settled", runId: nested.id, status: "completed", preview: "One door." }],
		["subagents:record", { type: "settled", runId: root.id }],
	]);
	const again = await open(entries);
	expect([it.received, again.received]).toEqual([[], []]);
	expect(again.manager.store.snapshot().records.map(({ id }) => id)).toEqual([root.id]);
});

test("a result that the process did not get to deliver is delivered by the next one", async () => {
	const entries: SessionEntry[] = [];
	const killed = await open(entries, () => ({ messenger: busy }));
	await killed.answer(killed.launch().id, "Two doors.");
	expect(kinds(entries)).toEqual(["launched", "settled"]);
	expect((await open(entries)).received).toEqual(["Two doors."]);
	expect((await open(entries)).received).toEqual([]);
});

test("the end of a run is written once, whether somebody waits for it or not, and before anything is sent", async () => {
	const entries: SessionEntry[] = [];
	const it = await open(entries);
	const [waited, left] = [it.launch(false), it.launch(true)];
	await it.answer(waited.id, "For the tool.");
	await it.answer(left.id, "For the session.");
	const ends = entries.filter(({ data }) => (data as { type?: string })?.type === "settled");
	expect(ends.map(({ data }) => data)).toMatchObject([{ preview: "For the tool." }, { preview: "For the session." }]);
	expect(kinds(entries)).toEqual(["launched", "launched", "settled", "settled", "custom_message"]);
	expect(it.received).toEqual(["For the session."]);
	await open(entries);
	expect(entries).toHaveLength(5);
});

test("a message that the session could not take is sent after a pause", async () => {
	let canSend = true;
	const it = await open([], ({ messenger }) => ({ messenger: { ...messenger, canSend: () => canSend } }));
	canSend = false; // without a word, as when pi walks through its tree
	await it.answer(it.launch().id, "Two doors.");
	it.clock.advance(5_000);
	expect(it.received).toEqual([]);
	canSend = true;
	it.clock.advance(1_000);
	expect(it.received).toEqual(["Two doors."]);
});

test.each(["stopped", "answered"])(
	"of a run that %s and is continued before its end was told, only an answer is told",
	async (how) => {
		let canSend = true;
		const it = await open([], ({ messenger }) => ({ messenger: { ...messenger, canSend: () => canSend } }));
		canSend = false;
		const { id } = it.launch();
		if (how === "stopped") {
			it.manager.abort(id, { by: "user" });
			await it.manager.wait(id);
		} else await it.answer(id, "Two doors.");
		it.manager.resume(id, spec, { isBackground: true });
		await it.answer(id, "Three doors.");
		canSend = true;
		it.clock.advance(5_000);
		expect(it.received).toEqual([how === "stopped" ? "Three doors." : "Two doors."]);
	},
);

test("while the session is busy results wait, and a message that arrives later counts when it does", async () => {
	let state: "busy" | "idle" = "busy";
	let hear = (_state: "busy" | "idle"): void => undefined;
	let arrive = (_details: unknown): void => undefined;
	const sent: unknown[] = [];
	const it = await open([], ({ messenger }) => ({
		messenger: {
			...messenger,
			send({ details }) {
				sent.push(details);
				return false;
			},
			onArrived: (listener) => {
				arrive = listener;
			},
		},
		states: {
			onState: (listener) => {
				hear = listener;
			},
			announce: () => hear(state),
		},
	}));
	const { id } = it.launch();
	await it.answer(id, "Two doors.");
	expect(sent).toEqual([]);
	state = "idle";
	hear(state);
	expect(sent).toMatchObject([{ runIds: [id] }]);
	arrive(sent[0]);
	it.clock.advance(60_000);
	expect(sent).toHaveLength(1);
});

test("a log that cannot be written is reported, and the result is delivered all the same", async () => {
	const it = await open([], ({ log }) => ({
		log: {
			...log,
			append() {
				throw new Error("No space left on device.");
			},
		},
	}));
	await it.answer(it.launch().id, "Two doors.");
	expect(it.received).toEqual(["Two doors."]);
	expect(it.warnings).toContain("recording an agent in the session: No space left on device.");
});

test("what the disk has no room for is written in its order when there is some, also after a reload", async () => {
	const entries: SessionEntry[] = [];
	let isFull = true;
	const over = ({ log }: DeliveryDeps): Partial<DeliveryDeps> => ({
		sessionId: () => "full",
		log: {
			...log,
			append(customType, data) {
				if (isFull) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
				return log.append(customType, data);
			},
		},
	});
	const it = await open(entries, over);
	const { id } = it.launch(false);
	it.clock.advance(60_000);
	expect([kinds(entries), it.delivery.journal.branch()]).toEqual([[], [it.delivery.journal.entryOf(id)]]);
	await it.delivery.sessionEnded();
	await it.answer(id, "Two doors.");
	const again = await open(entries, over);
	expect(again.manager.store.record(id)).toMatchObject({ status: "completed" });
	isFull = false;
	again.clock.advance(5_000);
	expect(kinds(entries)).toEqual(["launched", "settled"]);
});

test("a message that has not arrived when the session is idle again is sent again", async () => {
	let hear = (_state: "busy" | "idle"): void => undefined;
	let sent = 0;
	const it = await open([], ({ messenger }) => ({
		messenger: { ...messenger, send: () => ++sent > 1 },
		states: {
			onState: (listener) => {
				hear = listener;
			},
			announce: () => hear("idle"),
		},
	}));
	await it.answer(it.launch().id, "Two doors.");
	hear("idle"); // it is on its way
	it.clock.advance(60_000);
	expect(sent).toBe(1);
	hear("busy");
	hear("idle");
	it.clock.advance(1_000);
	expect(sent).toBe(2);
	hear("busy");
	hear("idle");
	it.clock.advance(60_000);
	expect(sent).toBe(2);
});

test("what is silenced while it is restored is not told", async () => {
	const entries: SessionEntry[] = [];
	const { id } = (await open(entries)).launch(); // and killed
	const it = await open(entries, ({ manager }, delivery) => ({
		onRestored: async (ids) => {
			await Promise.resolve(); // it has to look first
			for (const record of manager.store.currentRecords()) if (ids.has(record.id)) delivery().silence(record);
		},
	}));
	expect(it.received).toEqual([]);
	expect(kinds(entries)).toEqual(["launched", "settled", "closed"]);
	expect(it.manager.store.record(id)).toMatchObject({ outcome: { by: "shutdown" } });
});

test("what another process launched after this one opened the session is taken over when that process ends", async () => {
	const entries: SessionEntry[] = [];
	const first = await open(entries);
	const before = first.launch().id;
	let isFree = false;
	const inherited: string[][] = [];
	const read = structuredClone(entries); // as pi has it in memory
	const second = await open(read, ({ log }) => ({
		log: { ...log, reread: async () => entries },
		ownership: { take: async () => isFree, release: () => undefined },
		onRestored: async (ids) => void inherited.push([...ids]),
	}));
	const after = first.launch().id;
	await first.answer(first.launch(false).id, "Two doors."); // its caller has the result
	second.clock.advance(15_000);
	await new Promise((resolve) => setImmediate(resolve));
	expect(inherited).toEqual([]);
	isFree = true; // the first is killed
	second.clock.advance(15_000);
	await expect.poll(() => inherited).toEqual([[before, after]]);
	const ended = { status: "aborted", outcome: { by: "shutdown" } };
	for (const id of [before, after]) expect(second.manager.store.record(id)).toMatchObject(ended);
	expect(second.received).toHaveLength(1);
	expect(second.manager.store.snapshot().records).toHaveLength(2);
});

test("a run that is ended by whoever first hears of it is still launched, then settled in the log", async () => {
	const entries: SessionEntry[] = [];
	const it = await open(entries, ({ manager }) => {
		manager.store.subscribe(({ event }) => {
			if (event.type === "agent_queued") manager.abort(event.agentId, { by: "user" });
		});
		return {};
	});
	it.launch();
	expect(kinds(entries).slice(0, 2)).toEqual(["launched", "settled"]);
	expect(kinds(entries).filter((kind) => kind === "launched")).toHaveLength(1);
});
