/**
 * Ten thousand jobs in a directory: what adding, listing and firing them costs, beside having the same bytes written,
 * synced, read and parsed. A look at jobs of which none is due is one question to the system, whatever their number.
 */
import { mkdtemp, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, fileJobStore, type JobStore, Scheduler } from "@pi-subagents/schedule";
import type { Benchmark, Subject } from "../measure.ts";

const JOBS = 10_000;
const HOUR_MS = 3_600_000;

interface World {
	scheduler: Scheduler;
	clock: { time: number } & Clock;
	store: JobStore;
	dir: string;
	fired: () => number;
}

export const schedule: Benchmark[] = [
	{
		...{ name: "schedule: adding 10,000 jobs", target: 12, unit: "ms", rounds: 7 },
		ours: measured("Scheduler.add", { isFilled: false }, ({ scheduler }) => fill(scheduler)),
		against: bytes("the same bytes", async ({ scheduler }) => fill(scheduler)),
	},
	{
		...{ name: "schedule: listing 10,000 jobs", target: 1.5, unit: "ms", rounds: 7 },
		ours: measured("Scheduler.list", { isFilled: true }, async ({ scheduler }) => {
			if ((await scheduler.list()).length !== JOBS) throw new Error("jobs are missing");
		}),
		against: measured("JSON", { isFilled: true }, async ({ scheduler }) => {
			JSON.parse(JSON.stringify(await scheduler.list()));
		}),
	},
	{
		...{ name: "schedule: 10,000 jobs that are due at once", target: 12, unit: "ms", rounds: 7 },
		ours: measured("taken, started and ended", { isFilled: true }, fire),
		against: bytes("the same bytes", fire, { isFilled: true }),
	},
	{
		...{ name: "schedule: a look at 10,000 jobs of which none is due", target: 6, unit: "ms", rounds: 15 },
		ours: measured("Scheduler.check", { isFilled: true }, async ({ scheduler }) => {
			for (let look = 0; look < 100; look++) await scheduler.check();
		}),
		against: measured("fstat and read", { isFilled: true }, async ({ dir }) => {
			const file = await open(await journalOf(dir));
			for (let look = 0; look < 100; look++) {
				await file.stat();
				await file.read(Buffer.alloc(1), 0, 1, (await file.stat()).size);
			}
			await file.close();
		}),
	},
];

function measured(name: string, { isFilled }: { isFilled: boolean }, work: (world: World) => Promise<void>): Subject {
	return {
		name,
		once: () =>
			withWorld(isFilled, async (world) => {
				const start = performance.now();
				await work(world);
				return performance.now() - start;
			}),
	};
}

/** What `work` appends to the journal, written in one go by hand to another file and taken in again. */
function bytes(name: string, work: (world: World) => Promise<void>, { isFilled = false } = {}): Subject {
	let lines: unknown[] | undefined;
	const learn = () =>
		withWorld(isFilled, async (world) => {
			const before = isFilled ? (await stat(await journalOf(world.dir))).size : 0;
			await work(world);
			const added = (await readFile(await journalOf(world.dir))).subarray(before);
			return linesOf(added.toString("utf8"));
		});
	return {
		name,
		async once() {
			lines ??= await learn();
			const dir = await mkdtemp(join(tmpdir(), "bytes-"));
			const start = performance.now();
			const file = await open(join(dir, "file"), "a+", 0o600);
			await file.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
			await file.datasync();
			const read = linesOf((await readFile(join(dir, "file"))).toString("utf8")).length;
			const took = performance.now() - start;
			await file.close();
			await rm(dir, { recursive: true });
			if (read !== lines.length || read < JOBS) throw new Error("the same bytes are not the same");
			return took;
		},
	};
}

const linesOf = (text: string): unknown[] =>
	text
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line));

async function journalOf(dir: string): Promise<string> {
	const [name = ""] = (await readdir(dir)).filter((name) => name.startsWith("journal-"));
	return join(dir, name, "entries.jsonl");
}

async function fill(scheduler: Scheduler): Promise<void> {
	await Promise.all(
		Array.from({ length: JOBS }, (_, at) =>
			scheduler.add({ name: `job ${at}`, schedule: `${at % 60} * * * *`, payload: { task: "look around", at } }),
		),
	);
}

/** An hour later each of them is due, once. */
async function fire({ scheduler, clock, store, fired }: World): Promise<void> {
	clock.time += HOUR_MS;
	await scheduler.check();
	while (fired() < JOBS) await store.read();
	await store.read(); // by then the ends are recorded
}

async function withWorld<Result>(isFilled: boolean, work: (world: World) => Promise<Result>): Promise<Result> {
	const dir = await mkdtemp(join(tmpdir(), "jobs-"));
	// A journal that is rewritten midway would be another measurement.
	const store = fileJobStore(dir, { growth: 2 ** 30 });
	const clock = { time: Date.UTC(2027, 0, 1), now: () => clock.time, after: () => () => undefined };
	let fired = 0;
	const scheduler = new Scheduler({ store, clock, timeZone: "UTC", onDue: () => void fired++ });
	try {
		await scheduler.start();
		if (isFilled) await fill(scheduler);
		await scheduler.check();
		return await work({ scheduler, clock, store, dir, fired: () => fired });
	} finally {
		await scheduler.stop();
		await store.close();
		await rm(dir, { recursive: true });
	}
}
