import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Clock, systemClock } from "@pi-subagents/core";
import { controlPath, identityOf } from "@pi-subagents/core/internal/signals";
import { handClock, sampleSpec } from "@pi-subagents/core/testing";
import { isWatched } from "@pi-subagents/runs";
import { expect, onTestFinished, test } from "vitest";
import { Worker } from "../../src/far/worker.ts";
import { buildOrder } from "../../src/link/order.ts";

async function idle({ clock = systemClock, wrapper = "none" }: { clock?: Clock; wrapper?: string } = {}) {
	const home = await mkdtemp(join(tmpdir(), "worker-"));
	onTestFinished(() => rm(home, { recursive: true, force: true }));
	const pi = { command: "false", args: [] };
	const files = { wrapper, childEntry: "none" };
	const rest = { trustsProjects: false, leaseMs: 5_000, clock, report: () => undefined };
	return { home, worker: new Worker({ home, agentDir: home, pi, ...files, ...rest }) };
}

const key = "a1-0123";
const spec = { ...sampleSpec, cwd: "/project", agentId: "a1", run: 1 };
const order = buildOrder(spec, { key, isTrusted: false, aliases: ["/project"] });
const noBlob = async () => undefined;

test("an order that another worker is preparing is left to it, with all that it has made", async () => {
	const { home, worker } = await idle();
	await mkdir(join(home, "in", key), { recursive: true });
	await mkdir(join(home, "checkouts", key), { recursive: true });
	const other = { type: "owned", at: Date.now(), ...(await identityOf(process.ppid)) };
	await writeFile(join(home, "in", key, "owner-1.json"), JSON.stringify(other));
	await expect(worker.accept(order, noBlob)).rejects.toThrow("another worker there is preparing it");
	expect([await readdir(join(home, "in")), await readdir(join(home, "checkouts"))]).toEqual([[key], [key]]);
});

test("an order that nobody waits for any more starts nothing and leaves nothing", async () => {
	const { home, worker } = await idle();
	await expect(worker.accept(order, noBlob, AbortSignal.abort())).rejects.toThrow("could not be started");
	for (const name of ["in", "runs", "work"]) expect([name, await readdir(join(home, name))]).toEqual([name, []]);
});

test("control lines that come again, from a worker that was asleep, change nothing; none leaves a hole", async () => {
	const { home, worker } = await idle();
	const dir = join(home, "runs", key);
	await mkdir(dir, { recursive: true });
	const control = controlPath({ agentDir: home, runDir: dir });
	await mkdir(dirname(control), { recursive: true });
	const say = (at: number, text: string) => worker.control(key, { type: "lines", at, text });
	await say(0, "one\n");
	await say(4, "two\n");
	await say(0, "one\n");
	await say(99, "too far\n");
	expect(await readFile(control, "utf8")).toBe("one\ntwo\n");
});

test("a run that nobody fetched is removed a day after it first looks old, and not because the clock was set", async () => {
	const clock = handClock(Date.now());
	const { home, worker } = await idle({ clock });
	const day = 24 * 60 * 60_000;
	const places = ["runs", "checkouts"];
	for (const name of places) await mkdir(join(home, name, key), { recursive: true });
	const leftAfter = async (ms: number) => {
		clock.set(ms);
		await worker.prune();
		return (await Promise.all(places.map((name) => readdir(join(home, name))))).flat();
	};
	expect(await leftAfter(40 * day)).toEqual([key, key]);
	expect(await leftAfter(-40 * day)).toEqual([key, key]); // the date was wrong
	expect(await leftAfter(42 * day)).toEqual([key, key]); // and now it is right: the session may be about to fetch it
	expect(await leftAfter(day / 2)).toEqual([key, key]);
	expect(await leftAfter(day)).toEqual([]);
	expect(await readdir(join(home, "old"))).toEqual([]);
});

/** A worker whose wrappers do nothing, and end with it. */
async function busy() {
	const clock = handClock(Date.now());
	const dir = await mkdtemp(join(tmpdir(), "wrapper-"));
	onTestFinished(() => rm(dir, { recursive: true, force: true }));
	const wrapper = join(dir, "wrapper.mjs");
	await writeFile(wrapper, 'process.stdin.resume().on("end", () => process.exit());\n');
	const { home, worker } = await idle({ clock, wrapper });
	/** Whether it has left by the time that its runs may go on alone. */
	const leaves = async () => {
		let hasLeft = false;
		const leaving = worker.leave().then(() => {
			hasLeft = true;
		});
		const look = () => {
			clock.advance(1_000);
			return hasLeft;
		};
		await expect.poll(look).toBe(true);
		await leaving;
	};
	return { home, worker, leaves };
}

test("a run that was started, and that the near side was gone too early to follow, ends with its lease", async () => {
	const { home, worker, leaves } = await busy();
	await worker.accept(order, noBlob);
	const dir = join(home, "runs", key);
	expect(await isWatched({ agentDir: home, runDir: dir })).toBe(true);
	await leaves();
	expect(await isWatched({ agentDir: home, runDir: dir })).toBe(false);
});

test("a run that is just being started when the near side goes is released as well", async () => {
	const { home, worker, leaves } = await busy();
	const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
	const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
	const withConversation = buildOrder(spec, { key, isTrusted: false, aliases: ["/project"], conversation: "talk" });
	const accepted = worker.accept(withConversation, async (_id, path) => {
		ask();
		await arrived;
		await writeFile(path, `${JSON.stringify({ type: "session", cwd: "/project" })}\n`);
	});
	await asked;
	const left = leaves();
	arrive();
	await accepted;
	await left;
	expect(await isWatched({ agentDir: home, runDir: join(home, "runs", key) })).toBe(false);
});
