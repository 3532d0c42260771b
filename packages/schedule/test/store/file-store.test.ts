import { once } from "node:events";
import {
	appendFile,
	mkdir,
	mkdtemp,
	open,
	readdir,
	readFile,
	rm,
	stat,
	symlink,
	truncate,
	writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type FileStoreOptions, fileJobStore, type JobStore, type StoredJob } from "../../src/index.ts";
import { isUnusable } from "../../src/store/journal.ts";

let dir: string;
let problems: string[];
let stores: JobStore[];

beforeEach(async () => {
	dir = join(await mkdtemp(join(tmpdir(), "jobs-")), "schedules");
	problems = [];
	stores = [];
	return () => rm(join(dir, ".."), { recursive: true });
});

afterEach(() => Promise.all(stores.map((store) => store.close())));

function opened(options: FileStoreOptions = {}): JobStore {
	const store = fileJobStore(dir, { onProblem: (problem) => problems.push(problem), ...options });
	stores.push(store);
	return store;
}

const jobOf = (id: string): StoredJob => ({
	...{ id, name: `job ${id}`, schedule: "1m", payload: "x".repeat(100), createdAt: 0, runs: 0 },
	...{ overlap: "skip", missed: "latest", jitterMs: 0, enabled: true, tags: [], cursor: 0, epoch: 0 },
	...{ when: { kind: "every", ms: 60_000, from: 0 }, open: [], history: [] },
});
const add = (store: JobStore, id: string) => store.record({ type: "job", job: jobOf(id) });
const idsOf = async (store: JobStore) => [...(await store.read()).keys()];
const journal = (generation = 1) => join(dir, `journal-${generation}`, "entries.jsonl");

/** A disk that is slow once: the next file to be synced is not, until it may. */
async function holdFirstSync(): Promise<{ goOn: () => void; waits: Promise<void> }> {
	const any = await open(tmpdir(), "r");
	const handles: { sync: () => Promise<void> } = Object.getPrototypeOf(any);
	await any.close();
	const { sync } = handles;
	const [gate, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	handles.sync = async function (this: typeof handles) {
		handles.sync = sync;
		reached.resolve();
		await gate.promise;
		return sync.call(this);
	};
	onTestFinished(() => {
		handles.sync = sync;
	});
	return { goOn: gate.resolve, waits: reached.promise };
}

test("what was recorded is there for the next process", async () => {
	const first = opened();
	await add(first, "a");
	await first.close();
	expect((await opened().read()).get("a")).toEqual(jobOf("a"));
	expect(problems).toEqual([]);
});

test("nobody else on the machine can read it", async () => {
	await add(opened(), "a");
	const modes = await Promise.all(
		[dir, join(dir, "journal-1"), journal()].map(async (path) => (await stat(path)).mode),
	);
	expect(modes.map((mode) => (mode & 0o777).toString(8))).toEqual(["700", "700", "600"]);
});

test("reading makes nothing, and nothing works after it is closed", async () => {
	const store = opened();
	expect(await idsOf(store)).toEqual([]);
	await expect(readdir(dir)).rejects.toThrow("ENOENT");
	await store.close();
	await expect(store.read()).rejects.toThrow("is closed");
	await expect(add(store, "a")).rejects.toThrow("is closed");
});

describe("a journal that has grown", () => {
	test("is rewritten while others write, and nothing is lost or told twice", async () => {
		const stores = Array.from({ length: 4 }, () => opened({ growth: 2_000 }));
		const verdicts = await Promise.all(
			Array.from({ length: 200 }, async (_, at) => {
				for (let turn = 0; turn < at % 7; turn++) await new Promise(setImmediate);
				return add(stores[at % 4] as JobStore, `j${at % 100}`);
			}),
		);
		expect(verdicts.filter(({ isApplied }) => isApplied)).toHaveLength(100);
		const change = (at: number) =>
			({ type: "change", id: `j${at % 100}`, at, change: { name: "x".repeat(200) } }) as const;
		for (let round = 0; round < 20; round++) {
			await Promise.all(stores.flatMap((store) => Array.from({ length: 50 }, (_, at) => store.record(change(at)))));
		}
		for (const store of stores) for (let at = 0; at < 50; at++) await store.record({ type: "remove", id: `j${at}` });
		const kept = Array.from({ length: 50 }, (_, at) => `j${at + 50}`);
		for (const store of [...stores, opened()]) expect((await idsOf(store)).toSorted()).toEqual(kept.toSorted());
		const left = await readdir(dir);
		expect(left).toEqual([expect.stringMatching(/^journal-\d+$/)]);
		expect(Number(left[0]?.slice(8))).toBeGreaterThan(3);
		expect(problems).toEqual([]);
	});

	test("and was replaced while somebody slow still made the first one is not revived by him", async () => {
		const slow = opened();
		const fast = opened({ growth: 0 });
		const { goOn, waits } = await holdFirstSync();
		const late = add(slow, "late");
		await waits;
		for (let at = 0; at < 10; at++) await add(fast, `early${at}`);
		expect(await readdir(dir)).not.toContain("journal-1");
		goOn();
		expect((await late).isApplied).toBe(true);
		for (const store of [slow, fast, opened()]) expect(await idsOf(store)).toHaveLength(11);
	});

	test("is rewritten though something else has the name of the next one", async () => {
		const store = opened({ growth: 0 });
		await add(store, "a");
		await symlink(join(dir, ".."), join(dir, "journal-2"));
		for (let at = 0; at < 30; at++) await add(store, `j${at}`);
		expect(await idsOf(opened())).toHaveLength(31);
		expect(problems).toEqual([expect.stringContaining("were moved to")]);
	});

	test("whose rewriting was cut short is rewritten by the next who comes", async () => {
		const first = opened();
		await add(first, "a");
		await first.close();
		await appendFile(journal(), '{"type":"seal"}\n');
		await appendFile(journal(), `${JSON.stringify({ type: "remove", id: "a" })}\n`); // too late to count
		expect(await idsOf(opened())).toEqual(["a"]);
		expect(await readdir(dir)).toEqual(["journal-2"]);
	});
});

describe("a journal that was damaged", () => {
	test.each([
		["a line that is not JSON", "{nonsense"],
		["a line of zeros", "\0".repeat(5_000)],
		["bytes that are no text", Buffer.from([0xff, 0xfe, 0xc3])],
		["an entry of an unknown kind", '{"type":"explode","id":"a"}'],
		[
			"a job whose schedule cannot be",
			JSON.stringify({ type: "job", job: { ...jobOf("x"), when: { kind: "cron", pattern: "99 * * * *" } } }),
		],
		["a job whose id is a path", JSON.stringify({ type: "job", job: jobOf("../../etc") })],
		["a line without an end that is longer than any", "x".repeat(3 << 20)],
	])("by %s loses only that, and is kept", async (_what, damage) => {
		const first = opened();
		await add(first, "a");
		await first.close();
		await appendFile(journal(), damage);
		await appendFile(journal(), "\n");
		await appendFile(journal(), `${JSON.stringify({ type: "job", job: jobOf("b") })}\n`);
		const damaged = await readFile(journal());
		const [second, third] = [opened(), opened()];
		expect(await idsOf(second)).toEqual(["a", "b"]);
		expect(await idsOf(third)).toEqual(["a", "b"]);
		expect((await readdir(dir)).toSorted()).toEqual(["journal-1.corrupt", "journal-2"]);
		const kept = await readFile(join(dir, "journal-1.corrupt"));
		expect(kept.subarray(0, damaged.length).equals(damaged)).toBe(true);
		expect(problems).toEqual([expect.stringContaining(`A copy of the file is in ${join(dir, "journal-1.corrupt")}`)]);
	});

	test("by a process that was killed while it wrote loses only what that one wrote", async () => {
		const first = opened();
		await add(first, "a");
		await add(first, "b");
		await first.close();
		await truncate(journal(), (await stat(journal())).size - 40);
		const second = opened();
		expect(await idsOf(second)).toEqual(["a"]);
		expect(problems).toHaveLength(1);
		await add(second, "c");
		expect(await idsOf(opened())).toEqual(["a", "c"]);
		expect(problems).toHaveLength(1);
	});

	test("while it is in use goes on with what is left", async () => {
		const store = opened();
		await add(store, "a");
		await truncate(journal(), 0);
		expect((await add(store, "b")).isApplied).toBe(true);
		expect(await idsOf(store)).toEqual(["b"]);
		await rm(dir, { recursive: true });
		expect((await add(store, "c")).isApplied).toBe(true);
		expect(await idsOf(opened())).toEqual(["c"]);
		expect(problems.every((problem) => problem.includes("was truncated or removed"))).toBe(true);
	});
});

describe("where a journal should be", () => {
	test.each([
		[
			"a link to elsewhere",
			async () => {
				await mkdir(join(dir, "..", "elsewhere"));
				await writeFile(join(dir, "..", "elsewhere", "entries.jsonl"), "");
				await symlink(join(dir, "..", "elsewhere"), join(dir, "journal-3"));
			},
		],
		["a file", async () => writeFile(join(dir, "journal-3"), "")],
		["an empty directory", async () => mkdir(join(dir, "journal-3"))],
		[
			"a link to a file",
			async () => {
				await mkdir(join(dir, "journal-3"));
				await writeFile(join(dir, "..", "precious"), "precious");
				await symlink(join(dir, "..", "precious"), journal(3));
			},
		],
		[
			"a socket",
			async () => {
				await mkdir(join(dir, "journal-3"));
				const server = createServer().listen(journal(3));
				await once(server, "listening");
				onTestFinished(() => void server.close());
			},
		],
	])("%s is set aside, and the rest goes on", async (_what, place) => {
		const first = opened();
		await add(first, "a");
		await first.close();
		await place();
		const store = opened();
		expect(await idsOf(store)).toEqual(["a"]);
		await add(store, "b");
		expect(await idsOf(opened())).toEqual(["a", "b"]);
		expect((await readdir(dir)).filter((name) => name.startsWith("journal-3.corrupt-"))).toHaveLength(1);
		expect(problems).toEqual([expect.stringContaining("were moved to")]);
	});

	test("what the system cannot open right now is not set aside", () => {
		expect(["EACCES", "EMFILE", "EIO", "ENOMEM"].map((code) => isUnusable({ code }))).toEqual([
			false,
			false,
			false,
			false,
		]);
	});

	test("nothing can be made, callers are told, and it works once it can", async () => {
		await writeFile(dir, "a file");
		const store = opened();
		await expect(add(store, "a")).rejects.toThrow(/EEXIST|ENOTDIR/);
		await rm(dir);
		expect((await add(store, "a")).isApplied).toBe(true);
	});
});
