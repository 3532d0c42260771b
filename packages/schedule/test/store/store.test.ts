import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { fileJobStore, type JobEntry, type JobStore, memoryJobStore, type StoredJob } from "../../src/index.ts";

/** Two who share a store. */
type Pair = () => Promise<[JobStore, JobStore]>;

const stores: { name: string; pair: Pair }[] = [
	{
		name: "memory",
		async pair() {
			const store = memoryJobStore();
			return [store, store];
		},
	},
	{
		name: "file",
		async pair() {
			const dir = await mkdtemp(join(tmpdir(), "jobs-"));
			const pair: [JobStore, JobStore] = [fileJobStore(dir), fileJobStore(dir)];
			onTestFinished(async () => {
				await Promise.all(pair.map((store) => store.close()));
				await rm(dir, { recursive: true });
			});
			return pair;
		},
	},
];

const job: StoredJob = {
	...{ id: "a", name: "a job", schedule: "1m", payload: { deep: [1, "ü", null] }, createdAt: 0, runs: 0 },
	...{ overlap: "skip", missed: "latest", jitterMs: 0, enabled: true, tags: ["t"], cursor: 0, epoch: 0 },
	...{ when: { kind: "every", ms: 60_000, from: 0 }, open: [], history: [] },
};
const due = 60_000;
const take = (owner: string, more: object = {}): JobEntry => ({
	...{ type: "take", id: "a", at: due, owner, cursor: 0, epoch: 0, through: due },
	...{ run: [{ runKey: "a.60000", dueAt: due }], passed: [], ...more },
});
const on = (token: number, at: number) => ({ id: "a", runKey: "a.60000", token, at });
const later = due + 60_000;

describe.each(stores)("a store in $name", ({ pair }) => {
	const verdicts = async (stores: readonly JobStore[], entries: readonly JobEntry[]) => {
		const said: boolean[] = [];
		for (const [at, entry] of entries.entries()) {
			said.push((await (stores[at % stores.length] as JobStore).record(entry)).isApplied);
		}
		return said;
	};

	test("shows everybody what anybody recorded", async () => {
		const [first, second] = await pair();
		await first.record({ type: "job", job });
		expect((await second.read()).get("a")).toEqual(job);
		await second.record({ type: "change", id: "a", at: 1, change: { name: "other", tags: [] } });
		await second.record({ type: "job", job: { ...job, id: "b" } });
		expect([...(await first.read()).values()]).toEqual([
			{ ...job, name: "other", tags: [] },
			{ ...job, id: "b" },
		]);
		expect(await first.record({ type: "remove", id: "a" })).toEqual({ isApplied: true, job: undefined });
		expect([...(await second.read()).keys()]).toEqual(["b"]);
	});

	test("gives a moment to one of many who want it", async () => {
		const [first, second] = await pair();
		await first.record({ type: "job", job });
		const wanted = Array.from({ length: 20 }, (_, at) => (at % 2 ? first : second).record(take(`o${at}`)));
		const got = await Promise.all(wanted);
		expect(got.filter(({ isApplied }) => isApplied)).toHaveLength(1);
		const [owner] = (await second.read()).get("a")?.open.map((run) => run.owner) ?? [];
		expect(got.findIndex(({ isApplied }) => isApplied)).toBe(Number(owner?.slice(1)));
	});

	test("starts a run once, and takes its end from who started it", async () => {
		const stores = await pair();
		const said = await verdicts(stores, [
			{ type: "job", job },
			{ type: "end", result: "done", ...on(1, due) },
			take("me"),
			{ type: "start", ...on(1, due) },
			{ type: "start", ...on(1, due) },
			{ type: "end", result: "done", note: "well", ...on(1, due + 1) },
			{ type: "end", result: "failed", ...on(1, due + 2) },
			{ type: "start", ...on(1, due) },
			take("me"),
		]);
		expect(said).toEqual([true, false, true, true, false, true, false, false, false]);
		expect((await stores[0].read()).get("a")).toMatchObject({
			...{ runs: 1, cursor: due, open: [] },
			history: [{ runKey: "a.60000", dueAt: due, startedAt: due, endedAt: due + 1, result: "done", note: "well" }],
		});
	});

	test("refuses a stale owner after another took over", async () => {
		const stores = await pair();
		const said = await verdicts(stores, [
			{ type: "job", job },
			take("stale"),
			{ type: "retake", owner: "early", ...on(1, later - 1) },
			{ type: "retake", owner: "next", ...on(1, later) },
			{ type: "retake", owner: "third", ...on(1, later) },
			{ type: "start", ...on(1, later) },
			{ type: "renew", ...on(1, later) },
			{ type: "start", ...on(2, later) },
			{ type: "lose", ...on(2, later + 59_999) },
			{ type: "renew", ...on(2, later + 59_999) },
			{ type: "lose", ...on(2, later + 60_000) },
			{ type: "lose", ...on(2, later + 119_999) },
			{ type: "end", result: "done", ...on(2, later + 120_000) },
		]);
		expect(said).toEqual([true, true, false, true, false, false, false, true, false, true, false, true, false]);
		expect((await stores[1].read()).get("a")?.history.map(({ result }) => result)).toEqual(["lost"]);
	});

	test("lets a moment go that its owner does not want, or that nobody started", async () => {
		const stores = await pair();
		const pass = { type: "pass", result: "missed", note: "nobody" } as const;
		const said = await verdicts(stores, [
			{ type: "job", job },
			take("me"),
			{ ...pass, ...on(1, due) },
			{ type: "release", ...on(1, due) },
			{ ...pass, ...on(1, due) },
			{ ...pass, ...on(1, due) },
		]);
		expect(said).toEqual([true, true, false, true, true, false]);
	});

	test("refuses what is about no job, and a second job of the same id", async () => {
		const stores = await pair();
		const said = await verdicts(stores, [
			take("me"),
			{ type: "change", id: "a", at: 1, change: { name: "x" } },
			{ type: "remove", id: "a" },
			{ type: "job", job },
			{ type: "job", job: { ...job, name: "impostor" } },
		]);
		expect(said).toEqual([false, false, false, true, false]);
		expect((await stores[0].read()).get("a")?.name).toBe("a job");
	});

	test("starts one run at a time, unless they may overlap", async () => {
		const stores = await pair();
		const runs = [1, 2].map((at) => ({ runKey: `a.${at}`, dueAt: at }));
		const start = (at: number): JobEntry => ({ type: "start", id: "a", runKey: `a.${at}`, token: 1, at: due });
		const said = await verdicts(stores, [
			{ type: "job", job },
			take("me", { run: runs }),
			start(1),
			start(2),
			{ type: "change", id: "a", at: 1, change: { overlap: "allow" } },
			start(2),
		]);
		expect(said).toEqual([true, true, true, false, true, true]);
	});

	test("does not share what it keeps with who gave it", async () => {
		const [first] = await pair();
		const payload = { list: [1] };
		await first.record({ type: "job", job: { ...job, payload } });
		payload.list.push(2);
		expect((await first.read()).get("a")?.payload).toEqual({ list: [1] });
	});

	test("tells who watches what changed, and nothing after that", async () => {
		const [first, second] = await pair();
		await first.record({ type: "job", job: { ...job, id: "b" } });
		await second.read(); // what is not there cannot be watched
		const heard: string[] = [];
		const end = second.watch((ids) => heard.push(...ids));
		await first.record({ type: "job", job });
		await expect.poll(() => heard).toContain("a");
		end();
		const count = heard.length;
		await first.record({ type: "remove", id: "a" });
		await second.read();
		expect(heard).toHaveLength(count);
	});
});
