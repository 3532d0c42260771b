/** Agents that a call waits for, when pi is killed before it has written the result of that call. */
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newFile, open, type SessionFile } from "../fixtures/fake-session.ts";

type Pi = Awaited<ReturnType<typeof open>>;

const LONG = `${"A long story. ".repeat(500)}The end.`;
const HUGE = `${"A huge story. ".repeat(3_000)}The end.`;
const never = new Promise<never>(() => undefined);

async function runsDir(): Promise<string> {
	const root = await mkdtemp(join(await realpath(tmpdir()), "pi-unanswered-"));
	onTestFinished(() => rm(root, { recursive: true, force: true }));
	const dir = join(root, ".pi", "subagents", "runs");
	await mkdir(dir, { recursive: true, mode: 0o700 });
	return dir;
}

/** Agents whose calls belong to one message. */
async function waitedFor(callIds: readonly string[], file = newFile(), disk?: Promise<unknown>) {
	const it = await open(file, { runsDir: await runsDir(), ...(disk ? { disk } : {}) });
	const agents = it.call(...callIds);
	onTestFinished(() => it.written()); // before its directory is deleted
	return { it, file, ids: agents.map(({ id }) => id) };
}

const dataIn = (file: SessionFile) => file.entries.map(({ data }) => data as Record<string, unknown> | undefined);
const settledIn = (file: SessionFile) => dataIn(file).filter((data) => data?.type === "settled");
const textOf = (pi: Pi, id: string) => {
	const outcome = pi.manager.store.record(id)?.outcome;
	return outcome?.status === "completed" ? outcome.text : outcome?.status;
};
/** What another pi sends that opens the session after this one was killed. */
async function next(file: SessionFile) {
	const pi = await open(file, { firstId: 50 });
	return { pi, told: pi.sent };
}

test("the session holds the answer before its call has a result, and before any file does", async () => {
	const { it, file, ids } = await waitedFor(["one"], newFile(), never);
	await it.turn(async () => {
		await it.answer(ids[0] ?? "", LONG);
		expect(settledIn(file)).toMatchObject([{ status: "completed", text: LONG, characters: LONG.length }]);
	});
});

test("an agent that had answered while another call of the message went on is delivered, once and whole", async () => {
	const { it, file, ids } = await waitedFor(["one", "two"], newFile(), never);
	const [first = "", second = ""] = ids;
	await it.turn(async () => {
		await it.answer(first, LONG);
		const { pi, told } = await next(file);
		expect(told).toEqual([{ content: expect.stringContaining(`<task-id>${first}</task-id>`), startsTurn: false }]);
		expect(textOf(pi, first)).toBe(LONG);
		expect(pi.manager.store.record(second)?.status).not.toBe("completed");
		expect(told[0]?.content).not.toContain(second);
		expect((await next(file)).told).toEqual([]);
	});
});

test("the call of one with a really long answer hears of it when its file, and so the session, holds that", async () => {
	const disk = Promise.withResolvers<void>();
	const { it, file, ids } = await waitedFor(["one"], newFile(), disk.promise);
	const [id = ""] = ids;
	await it.turn(async () => {
		await it.answer(id, HUGE);
		const known = it.journal.untilKnown({ agentId: id, run: 1 }).then(() => settledIn(file));
		const soon = new Promise((resolve) => setImmediate(() => resolve("not yet")));
		expect(await Promise.race([known, soon])).toBe("not yet");
		disk.resolve();
		expect(await known).toEqual([expect.not.objectContaining({ text: expect.anything() })]);
		const { pi, told } = await next(file);
		expect(told).toEqual([{ content: expect.stringContaining(`${id}/result.json`), startsTurn: false }]);
		expect(textOf(pi, id)).toBe(HUGE);
	});
});

test("a disk that is too slow keeps no call waiting", async () => {
	const { it, file, ids } = await waitedFor(["one"], newFile(), never);
	const [id = ""] = ids;
	await it.turn(async () => {
		await it.answer(id, HUGE);
		const known = it.journal.untilKnown({ agentId: id, run: 1 });
		it.clock.advance(2_000);
		await known;
		expect(settledIn(file)).toMatchObject([{ text: HUGE }]);
	});
});

test("one whose end the session does not know yet is found in its files", async () => {
	const { it, file, ids } = await waitedFor(["one"], newFile(), never);
	const [id = ""] = ids;
	await it.turn(async () => {
		await it.answer(id, HUGE);
		await it.written();
		expect(settledIn(file)).toEqual([]);
		const { pi, told } = await next(file);
		expect(told).toEqual([{ content: expect.stringContaining("<status>completed</status>"), startsTurn: false }]);
		expect(textOf(pi, id)).toBe(HUGE);
	});
});

test("one that failed is delivered too; one that was stopped, or ended with pi, is only listed", async () => {
	const { it, file, ids } = await waitedFor(["one", "two", "three"], newFile(), never);
	const [failed = "", stopped = "", running = ""] = ids;
	await it.turn(async () => {
		it.run(failed)?.settle({ status: "failed", error: "no doors" });
		await it.manager.wait(failed);
		it.manager.abort(stopped, { by: "user" });
		await it.manager.wait(stopped);
		const { pi, told } = await next(file);
		expect(told).toHaveLength(1);
		expect(told[0]?.content).toContain("no doors");
		for (const id of [stopped, running]) {
			expect(told[0]?.content).not.toContain(`<task-id>${id}</task-id>`);
			expect(pi.manager.store.record(id)?.status).toBe("aborted");
		}
	});
});

test.each([
	["whose call has a result", (it: Pi) => it.callEnded("one")],
	[
		"that a script launched: its own call is not in the session",
		(_it: Pi, file: SessionFile) => void file.entries.shift(),
	],
])("nothing is delivered of one %s", async (_which, happens) => {
	const { it, file, ids } = await waitedFor(["one"], newFile(), never);
	await it.turn(async () => {
		await it.answer(ids[0] ?? "", LONG);
		happens(it, file);
		expect((await next(file)).told).toEqual([]);
	});
});

test("a session that is opened in the middle of a turn, as by a reload, waits for the results of its calls", async () => {
	const { it, file, ids } = await waitedFor(["one", "two"], newFile(), never);
	await it.turn(async () => {
		await it.answer(ids[0] ?? "", LONG);
		const pi = await open(file, { firstId: 50, isLate: true });
		await pi.turn(() => pi.start());
		expect(pi.sent).toEqual([]);
	});
});

test.each([
	{ happens: "pi wrote the result of that call", told: 0 },
	{ happens: "pi was killed before", told: 1 },
])("a background result that a call has read is delivered $told times if $happens", async ({ told }) => {
	const file = newFile();
	const it = await open(file);
	await it.turn(async () => {
		const { id } = it.launch();
		await it.answer(id, "Two doors.");
		const record = it.manager.store.record(id);
		if (!record) throw new Error("no record");
		it.called("read");
		it.delivery.claim(record, "read");
		if (told === 0) it.callEnded("read");
		expect((await next(file)).told).toHaveLength(told);
		expect((await next(file)).told).toEqual([]);
	});
});
