/**
 * One of several processes on one store. Its time comes over stdin, one moment a line; it answers when it has seen to
 * everything. It kills itself at the worst moments: right before and right after what it records.
 */
import { openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Clock, fileJobStore, type JobEntry, type JobStore, Scheduler } from "../../../src/index.ts";
import { randomOf } from "./random.ts";

const [dir = "", witness = "", seed = "", deadliness = ""] = process.argv.slice(2);
const random = randomOf(Number(seed));
const witnessed = openSync(witness, "a");
let time = 0;
let isGentle = false;
const timers = new Set<{ at: number; work: () => void }>();
/** Runs that last until the next moment. */
const lasting: (() => void)[] = [];

const clock: Clock = {
	now: () => time,
	after(ms, work) {
		const timer = { at: time + ms, work };
		timers.add(timer);
		return () => timers.delete(timer);
	},
};

const store = fileJobStore(dir, { onProblem: (problem) => console.error(problem), growth: 20_000 });
const deadly: JobStore = {
	...{ read: () => store.read(), watch: (changed) => store.watch(changed), close: () => store.close() },
	async record(entry: JobEntry) {
		perhapsDie();
		const recorded = store.record(entry);
		perhapsDie(); // in the midst of writing it
		const result = await recorded;
		perhapsDie();
		return result;
	},
};

function perhapsDie(): void {
	if (!isGentle && random() < Number(deadliness)) process.kill(process.pid, "SIGKILL");
}

const scheduler = new Scheduler({
	...{ store: deadly, clock, timeZone: "UTC", onProblem: (problem) => console.error(problem) },
	async onDue(_job, runKey) {
		writeSync(witnessed, `${runKey}\n`);
		perhapsDie();
		const kind = random();
		if (kind < 0.3) await new Promise<void>((resolve) => lasting.push(resolve));
		if (kind > 0.9) throw new Error("as it happens");
	},
});

for await (const line of createInterface({ input: process.stdin })) {
	const [at, mood] = line.split(" ");
	time = Number(at);
	isGentle = mood === "gently";
	for (const end of lasting.splice(0)) end();
	if (timers.size === 0) await scheduler.start();
	for (const timer of [...timers].filter(({ at }) => at <= time)) if (timers.delete(timer)) timer.work();
	await scheduler.check();
	await store.read();
	process.stdout.write(`${at}\n`);
}
