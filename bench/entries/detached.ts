/**
 * What launching a run in a process of its own costs the parent, beside a bare start of the same process. Two things are
 * lost to its interface: the longest time in which it cannot react, and the work of its main thread in all. Files that
 * the thread pool writes meanwhile cost the main thread only what it takes to ask for them.
 */
import { type Benchmark, longestPause, type Subject } from "../measure.ts";
import { type Launched, launchBare, launchOurs } from "../worlds/detached.ts";

export const detached: Benchmark[] = [
	row("detached: longest pause of the parent's event loop until the process is started", 1.3, longestPause),
	row("detached: CPU time of the parent's main thread until the process is started", 1.8, workTime),
];

type Meter = (work: () => Promise<unknown>) => Promise<number>;

function row(name: string, target: number, meter: Meter): Benchmark {
	return {
		name,
		target,
		unit: "ms",
		rounds: 11,
		ours: leastOf(9, "ours", meter, launchOurs),
		against: leastOf(9, "child_process.spawn", meter, launchBare),
	};
}

/** Whatever else runs on the machine only ever adds to a launch, and often more than the launch itself takes. */
function leastOf(times: number, name: string, meter: Meter, launch: () => Promise<Launched>): Subject {
	return {
		name,
		async once() {
			const costs: number[] = [];
			for (let time = 0; time < times; time++) costs.push(await costOf(launch, meter));
			return Math.min(...costs);
		},
	};
}

async function costOf(launch: () => Promise<Launched>, meter: Meter): Promise<number> {
	// From rest, as a launch comes in life: a process that has just been busy starts another one faster.
	await new Promise((resolve) => setTimeout(resolve, 10));
	let launched: Launched | undefined;
	const cost = await meter(async () => {
		launched = await launch();
	});
	await launched?.end(); // or it would run into the next launch
	return cost;
}

async function workTime(work: () => Promise<unknown>): Promise<number> {
	const before = process.threadCpuUsage();
	await work();
	const { user, system } = process.threadCpuUsage(before);
	return (user + system) / 1_000;
}
