import { describe, expect, test } from "vitest";
import { JobError, NotBegun, ScheduleError, Scheduler } from "../../src/index.ts";
import { START } from "./hand-clock.ts";
import { key, seconds, spec, told, world } from "./world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("a job", () => {
	test("fires when it is due, and again, and remembers how it went", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler();
		const job = await jobs.add(spec("10s"));
		expect(job).toEqual({
			...{ id: "j1", name: "a job", schedule: "10s", payload: { task: "x" }, createdAt: START },
			...{ overlap: "skip", missed: "latest", jitterMs: 0, enabled: true, tags: [], runs: 0, history: [] },
			...{ when: { kind: "every", ms: 10_000, from: START }, nextAt: START + 10_000 },
		});
		await clock.pass(9_999);
		expect(fired).toEqual([]);
		await clock.pass(20_001);
		expect(fired).toEqual([key("j1", 10), key("j1", 20), key("j1", 30)]);
		const [now] = await jobs.list();
		expect([now?.runs, seconds(now?.nextAt), told(now)]).toEqual([3, 40, ["10 done", "20 done", "30 done"]]);
	});

	test("that is due once is due no more", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler();
		await jobs.add(spec("+10m"));
		await clock.pass(DAY);
		expect(fired).toEqual([key("j1", 600)]);
		expect((await jobs.list())[0]).not.toHaveProperty("nextAt");
	});

	test("keeps what its run says, and why it failed", async () => {
		const { clock, end, scheduler } = world({ isLong: true });
		const jobs = await scheduler();
		await jobs.add(spec("10s"));
		await clock.pass(10_000);
		expect(told((await jobs.list())[0])).toEqual(["10 running"]);
		await end("3 files");
		await clock.pass(10_000);
		await end(new Error("no disk"));
		expect((await jobs.list())[0]?.history.map(({ result, note }) => `${result}: ${note}`)).toEqual([
			"done: 3 files",
			"failed: no disk",
		]);
	});

	test("ends after its last run, or at its end date", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler();
		await jobs.add(spec("10s", { maxRuns: 2 }));
		await jobs.add(spec("10s", { endsAt: START + 30_000 }));
		await clock.pass(HOUR);
		expect(fired.toSorted()).toEqual(
			[10, 20].map((at) => key("j1", at)).concat([10, 20, 30].map((at) => key("j2", at))),
		);
	});

	test("is late by its own share of its jitter, and always by the same", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler();
		await Promise.all(Array.from({ length: 20 }, () => jobs.add(spec("1h", { jitterMs: 10 * MINUTE }))));
		const nexts = (await jobs.list()).map(({ nextAt }) => (nextAt ?? 0) - START - HOUR);
		expect(nexts.every((late) => late >= 0 && late < 10 * MINUTE)).toBe(true);
		expect(new Set(nexts).size).toBeGreaterThan(15);
		await clock.pass(HOUR + 10 * MINUTE);
		expect(fired).toHaveLength(20);
		expect((await jobs.list()).map(({ nextAt }) => (nextAt ?? 0) - START - 2 * HOUR)).toEqual(nexts);
	});

	test("can be paused, and what passes meanwhile is not missed", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler();
		const { id } = await jobs.add(spec("10s", { missed: "all" }));
		expect(await jobs.pause(id)).not.toHaveProperty("nextAt");
		await clock.pass(55_000);
		expect(seconds((await jobs.resume(id)).nextAt)).toBe(60);
		await clock.pass(5_000);
		expect(fired).toEqual([key(id, 60)]);
	});

	test("can be given another schedule, and lose what it need not have", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler();
		const { id } = await jobs.add(spec("10s", { maxRuns: 1, tags: ["a"] }));
		const changed = await jobs.update(id, { schedule: "1m", maxRuns: undefined, name: "other", payload: 7 });
		expect(changed).toMatchObject({ name: "other", payload: 7, schedule: "1m", tags: ["a"] });
		expect(changed).not.toHaveProperty("maxRuns");
		await clock.pass(2 * MINUTE);
		expect(fired).toEqual([key(id, 60), key(id, 120)]);
	});

	test("that is removed fires no more, and its run is told", async () => {
		const { clock, store } = world();
		let signal: AbortSignal | undefined;
		const onDue = (_job: unknown, _key: string, given: AbortSignal) => {
			signal = given;
			return new Promise(() => undefined);
		};
		const jobs = new Scheduler({ store, clock, onDue });
		await jobs.start();
		const { id } = await jobs.add(spec("10s"));
		await clock.pass(10_000);
		expect(signal?.aborted).toBe(false);
		expect([await jobs.remove(id), await jobs.remove(id)]).toEqual([true, false]);
		await clock.pass(0);
		expect(signal?.aborted).toBe(true);
		expect(await jobs.list()).toEqual([]);
		const stopping = jobs.stop(); // its run never ends, so this takes its five seconds
		await clock.pass(5_000);
		await stopping;
	});

	test("can be run at once, even when it is paused, but not over itself", async () => {
		const { fired, end, scheduler } = world({ isLong: true });
		const jobs = await scheduler();
		const { id } = await jobs.add(spec("1h", { enabled: false }));
		const runKey = await jobs.runNow(id);
		expect(fired).toEqual([runKey]);
		await expect(jobs.runNow(id)).rejects.toThrow('"a job" is already running');
		await end();
		await jobs.runNow(id);
		expect(fired).toHaveLength(2);
		await expect(jobs.runNow("nobody")).rejects.toThrow('There is no job "nobody"');
	});
});

describe("a moment that comes while a run still works", () => {
	test.each([
		["skip", ["10"], ["20 skipped", "30 skipped", "10 done"]],
		["queue", ["10", "20"], ["10 done", "20 running"]],
		["allow", ["10", "20", "30"], ["10 done", "20 running", "30 running"]],
	] as const)("overlap: %s", async (overlap, firedAt, history) => {
		const { clock, fired, end, scheduler } = world({ isLong: true });
		const jobs = await scheduler();
		const { id } = await jobs.add(spec("10s", { overlap }));
		await clock.pass(35_000);
		await end();
		await clock.pass(0);
		expect(fired).toEqual(firedAt.map((at) => key(id, Number(at))));
		expect(told((await jobs.list())[0])).toEqual(history);
	});

	test("a queue runs one after the other and does not grow without bound", async () => {
		const { clock, fired, end, scheduler } = world({ isLong: true });
		const jobs = await scheduler();
		const { id } = await jobs.add(spec("1s", { overlap: "queue" }));
		await clock.pass(100_000);
		expect(fired).toHaveLength(1);
		await jobs.update(id, { maxRuns: 1 });
		for (let ended = 1; ended <= 30; ended++) await end();
		expect(fired).toEqual(Array.from({ length: 21 }, (_, at) => key(id, at + 1)));
	});

	test("not even runs that may overlap pile up without bound", async () => {
		const { clock, fired, problems, scheduler } = world({ isLong: true });
		const jobs = await scheduler();
		await jobs.add(spec("1s", { overlap: "allow" }));
		await clock.pass(150_000);
		expect(fired).toHaveLength(100);
		expect(told((await jobs.list())[0]).at(-1)).toBe("100 running");
		expect(problems).toEqual([]);
	});

	test("a run that lasts for hours keeps its claim", async () => {
		const { clock, end, scheduler } = world({ isLong: true });
		const [jobs] = [await scheduler(), await scheduler()];
		await jobs.add(spec("+10s"));
		await clock.pass(5 * HOUR);
		await end("at last");
		expect((await jobs.list())[0]?.history[0]).toMatchObject({ result: "done", note: "at last" });
	});
});

describe("moments that passed while nobody was there", () => {
	test.each([
		["skip", [], ["10 missed", "20 missed", "30 missed"]],
		["latest", [30], ["10 missed", "20 missed", "30 done"]],
		["all", [10, 20, 30], ["10 done", "20 done", "30 done"]],
	] as const)("missed: %s", async (missed, firedAt, history) => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler(false);
		const { id } = await jobs.add(spec("10s", { missed, endsAt: START + 30_000 }));
		await clock.pass(HOUR);
		await jobs.start();
		await clock.pass(1_000);
		expect(fired).toEqual(firedAt.map((at) => key(id, at)));
		expect(told((await jobs.list())[0])).toEqual(history);
	});

	test("a moment that is only seconds old is not missed", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler(false);
		const { id } = await jobs.add(spec("+10s", { missed: "skip" }));
		await clock.pass(60_000);
		await jobs.start();
		expect(fired).toEqual([key(id, 10)]);
	});

	test("of a year in which every second was due, the newest twenty are caught up with", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler(false);
		await jobs.add(spec("* * * * * *", { missed: "all", overlap: "allow" }));
		await clock.pass(365 * DAY);
		await jobs.start();
		const end = (365 * DAY) / 1_000;
		expect(fired).toEqual(Array.from({ length: 20 }, (_, at) => key("j1", end - 19 + at)));
	});
});

describe("clocks", () => {
	test("a machine that slept catches up within half a minute of waking", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler();
		const { id } = await jobs.add(spec("0 13 * * *"));
		clock.jump(3 * HOUR);
		await clock.pass(30_000);
		expect(fired).toEqual([key(id, 3_600)]);
		expect(seconds((await jobs.list())[0]?.nextAt)).toBe(25 * 3_600);
	});

	test("a clock that is set back repeats no run of a pattern", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler();
		await jobs.add(spec("*/10 * * * *"));
		await clock.pass(30 * MINUTE);
		clock.jump(-30 * MINUTE);
		await clock.pass(40 * MINUTE);
		expect(fired).toEqual([600, 1_200, 1_800, 2_400].map((at) => key("j1", at)));
	});

	test("a clock set back does not hold up an interval", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler();
		await jobs.add(spec("10m"));
		await clock.pass(30 * MINUTE);
		clock.jump(-5 * HOUR);
		await clock.pass(10 * MINUTE + 30_000);
		expect(fired).toHaveLength(4);
		expect(new Set(fired).size).toBe(4);
	});

	test("a date that was wrong by years holds nothing up, and repeats no key", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler();
		await jobs.add(spec("0 * * * *"));
		clock.jump(10 * 365 * DAY);
		await clock.pass(2 * HOUR);
		clock.jump(-10 * 365 * DAY);
		const before = fired.length;
		await clock.pass(3 * HOUR);
		expect(fired.length - before).toBe(3);
		expect(new Set(fired).size).toBe(fired.length);
	});

	test("after a sleep nobody is given up before he could renew his claim", async () => {
		const { clock, end, scheduler } = world({ isLong: true });
		const first = await scheduler();
		await scheduler();
		await first.add(spec("+10s"));
		await clock.pass(20_000);
		clock.jump(DAY);
		await clock.pass(5 * MINUTE);
		await end();
		expect(told((await first.list())[0])).toEqual(["10 done"]);
	});

	test("there is one timer, never longer than half a minute, for thousands of jobs years ahead", async () => {
		const { clock, scheduler } = world();
		const jobs = await scheduler();
		await Promise.all(Array.from({ length: 2_000 }, (_, at) => jobs.add(spec(`${at + 1}w`))));
		await clock.pass(0);
		expect(clock.waits()).toEqual([30_000]);
		await clock.pass(90_000);
		expect(clock.waits()).toEqual([30_000]);
	});

	test("a run beyond the longest timer starts at its time", async () => {
		const { clock, fired, scheduler } = world();
		const jobs = await scheduler();
		await jobs.add(spec("+40d"));
		for (let day = 0; day < 40; day++) {
			expect(fired).toEqual([]);
			clock.jump(DAY - MINUTE);
			await clock.pass(MINUTE);
		}
		expect(fired).toEqual([key("j1", (40 * DAY) / 1_000)]);
	});
});

describe("several schedulers on one store", () => {
	test("fire each moment once", async () => {
		const { clock, fired, scheduler } = world();
		const [jobs] = await Promise.all(Array.from({ length: 10 }, () => scheduler()));
		for (let job = 0; job < 20; job++) await jobs?.add(spec("10s"));
		await clock.pass(100_000);
		expect(fired).toHaveLength(200);
		expect(new Set(fired).size).toBe(200);
	});

	test("hear of each other's changes", async () => {
		const { clock, scheduler } = world();
		const [first, second] = [await scheduler(), await scheduler()];
		const heard: (readonly string[])[] = [];
		const end = second.subscribe((ids) => heard.push(ids));
		const { id } = await first.add(spec("1h"));
		end();
		await first.pause(id);
		await clock.pass(0);
		expect(heard).toEqual([[id]]);
	});

	test("leave what waits to the others when they stop", async () => {
		const { clock, fired, end, scheduler } = world({ isLong: true });
		const first = await scheduler();
		const { id } = await first.add(spec("10s", { overlap: "queue", missed: "all", endsAt: START + 20_000 }));
		await clock.pass(20_000);
		const second = await scheduler();
		const stopping = first.stop();
		await end();
		await stopping;
		await clock.pass(30_000);
		expect(fired).toEqual([key(id, 10), key(id, 20)]);
		await end();
		expect(told((await second.list())[0])).toEqual(["10 done", "20 done"]);
	});
});

test("a run that had not begun when its scheduler stopped is left to the next, as if it had never been started", async () => {
	const { clock, store, fired, scheduler } = world();
	const first = new Scheduler({
		...{ store, clock, timeZone: "UTC", newId: () => "j1" },
		onDue: (_job, _runKey, signal) =>
			new Promise((_, reject) => signal.addEventListener("abort", () => reject(new NotBegun("the end came first")))),
	});
	await first.start();
	await first.add(spec("+10s"));
	await clock.pass(10_000);
	expect(told((await first.list())[0])).toEqual(["10 running"]);
	await first.stop();
	const next = await scheduler();
	await clock.pass(0);
	expect(fired).toEqual([key("j1", 10)]);
	const [job] = await next.list();
	expect([job?.runs, told(job)]).toEqual([1, ["10 done"]]);
});

describe("a caller's mistake", () => {
	test.each([
		[{ schedule: "soon" }, ScheduleError],
		[{ timeZone: "Mars/Base" }, ScheduleError],
		[{ name: "" }, JobError],
		[{ payload: undefined }, JobError],
		[{ payload: "x".repeat(70_000) }, JobError],
		[{ payload: 1n }, JobError],
		[{ overlap: "often" }, JobError],
		[{ maxRuns: 0 }, JobError],
		[{ jitterMs: -1 }, JobError],
		[{ tags: [1] }, JobError],
		[{ endsAt: START + 1 }, JobError],
	] as const)("%o", async (wrong, kind) => {
		const { scheduler } = world();
		const jobs = await scheduler();
		await expect(jobs.add({ ...spec("10s"), ...wrong } as never)).rejects.toThrow(kind);
		await expect(jobs.update("nobody", { name: "x" })).rejects.toThrow('There is no job "nobody"');
		expect(await jobs.list()).toEqual([]);
	});
});
