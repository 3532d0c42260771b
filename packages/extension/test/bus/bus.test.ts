/** What other extensions hear: exactly what the table of events says. */
import { createEventBus } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, Manager } from "@pi-subagents/core";
import { detailsOf } from "@pi-subagents/core/outcome-text";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import { lifecycleChannels } from "@pi-subagents/rpc";
import { busEvents, type FieldDoc } from "@pi-subagents-dev/docs";
import { expect, test, vi } from "vitest";
import { defaultSettings } from "../../../launch/test/fixture.ts";
import { publishEvents } from "../../src/bus/bus.ts";
import { newFile, open, spec } from "../fixtures/fake-session.ts";

type Heard = { event: keyof typeof lifecycleChannels; payload: Record<string, unknown> };

/** A pi process, and everything that is said on its bus from now on. */
async function listening(file = newFile(), options: Parameters<typeof open>[1] = {}) {
	const it = await open(file, { isLate: true, ...options });
	const heard: Heard[] = [];
	for (const [event, channel] of Object.entries(lifecycleChannels))
		if (event !== "entry" && event !== "delta")
			// see live.test.ts
			it.events.on(channel, (payload) => heard.push({ event, payload } as Heard));
	await it.start();
	const of = (event: Heard["event"]) => heard.filter((each) => each.event === event).map(({ payload }) => payload);
	return { ...it, heard, of };
}

const news = { id: "a1", type: "scout", description: "look around", depth: 1 };
const usage = { input: 100, output: 20, cacheRead: 1_000, cacheWrite: 5, cost: 0.25 };

test.each([3_600_000, -3_600_000])(
	"changing the clock while an agent works changes no published duration: %d",
	async (jumpMs) => {
		const file = newFile();
		const it = await listening(file);
		it.clock.set(10 * 3_600_000);
		const { id } = it.launch();
		it.clock.advance(1_500.6);
		it.clock.set(jumpMs);
		await it.answer(id, "Two doors.");
		expect(it.of("completed")).toMatchObject([{ durationMs: 1_501 }]);
		expect(detailsOf(it.manager.store.record(id) as AgentRecord).durationMs).toBe(1_501);
		expect(JSON.stringify(file)).toContain('"durationMs":1501');
		expect(JSON.stringify(it.sent)).toContain("<duration_ms>1501</duration_ms>");
	},
);

test("the life of an agent is told with all that version 2 has, and more", async () => {
	const it = await listening();
	const { id } = it.launch();
	it.manager.steer(id, "Look in src.");
	it.run(id)?.emit({ type: "tool_call", tool: "read", args: {} });
	it.run(id)?.emit({ type: "usage", usage });
	it.run(id)?.emit({ type: "compacted", ok: false });
	it.run(id)?.emit({ type: "compacted", ok: true, reason: "threshold", tokensBefore: 9_000 });
	it.clock.advance(1_500);
	await it.answer(id, "Two doors.");
	expect(it.heard).toEqual([
		{ event: "ready", payload: {} },
		{ event: "created", payload: { ...news, isBackground: true } },
		{ event: "started", payload: news },
		{ event: "steered", payload: { id, message: "Look in src." } },
		{
			event: "compacted",
			payload: { ...news, reason: "threshold", tokensBefore: 9_000, compactionCount: 1 },
		},
		{
			event: "completed",
			payload: {
				...news,
				result: "Two doors.",
				status: "completed",
				toolUses: 1,
				durationMs: 1_500,
				tokens: { input: 100, output: 20, total: 125 },
				usage: expect.objectContaining({ input: 100, cacheRead: 1_000, totalTokens: 1_125 }),
				outcome: { status: "completed", text: "Two doors." },
			},
		},
	]);
});

test.each([
	[
		{ status: "failed", error: "no key", partialText: "half" },
		{ status: "error", error: "no key", result: "half" },
	],
	[
		{ status: "aborted", by: "user" },
		{ status: "stopped", error: "Stopped by you" },
	],
	[
		{ status: "aborted", by: "turns", partialText: "half" },
		{ status: "aborted", result: "half" },
	],
] as const)("%j is told as failed, in the words of version 2", async (outcome, told) => {
	const it = await listening();
	const { id } = it.launch();
	it.run(id)?.settle(outcome);
	await it.manager.wait(id);
	expect(it.of("completed")).toEqual([]);
	expect(it.of("failed")).toEqual([expect.objectContaining({ id, ...told, outcome })]);
});

test("an answer that was asked for as data is told as data, and what listeners do to it stays with them", async () => {
	const it = await listening();
	it.events.on(lifecycleChannels.completed, (payload) => {
		(payload as { structured: { files: string[] } }).structured.files.push("mine");
	});
	const { id } = it.launch();
	const structured = { ok: true as const, data: { files: ["a.ts"] }, preview: "1 file" };
	it.run(id)?.settle({ status: "completed", text: "{}", structured });
	const outcome = await it.manager.wait(id);
	expect(it.of("completed")[0]?.structured).toEqual({ files: ["a.ts", "mine"] });
	expect(outcome).toMatchObject({ structured: { data: { files: ["a.ts"] } } });
});

test("agents of agents are told of, too, and say whose they are", async () => {
	const it = await listening();
	const { id } = it.launch();
	it.manager.spawn({ ...spec, type: "helper" }, { parentAgentId: id });
	expect(it.of("created")[1]).toMatchObject({ id: "a2", type: "helper", depth: 2, parentAgentId: id });
	expect(it.of("started")[1]).toMatchObject({ id: "a2", parentAgentId: id });
});

test("a clock that is set back keeps nothing from being told", async () => {
	const events = createEventBus();
	const clock = handClock(5_000);
	const manager = new Manager({ runners: { session: fakeRunner() }, clock: handClock(1_000), newId: () => "a1" });
	publishEvents({ events }, { manager, host: { warn: () => undefined }, clock });
	const heard: unknown[] = [];
	events.on("subagents:created", (news) => void heard.push(news));
	manager.spawn(spec);
	expect(heard).toMatchObject([{ id: "a1" }]);
});

test("nor does it keep the end of one that outlives the session from being told", async () => {
	const events = createEventBus();
	const clock = handClock(10_000_000);
	const runner = fakeRunner();
	const manager = new Manager({ runners: { session: runner }, clock, newId: () => "a1" });
	publishEvents({ events }, { manager, host: { warn: () => undefined }, clock });
	const heard: unknown[] = [];
	for (const what of ["created", "completed"]) events.on(`subagents:${what}`, () => void heard.push(what));
	manager.spawn({ ...spec, outlives: true }, { isBackground: true });
	clock.advance(1_000);
	clock.set(-5_000_000);
	runner.runs[0]?.answer("Two doors.");
	await manager.wait("a1");
	expect(heard).toEqual(["created", "completed"]);
});

test("a resumed agent is started again, but not created", async () => {
	const it = await listening();
	const { id } = it.launch();
	await it.answer(id, "Two doors.");
	it.manager.resume(id, spec);
	expect([it.of("created").length, it.of("started").length]).toEqual([1, 2]);
});

test("a resumed agent that is stopped in the queue has failed, without a word that it began", async () => {
	const it = await listening();
	const { id } = it.launch();
	await it.answer(id, "Two doors.");
	it.manager.setSlots({ maxConcurrent: 1, whenFull: "queue" });
	it.launch();
	it.manager.resume(id, spec);
	it.manager.abort(id, { by: "user" });
	expect(it.heard.filter(({ payload }) => payload.id === id).map(({ event }) => event)).toEqual([
		...["created", "started", "completed"],
		...["failed", "resumed"],
	]);
});

test("what a session remembers is not told when it is opened again", async () => {
	const file = newFile();
	const first = await open(file);
	const { id } = first.launch();
	await first.answer(id, "Two doors.");
	first.launch(); // it ends with the process
	const again = await listening(file, { firstId: 3 });
	expect(again.manager.store.snapshot().records).toHaveLength(2);
	expect(again.heard).toEqual([{ event: "ready", payload: {} }]);
});

test("settings are told when they are read first, and when they have changed", async () => {
	const it = await listening();
	const settings = defaultSettings();
	it.bus.settings(settings);
	it.bus.settings({ ...settings });
	it.bus.settings({ ...settings, maxConcurrent: 3 });
	expect(it.of("settings_loaded")).toEqual([{ settings }]);
	expect(it.of("settings_changed")).toEqual([{ settings: { ...settings, maxConcurrent: 3 }, persisted: true }]);
});

test("a listener that throws harms neither the agent nor the session", async () => {
	const complaints = vi.spyOn(console, "error").mockImplementation(() => undefined); // pi's bus says so there
	const it = await listening();
	it.events.on(lifecycleChannels.completed, () => {
		throw new Error("mine");
	});
	const { id } = it.launch();
	await it.answer(id, "Two doors.");
	await it.turn();
	expect(it.sent).toEqual([{ content: expect.stringContaining("Two doors."), startsTurn: true }]);
	expect(complaints).toHaveBeenCalledOnce();
	complaints.mockRestore();
});

test("everything that is told has words in the documentation, and of its type", async () => {
	const it = await listening();
	const { id } = it.launch();
	it.manager.spawn(spec, { parentAgentId: id });
	it.manager.steer(id, "Look in src.");
	it.run(id)?.emit({ type: "usage", usage });
	it.run(id)?.emit({ type: "compacted", ok: true, reason: "threshold", tokensBefore: 9_000 });
	it.manager.abort("a2", { by: "user" });
	await it.answer(id, "Two doors.");
	it.manager.resume(id, spec);
	await it.answer(id, "Three doors.");
	expect(it.of("resumed")).toEqual([it.of("completed").at(-1)]);
	it.bus.settings(defaultSettings());
	it.bus.settings({ ...defaultSettings(), maxConcurrent: 3 });
	for (const { event, payload } of it.heard) {
		const fields: Readonly<Record<string, FieldDoc>> = busEvents[event].fields;
		expect(Object.keys(fields), event).toEqual(expect.arrayContaining(Object.keys(payload)));
		for (const [name, { type, isOptional }] of Object.entries(fields)) {
			if (!isOptional) expect(payload, event).toHaveProperty(name);
			if (name in payload && /^(string|number|boolean)$/.test(type)) expect(typeof payload[name], name).toBe(type);
		}
	}
	// Schedules and the sessions of children are told elsewhere; tests in real pi hear those.
	const elsewhere = [
		"entry",
		"delta",
		"scheduled",
		"scheduler_ready",
		"child:session-created",
		"child:bound",
		"child:disposed",
	];
	const told = new Set<string>(it.heard.map(({ event }) => event));
	expect([...told, ...elsewhere].sort()).toEqual(Object.keys(busEvents).sort());
});
