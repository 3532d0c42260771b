/** A session whose own file cannot be written: what pi has in memory then depends on its version. */
import { describe, expect, test } from "vitest";
import { open, type SessionFile } from "../fixtures/fake-session.ts";

const written = ({ entries }: SessionFile) => entries.filter(({ isOnlyInMemory }) => !isOnlyInMemory);

const kindsIn = (file: SessionFile) =>
	written(file).map(({ type, data }) => (type === "custom" ? (data as { type: string }).type : type));

const DELIVERED = ["launched", "settled", "custom_message"];

describe.each(["in pi 0.x", "in pi 1.x"] as const)("%s", (isFull) => {
	test("a run that is launched and settles on a full disk is known and delivered once when there is room again", async () => {
		const { file, ...it } = await open();
		file.isFull = isFull;
		const { id } = it.launch();
		await it.answer(id, "Two doors.");
		delete file.isFull;
		it.clock.advance(5_000);
		await it.turn();
		it.clock.advance(60_000);
		expect(kindsIn(file)).toEqual(DELIVERED);
		expect(it.sent).toEqual([{ content: expect.stringContaining("Two doors."), startsTurn: true }]);
		expect(it.told).toContain("recording an agent in the session: ENOSPC: no space left on device, write");
	});

	test("it is known after a reload, too, although there is no room yet", async () => {
		const { file, ...it } = await open();
		file.isFull = isFull;
		const { id } = it.launch();
		await it.turn(() => it.answer(id, "Two doors."));
		await it.shutdown();
		const again = await open(file, { firstId: 2 });
		expect(again.manager.store.record(id)).toMatchObject({ status: "completed" });
		delete file.isFull;
		again.clock.advance(5_000);
		expect(kindsIn(file)).toEqual(DELIVERED);
		expect((await open(file, { firstId: 3 })).sent).toEqual([]);
	});

	test("an agent that the end of the session stops is known to have been stopped", async () => {
		const { file, ...it } = await open();
		const { id } = it.launch();
		file.isFull = isFull;
		await it.shutdown();
		delete file.isFull;
		const again = await open(file, { firstId: 2 });
		expect(kindsIn(file)).toEqual(DELIVERED);
		expect(again.manager.store.record(id)).toMatchObject({ outcome: { status: "aborted", by: "shutdown" } });
	});
});

test("a result whose message pi 0.x had only in its memory is told when the session is opened again", async () => {
	const { file, ...it } = await open();
	const { id } = it.launch();
	await it.turn(async () => {
		await it.answer(id, "Two doors."); // the end is written
		file.isFull = "in pi 0.x";
	});
	expect(it.sent).toHaveLength(1);
	delete file.isFull;
	it.append({ type: "message", customType: "" }); // its parent is not in the file
	await it.shutdown();
	const again = await open({ ...file, entries: written(file) }, { firstId: 2 });
	again.clock.advance(60_000);
	expect(again.sent).toEqual([{ content: expect.stringContaining("Two doors."), startsTurn: false }]);
});

test("what pi 1.x could not write is on the branch that its launch was written to", async () => {
	const { file, ...it } = await open();
	it.append({ type: "message", customType: "" });
	file.isFull = "in pi 1.x";
	const { id } = it.launch();
	delete file.isFull;
	it.clock.advance(5_000);
	await it.walkTo("e1");
	await it.answer(id, "Two doors.");
	it.clock.advance(60_000);
	expect(it.sent).toEqual([]);
	await it.walkTo("e2");
	expect(it.sent).toHaveLength(1);
});

test("a message that another extension changes on its way has arrived all the same", async () => {
	const { file, ...it } = await open();
	const { id } = it.launch();
	await it.turn(() => it.answer(id, "Two doors."));
	const [message] = file.entries.slice(-1);
	if (message) message.details = { ...Object(message.details), seenBy: "others" };
	for (let minutes = 0; minutes < 5; minutes++) {
		await it.turn();
		it.clock.advance(60_000);
	}
	expect(it.sent).toHaveLength(1);
});

test.each([
	["starts a turn", "model"],
	["starts no turn", "user"],
] as const)(
	"a message that %s and that pi 1.x dropped is sent again, less and less often",
	async (_what, launchedBy) => {
		const { file, ...it } = await open();
		const { id } = it.launch("Look around.", launchedBy);
		await it.turn(async () => {
			await it.answer(id, "Two doors.");
			file.isFull = "in pi 1.x"; // the end is written, the message will not be
		});
		expect(it.sent).toHaveLength(1);
		for (let seconds = 0; seconds < 300; seconds++) {
			await it.turn(); // that of the message fails
			it.clock.advance(1_000);
		}
		if (launchedBy === "model") expect(it.sent.length).toBeLessThan(15);
		delete file.isFull;
		it.clock.advance(60_000);
		await it.turn();
		expect(kindsIn(file)).toEqual(DELIVERED);
		const { length } = it.sent;
		it.clock.advance(600_000);
		expect(it.sent).toHaveLength(length);
	},
);
