/** Answers that were not told when pi ended: whichever way it ended, the next one has all of them. */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wholeOutcome, writeResult } from "@pi-subagents/runs";
import { expect, onTestFinished, test } from "vitest";
import { newFile, open, type SessionFile, spec } from "../fixtures/fake-session.ts";

const LONG = `${"A long story. ".repeat(1_000)}The end.`;
const HUGE = `${"A huge story. ".repeat(3_000)}The end.`;
/** More than an entry of the session may hold. */
const ENDLESS = `${"An endless story. ".repeat(60_000)}The end.`;
const never = new Promise<never>(() => undefined);

async function runsDir(): Promise<string> {
	const root = await mkdtemp(join(await realpath(tmpdir()), "pi-whole-"));
	onTestFinished(() => rm(root, { recursive: true, force: true }));
	const dir = join(root, ".pi", "subagents", "runs");
	await mkdir(dir, { recursive: true, mode: 0o700 });
	return dir;
}

const settledIn = ({ entries }: SessionFile) =>
	entries.map(({ data }) => data as Record<string, unknown> | undefined).filter((data) => data?.type === "settled");

test("the session learns of a long answer when its file holds it, and the message names the file", async () => {
	const [file, dir] = [newFile(), await runsDir()];
	const disk = Promise.withResolvers<void>();
	const it = await open(file, { runsDir: dir, disk: disk.promise });
	const { id } = it.launch();
	await it.answer(id, LONG);
	await it.turn();
	expect([settledIn(file), it.sent]).toEqual([[], []]);
	disk.resolve();
	await expect.poll(() => it.sent).toHaveLength(1);
	const path = join(dir, id, "result.json");
	expect(settledIn(file)).toEqual([expect.not.objectContaining({ text: expect.anything() })]);
	expect(settledIn(file)).toMatchObject([{ characters: LONG.length, resultPath: path }]);
	expect(it.sent[0]?.content).toContain(`<rest>8,008 more characters: get_subagent_result ${id}, or ${path}</rest>`);
	expect(JSON.parse(await readFile(path, "utf8")).outcome.text).toBe(LONG);
});

test.each([
	["ends", (it: Awaited<ReturnType<typeof open>>) => it.emit("session_shutdown")],
	["has a disk that is too slow", async (it: Awaited<ReturnType<typeof open>>) => it.clock.advance(2_000)],
])("a pi that %s before the file is there has the answer in the session instead", async (_how, happens) => {
	const file = newFile();
	const it = await open(file, { runsDir: await runsDir(), disk: never });
	const { id } = it.launch();
	await it.turn(async () => {
		await it.answer(id, LONG);
		await happens(it);
		expect(settledIn(file)).toMatchObject([{ text: LONG, characters: LONG.length }]);
		await it.written();
		await rm(String(settledIn(file)[0]?.resultPath));
		const next = await open(file);
		expect(next.manager.store.record(id)?.outcome).toEqual({ status: "completed", text: LONG });
		expect(next.sent).toHaveLength(1);
		expect(next.sent[0]?.content).toContain(`<rest>8,008 more characters: get_subagent_result ${id}</rest>`);
	});
});

test.each([
	["ends", (it: Awaited<ReturnType<typeof open>>) => it.emit("session_shutdown")],
	["has a disk that is too slow", async (it: Awaited<ReturnType<typeof open>>) => it.clock.advance(2_000)],
])(
	"so does one that %s, however long the answer is, and its answer is whole if it is killed then",
	async (_how, happens) => {
		const file = newFile();
		const it = await open(file, { runsDir: await runsDir(), disk: never });
		const { id } = it.launch();
		await it.turn(async () => {
			await it.answer(id, HUGE);
			expect(settledIn(file)).toEqual([]); // a next pi would look for the file
			await happens(it);
			await it.written();
			await rm(String(settledIn(file)[0]?.resultPath));
			const next = await open(file);
			expect(next.manager.store.record(id)?.outcome).toEqual({ status: "completed", text: HUGE });
			expect(next.sent[0]?.content).not.toContain("lost");
		});
	},
);

test("an answer as data, which a command printed, is whole as well", async () => {
	const file = newFile();
	const it = await open(file, { runsDir: await runsDir(), disk: never });
	const { id } = it.launch();
	const data = { doors: Array.from({ length: 5_000 }, (_, door) => `door ${door}`) };
	const outcome = {
		status: "completed" as const,
		text: "Done.",
		structured: { ok: true as const, data, preview: "{…}" },
	};
	await it.turn(async () => {
		it.run(id)?.settle(outcome);
		await it.manager.wait(id);
		expect(settledIn(file)).toEqual([]); // too long to be in the session beside its file
		it.clock.advance(2_000);
		await it.written();
		await rm(String(settledIn(file)[0]?.resultPath));
		expect((await open(file)).manager.store.record(id)?.outcome).toEqual(outcome);
	});
});

test("an answer that no entry can hold waits for the disk, and the next pi looks for its file", async () => {
	const [file, dir] = [newFile(), await runsDir()];
	const it = await open(file, { runsDir: dir, disk: never });
	const { id } = it.launch();
	await it.turn(async () => {
		await it.answer(id, ENDLESS);
		it.clock.advance(60_000);
		expect(settledIn(file)).toEqual([]);
		const ended = it.emit("session_shutdown");
		await new Promise((resolve) => setImmediate(resolve)); // what listens to it has heard it
		it.clock.advance(2_000);
		await ended;
		expect(settledIn(file)).toEqual([]);
		await it.written();
		const next = await open(file);
		expect(next.manager.store.record(id)?.outcome).toEqual({ status: "completed", text: ENDLESS });
		expect(next.sent[0]?.content).toContain(join(dir, id, "result.json"));
	});
});

test("an answer that neither an entry nor a file can hold is reported as missing", async () => {
	const [file, dir] = [newFile(), await runsDir()];
	const disk = Promise.withResolvers<void>();
	const it = await open(file, { runsDir: dir, disk: disk.promise });
	const { id } = it.launch();
	await it.turn(async () => {
		await it.answer(id, ENDLESS);
		await it.written();
		await rm(join(dir, id, "result.json"));
		disk.resolve();
		await expect.poll(() => settledIn(file)).toHaveLength(1);
		const next = await open(file);
		const lost = ENDLESS.length - 1024 * 1024;
		const formatted = lost.toLocaleString("en-US");
		const known = next.manager.store.record(id);
		expect(known?.outcome).toMatchObject({ status: "completed", omitted: lost });
		expect(next.sent[0]?.content).toContain(`${formatted} more characters of it are lost: result.json was not written`);
		const told = known?.outcome && (await wholeOutcome(known, known.outcome));
		expect(JSON.stringify(told)).toContain(`${formatted} more characters of it are lost`);
	});
});

test("the answer of a run in its own process does not wait for the files of those in this one", async () => {
	const [file, dir] = [newFile(), await runsDir()];
	const it = await open(file, { runsDir: dir, disk: never });
	const { id } = it.manager.spawn({ ...spec, runner: "process", runsDir: dir }, { isBackground: true });
	const times = { startedAt: 1, completedAt: 2, turns: 1, toolUses: 0 };
	const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
	const outcome = { status: "completed" as const, text: LONG };
	await mkdir(join(dir, id), { mode: 0o700 });
	const about = { runId: id, agentId: id, run: 1, writtenBy: "wrapper" as const };
	await writeResult(join(dir, id), { format: 1, ...about, outcome, ...times, usage });
	await it.answer(id, LONG);
	await expect.poll(() => it.sent).toHaveLength(1);
	expect(settledIn(file)).toEqual([expect.not.objectContaining({ text: expect.anything() })]);
	expect(it.sent[0]?.content).toContain(join(dir, id, "result.json"));
});

test("a short answer is in the session at once, whole", async () => {
	const file = newFile();
	const it = await open(file, { runsDir: await runsDir(), disk: never });
	const text = LONG.slice(0, 2_000);
	await it.turn(async () => {
		await it.answer(it.launch().id, text);
		expect(settledIn(file)).toMatchObject([{ preview: text.slice(0, 500), text, characters: 2_000 }]);
	});
	await it.written(); // before its directory is deleted
});

test("what an earlier version kept the beginning of is told from its file", async () => {
	const [file, dir] = [newFile(), await runsDir()];
	const it = await open(file, { runsDir: dir });
	const { id } = it.launch();
	await it.turn(async () => {
		await it.answer(id, LONG.slice(-2_000));
		await it.written();
		for (const entry of file.entries) {
			const { text: _all, characters: _count, ...older } = entry.data as Record<string, unknown>;
			entry.data = older;
		}
		const next = await open(file);
		expect(next.sent).toEqual([{ content: expect.stringContaining(LONG.slice(-2_000)), startsTurn: false }]);
	});
});

test("one that had answered when pi was killed has completed, though nobody could write its result", async () => {
	const [file, dir] = [newFile(), await runsDir()];
	const it = await open(file, { runsDir: dir, disk: never });
	it.clock.advance(1_000);
	const { id } = it.launch();
	await it.answer(id, LONG);
	await it.written();
	await rm(join(dir, id, "result.json"));
	const next = await open(file);
	expect(next.sent).toEqual([{ content: expect.stringContaining("<status>completed</status>"), startsTurn: false }]);
	expect(JSON.parse(await readFile(join(dir, id, "result.json"), "utf8")).outcome.text).toBe(LONG);
});

test("a result that is read while it is being written is not told, and the session knows how it ended", async () => {
	const file = newFile();
	const disk = Promise.withResolvers<void>();
	const it = await open(file, { runsDir: await runsDir(), disk: disk.promise });
	const { id } = it.launch();
	await it.answer(id, LONG);
	it.delivery.claim(it.manager.store.record(id) ?? it.launch());
	disk.resolve();
	await expect.poll(() => settledIn(file)).toHaveLength(1);
	it.clock.advance(60_000);
	expect([it.sent, it.settled.length]).toEqual([[], 1]);
	expect((await open(file)).sent).toEqual([]);
});

test("a file that says something else is not told", async () => {
	const [file, dir] = [newFile(), await runsDir()];
	const it = await open(file, { runsDir: dir });
	const { id } = it.launch();
	await it.turn(async () => {
		await it.answer(id, "Two doors.");
		await it.written();
		const path = join(dir, id, "result.json");
		await writeFile(path, (await readFile(path, "utf8")).replace(`"runId": "${id}"`, '"runId": "other"'));
		expect((await open(file)).sent).toEqual([{ content: expect.stringContaining("Two doors."), startsTurn: false }]);
	});
});
