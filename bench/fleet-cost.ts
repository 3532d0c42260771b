/**
 * `npm run bench:fleet`: what a fleet costs for each run and each event, in processor time and bytes of the engine,
 * the worker and this process. The figures of docs/fleet.md come from it. Linux only: it reads /proc.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { burst, closeRemote, keptLink, type Link } from "./worlds/remote.ts";

const RUNS = 60;
const EVENTS = 400;
const APART_MS = 5;
const LANES = 4;
/** Of the kernel's clock. */
const TICK_MS = 10;

interface Cost {
	engineMs: number;
	workerMs: number;
	nearMs: number;
	engineBytes: number;
}

const link = await keptLink("nats");
const { stdout } = await promisify(execFile)("ps", ["--ppid", String(process.pid), "-o", "pid=,args="]);
const pidOf = (word: string) => Number.parseInt(stdout.split("\n").find((line) => line.includes(word)) ?? "", 10);
const [engine, worker] = [pidOf("nats-server"), pidOf("burst-fleet-worker")];

const idle = await cost(() => new Promise((resolve) => setTimeout(resolve, 3_000)));
const perRun = await cost(() => inLanes(link, RUNS / LANES, 1, 0));
const perEvent = await cost(() => inLanes(link, 1, EVENTS, APART_MS));
print("idle, for a second", idle, 3);
print("a run of one event", perRun, RUNS);
print("an event that comes alone", perEvent, LANES * EVENTS);
await closeRemote();

async function inLanes(open: Link, times: number, events: number, apartMs: number): Promise<void> {
	const lane = async () => {
		for (let time = 0; time < times; time++) await burst(open, events, apartMs);
	};
	await Promise.all(Array.from({ length: LANES }, lane));
}

async function cost(work: () => Promise<unknown>): Promise<Cost> {
	const before = await now();
	await work();
	const after = await now();
	return {
		engineMs: after.engineMs - before.engineMs,
		workerMs: after.workerMs - before.workerMs,
		nearMs: after.nearMs - before.nearMs,
		engineBytes: after.engineBytes - before.engineBytes,
	};
}

async function now(): Promise<Cost> {
	const { user, system } = process.cpuUsage();
	const io = await readFile(`/proc/${engine}/io`, "utf8");
	const bytes = [...io.matchAll(/^[rw]char: (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
	return {
		engineMs: await processorMs(engine),
		workerMs: await processorMs(worker),
		nearMs: (user + system) / 1_000,
		engineBytes: bytes,
	};
}

/** The fields behind the program's name, which may have spaces. */
async function processorMs(pid: number): Promise<number> {
	const text = await readFile(`/proc/${pid}/stat`, "utf8");
	const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
	return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function print(what: string, { engineMs, workerMs, nearMs, engineBytes }: Cost, count: number): void {
	const each = [engineMs, workerMs, nearMs].map((ms) => (ms / count).toFixed(2));
	console.log(
		`${what}: engine ${each[0]} ms, worker ${each[1]} ms, this process ${each[2]} ms; ${Math.round(engineBytes / count)} bytes through the engine`,
	);
}
