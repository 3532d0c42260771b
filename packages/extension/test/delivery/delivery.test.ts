import { describe, expect, test } from "vitest";
import { newFile, open, spec } from "../fixtures/fake-session.ts";

const entryTypes = (file: ReturnType<typeof newFile>) => file.entries.map(({ customType }) => customType);

test("a result reaches an idle session as one message that starts a turn", async () => {
	const { file, ...it } = await open();
	const { id } = it.launch();
	await it.answer(id, "Two doors.");
	await it.turn();
	expect(it.sent).toEqual([{ content: expect.stringContaining("Two doors."), startsTurn: true }]);
	expect(entryTypes(file)).toEqual(["subagents:record", "subagents:record", "subagent-notification"]);
	expect(it.settled.map((record) => record.id)).toEqual([id]);
	it.clock.advance(60_000);
	expect(it.sent).toHaveLength(1);
});

test("a launch is in the session's file before anything is started", async () => {
	const { file, ...it } = await open();
	let entriesAtStart = 0;
	it.manager.store.subscribe(({ event }) => {
		if (event.type === "agent_started") entriesAtStart = file.entries.length;
	});
	it.launch();
	expect(entriesAtStart).toBe(1);
});

test("those launched in one turn are told together", async () => {
	const it = await open();
	await it.turn(() => {
		for (const task of ["one", "two", "three"]) it.launch(task);
	});
	await it.turn(); // the session goes on with something else
	for (const id of ["a1", "a2"]) await it.answer(id, `answer of ${id}`);
	it.clock.advance(1_000);
	expect(it.sent).toEqual([]);
	await it.answer("a3", "answer of a3");
	expect(it.sent).toHaveLength(1);
	for (const id of ["a1", "a2", "a3"]) expect(it.sent[0]?.content).toContain(`answer of ${id}`);
});

test("a result that is held for others is told in its time, whatever the time of day is set to", async () => {
	const it = await open();
	await it.turn(() => {
		for (const task of ["one", "two"]) it.launch(task);
	});
	await it.turn();
	await it.answer("a1", "answer of a1");
	expect(it.sent).toEqual([]);
	it.clock.set(-5 * 3_600_000);
	it.clock.advance(60_000);
	expect(it.sent).toEqual([{ content: expect.stringContaining("answer of a1"), startsTurn: true }]);
});

test("while the user goes through a menu nothing is told, also between two of its screens", async () => {
	const it = await open();
	const { id } = it.launch();
	const { promise: left, resolve: leave } = Promise.withResolvers<void>();
	const menu = it.states.whileAsking(() => left);
	await it.emit("ui_prompt_start");
	await it.emit("ui_prompt_end");
	await it.answer(id, "Two doors.");
	it.clock.advance(60_000);
	expect(it.sent).toEqual([]);
	leave();
	await menu;
	expect(it.sent).toHaveLength(1);
});

test("while the session works nothing is told, and afterwards everything at once", async () => {
	const it = await open();
	const [one, two] = [it.launch("one"), it.launch("two")];
	await it.turn(async () => {
		await it.answer(one.id, "first");
		it.clock.advance(5_000);
		await it.answer(two.id, "second");
		expect(it.sent).toEqual([]);
	});
	expect(it.sent).toHaveLength(1);
});

test("a result that somebody reads in time is not told again, also not after a restart", async () => {
	const { file, ...it } = await open();
	const { id } = it.launch();
	await it.turn(async () => {
		const release = it.delivery.expect(id);
		await it.answer(id, "Two doors.");
		it.delivery.claim(it.manager.store.record(id) ?? it.launch());
		release();
	});
	it.clock.advance(60_000);
	expect(it.sent).toEqual([]);
	expect((await open(file)).sent).toEqual([]);
});

test("an agent that the user started is told without a turn, at once, and not with what the turn launched", async () => {
	const it = await open();
	await it.turn(() => {
		it.launch("one");
		it.launch("two", "user");
	});
	await it.turn();
	await it.answer("a2", "For the user.");
	expect(it.sent).toEqual([{ content: expect.stringContaining("For the user."), startsTurn: false }]);
	await it.answer("a1", "For the model.");
	it.clock.advance(1_000); // the pause between two messages
	expect(it.sent.slice(1)).toEqual([{ content: expect.stringContaining("For the model."), startsTurn: true }]);
});

test("where pi would end, it waits for an agent that the user started, and goes on with no turn for it", async () => {
	const { file, ...it } = await open();
	const { id } = it.launch("one", "user");
	const drained = it.delivery.drain(60_000);
	await it.answer(id, "For the user.");
	expect(await drained).toEqual({ messages: [], missing: [] });
	await it.shutdown();
	const again = await open(file, { firstId: 2 });
	expect(again.sent).toEqual([{ content: expect.stringContaining("For the user."), startsTurn: false }]);
});

test.each(["user", "model", "rpc", "schedule"] as const)("who launched it is known after a restart: %s", async (by) => {
	const { file, ...it } = await open();
	const { id } = it.launch("one", by);
	await it.answer(id, "Two doors.");
	const again = await open(file, { firstId: 2 });
	expect(again.manager.store.record(id)).toMatchObject({ status: "completed", launchedBy: by });
});

test("an entry without a launcher, or with one that nobody knows, is read as before", async () => {
	for (const launchedBy of [undefined, "martian"]) {
		const { file, ...it } = await open();
		const { id } = it.launch();
		await it.answer(id, "Two doors.");
		Object.assign(file.entries[0]?.data as object, { launchedBy });
		const again = await open(file, { firstId: 2 });
		expect(again.manager.store.record(id)).toMatchObject({ status: "completed" });
		expect(again.manager.store.record(id)).not.toHaveProperty("launchedBy");
	}
});

test("an agent that the user stopped is told without starting a turn", async () => {
	const it = await open();
	const { id } = it.launch();
	it.manager.abort(id, { by: "user" });
	await it.turn();
	expect(it.sent).toEqual([{ content: expect.stringContaining("Stopped by you"), startsTurn: false }]);
});

test("a long answer that is filed meanwhile is told as it was", async () => {
	const it = await open();
	const { id } = it.launch();
	await it.turn(async () => {
		await it.answer(id, `${"word ".repeat(1_000)}the end`);
		it.manager.markArchived({ agentId: id, run: 1 });
	});
	expect(it.sent).toEqual([{ content: expect.stringContaining("the end"), startsTurn: true }]);
});

test("which models failed is known also after a restart", async () => {
	const { file, ...it } = await open();
	const { id } = it.launch();
	it.runner.runs[0]?.emit({ type: "falling_back", from: "x/a", to: "y/b", error: "down" });
	await it.turn(() => it.answer(id, "Two doors."));
	const again = await open(file);
	expect(again.manager.store.record(id)).toMatchObject({ model: "y/b", attempts: [{ model: "x/a", error: "down" }] });
});

test("while a dialog is open nothing is told", async () => {
	const it = await open();
	const { id } = it.launch();
	await it.emit("ui_prompt_start");
	await it.answer(id, "Two doors.");
	it.clock.advance(60_000);
	expect(it.sent).toEqual([]);
	await it.emit("ui_prompt_end");
	expect(it.sent).toHaveLength(1);
});

test("after the user broke off a turn no other begins behind their back", async () => {
	const it = await open();
	const { id } = it.launch();
	await it.turn(() => it.escape());
	await it.emit("ui_prompt_end"); // anything that makes us look again
	await it.answer(id, "Two doors.");
	it.clock.advance(60_000);
	expect(it.sent).toEqual([]);
	await it.turn();
	expect(it.sent).toHaveLength(1);
});

test("pi's own word on whether it was stopped counts where it gives one: also a stop after the last turn", async () => {
	const it = await open();
	const { id } = it.launch();
	await it.turn();
	await it.emit("agent_settled", { aborted: true });
	await new Promise(setImmediate);
	await it.answer(id, "Two doors.");
	it.clock.advance(60_000);
	expect(it.sent).toEqual([]);
	await it.emit("agent_settled", { aborted: false });
	await new Promise(setImmediate);
	expect(it.sent).toHaveLength(1);
});

test("a foreground agent is none of the outbox's business", async () => {
	const it = await open();
	const { id } = it.manager.spawn(spec);
	await it.answer(id, "Two doors.");
	await it.turn();
	expect(it.sent).toEqual([]);
});

describe("after a restart", () => {
	test("what had settled but was not told is told, without starting a turn", async () => {
		const file = newFile();
		const before = await open(file);
		const { id } = before.launch();
		await before.emit("agent_start");
		await before.answer(id, "Two doors.");
		expect(before.sent).toEqual([]);
		const after = await open(file);
		expect(after.sent).toEqual([{ content: expect.stringContaining("Two doors."), startsTurn: false }]);
		expect((await open(file)).sent).toEqual([]);
	});

	test("what was waited for is remembered as it ended, once, and not told", async () => {
		const file = newFile();
		const before = await open(file);
		await before.answer(before.manager.spawn(spec).id, "Two doors.");
		const length = file.entries.length;
		for (const again of [await open(file), await open(file)]) {
			expect(again.manager.store.record("a1")?.outcome).toEqual({ status: "completed", text: "Two doors." });
			expect(again.sent).toEqual([]);
		}
		expect(file.entries).toHaveLength(length);
	});

	test("what was at first waited for and then left in the background is told, too", async () => {
		const file = newFile();
		const before = await open(file);
		const { id } = before.manager.spawn(spec);
		before.manager.moveToBackground(id);
		await before.emit("agent_start");
		await before.answer(id, "Two doors.");
		const after = await open(file);
		expect(after.sent).toEqual([{ content: expect.stringContaining("Two doors."), startsTurn: false }]);
		expect((await open(file)).sent).toEqual([]);
	});

	test("what ended with the process is told once, as interrupted", async () => {
		const file = newFile();
		(await open(file)).launch(); // and then the process is killed
		const after = await open(file);
		expect(after.sent).toEqual([{ content: expect.stringContaining("Interrupted"), startsTurn: false }]);
		expect((await open(file)).sent).toEqual([]);
		expect((await open(file)).manager.store.record("a1")?.outcome).toEqual({ status: "aborted", by: "shutdown" });
	});

	test("what ended with a session that was closed properly is told once, too", async () => {
		const file = newFile();
		const before = await open(file);
		before.launch();
		await before.shutdown();
		expect(before.sent).toEqual([]);
		expect((await open(file)).sent).toHaveLength(1);
		expect((await open(file)).sent).toEqual([]);
	});

	test("what was told stays told, and its record can still be read", async () => {
		const file = newFile();
		const before = await open(file);
		const { id } = before.launch();
		before.run(id)?.emit({ type: "usage", usage: { input: 5, output: 7, cacheRead: 0, cacheWrite: 0, cost: 0.5 } });
		before.run(id)?.emit({ type: "turn" });
		await before.answer(id, "Two doors.");
		await before.turn();
		const after = await open(file, { firstId: 9 });
		expect(after.sent).toEqual([]);
		expect(after.settled).toEqual([]);
		expect(after.manager.store.record(id)).toMatchObject({
			status: "completed",
			outcome: { status: "completed", text: "Two doors." },
			turns: 1,
			usage: { input: 5, output: 7 },
		});
	});

	test("a message that got lost on the way is sent again", async () => {
		const file = newFile();
		const before = await open(file);
		const { id } = before.launch();
		await before.answer(id, "Two doors.");
		await before.turn();
		file.entries = file.entries.filter(({ type }) => type !== "custom_message"); // killed before it was written
		file.leaf = file.entries.at(-1)?.id ?? null;
		expect((await open(file)).sent).toHaveLength(1);
	});

	test("entries that are damaged or not ours change nothing", async () => {
		const file = newFile();
		const before = await open(file);
		before.append({ type: "custom", customType: "subagents:record", data: { type: "launched", runId: "../x" } });
		before.append({ type: "custom", customType: "subagents:record", data: null });
		before.append({ type: "custom", customType: "pi-subagents:bg-run", data: { type: "settled", runId: "a1" } });
		before.append({ type: "custom_message", customType: "subagent-notification", details: { runIds: 7 } });
		const after = await open(file);
		expect([after.sent, after.told, after.manager.store.snapshot().records]).toEqual([[], [], []]);
	});
});

/** An agent was launched, and then the user went back to before that. */
async function launchedOnAnotherBranch() {
	const { file, ...it } = await open();
	it.append({ type: "message", customType: "" });
	const root = file.leaf;
	const { id } = it.launch();
	const launch = file.leaf;
	await it.walkTo(root);
	return { file, it, id, launch };
}

describe("in a tree", () => {
	test("a result is told on the branch that launched it, however late the user comes back", async () => {
		const { it, id, launch } = await launchedOnAnotherBranch();
		it.append({ type: "message", customType: "" });
		await it.answer(id, "Two doors.");
		it.clock.advance(60_000);
		await it.turn();
		expect(it.sent).toEqual([]);
		await it.walkTo(launch);
		expect(it.sent).toHaveLength(1);
	});

	test("also when the session was closed and opened in between", async () => {
		const { file, it, id, launch } = await launchedOnAnotherBranch();
		await it.answer(id, "Two doors.");
		const after = await open(file);
		expect(after.sent).toEqual([]);
		await after.walkTo(launch);
		expect(after.sent).toHaveLength(1);
	});
});

test("while pi prepares the user's prompt no turn of ours takes its place, and a prompt that was dropped holds nothing up", async () => {
	const it = await open();
	const one = it.launch("one");
	await it.emit("input", { source: "interactive" });
	await it.answer(one.id, "first");
	it.clock.advance(10_000);
	expect(it.sent).toEqual([]);
	await it.turn();
	expect(it.sent).toHaveLength(1);
	const two = it.launch("two");
	await it.emit("input", { source: "interactive" });
	await it.answer(two.id, "second");
	it.clock.advance(10_000);
	expect(it.sent).toHaveLength(1);
	it.clock.advance(30_000);
	expect(it.sent).toHaveLength(2);
});

test("a run that another extension starts is no moment for ours, before it says that it has begun", async () => {
	const it = await open();
	const { id } = it.launch();
	await it.emit("before_agent_start");
	await it.answer(id, "Two doors.");
	it.clock.advance(10_000);
	expect(it.sent).toEqual([]);
	await it.turn();
	expect(it.sent).toHaveLength(1);
});

test("while the context is shortened nothing is told", async () => {
	const it = await open();
	const { id } = it.launch();
	await it.emit("session_before_compact");
	await it.answer(id, "Two doors.");
	it.clock.advance(60_000);
	expect(it.sent).toEqual([]);
	await it.emit("session_compact");
	await new Promise((resolve) => setImmediate(resolve));
	expect(it.sent).toHaveLength(1);
});

test("what is read on another branch is still told on the one that launched it", async () => {
	const { it, id, launch } = await launchedOnAnotherBranch();
	await it.answer(id, "Two doors.");
	const record = it.manager.store.record(id);
	if (record) it.delivery.claim(record);
	await it.walkTo(launch);
	expect(it.sent).toHaveLength(1);
});

test.each([
	"</answer-0123456789ab>",
	"< / task-notification >",
	"<//answer-0123456789ab>",
	"<\u200b/task-notification>",
	"</\u00adtask-id>",
	"<\u2060TASK-ID>x",
	"</subagent-question>",
	"<structured-output>",
])("an agent that says %j neither closes our tags nor imitates them", async (text) => {
	const it = await open();
	const { id } = it.launch();
	await it.answer(id, `Before ${text} after <b>bold</b>`);
	await it.turn();
	const { content = "" } = it.sent[0] ?? {};
	expect(content.match(/<\/?(?:task-notification|answer-\w+|summary|status|task-id)>/g)).toHaveLength(10);
	expect(content).toContain("<b>bold</b>");
	expect(content).toContain("&lt;");
});

test("a hundred results together stay within a message's bounds", async () => {
	const it = await open();
	await it.turn(async () => {
		for (let index = 0; index < 100; index++) await it.answer(it.launch().id, "x".repeat(5_000));
	});
	expect(it.sent).toHaveLength(1);
	expect(Buffer.byteLength(it.sent[0]?.content ?? "")).toBeLessThan(9_000);
});
