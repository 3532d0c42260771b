import { existsSync } from "node:fs";
import {
	chmod,
	cp,
	mkdir,
	readdir,
	readFile,
	rename,
	rm,
	symlink,
	truncate,
	utimes,
	writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as setImmediateAsync } from "node:timers/promises";
import { createTempDir, isFullRun } from "@pi-subagents-dev/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_USAGE } from "../../core/src/model/usage.ts";
import { identityOf } from "../../core/src/signals/identity.ts";
import { RunProcesses, type WrapperFile } from "../../core/src/signals/run-processes.ts";
import { spec } from "../../core/test/fixtures/events.ts";
import { betweenAttempts, LOST_DIR, RUN_FILES } from "../src/format/layout.ts";
import type { ResultFile } from "../src/format/result.ts";
import { type PruneOptions, pruneConversations, pruneRuns } from "../src/retention.ts";
import { metaOf, writeMeta, writeResult } from "../src/write.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const NOW = 100 * DAY_MS;
const bounds = { days: 14, megabytes: 500, now: NOW, isLive: () => false };

/** A directory for runs, and a way to put some there that were last touched so many days ago. */
async function world() {
	const temp = await createTempDir();
	const dir = join(temp.path, "runs");
	await mkdir(dir);
	const run = async (id: string, daysAgo: number, what: { kilobytes?: number; isUnfinished?: boolean } = {}) => {
		const path = join(dir, id);
		await mkdir(path, { mode: 0o700 });
		await writeMeta(path, metaOf({ ...spec, agentId: id, run: 1, artifacts: path }, { createdAt: 0 }));
		await writeFile(join(path, RUN_FILES.stdout), "x".repeat((what.kilobytes ?? 0) * 1024));
		if (!what.isUnfinished) await writeResult(path, resultOf(id));
		await touch(path, daysAgo);
		return path;
	};
	const agentDir = join(temp.path, "agent");
	const prune = (change: Partial<PruneOptions> = {}) => pruneRuns({ agentDir, dir, ...bounds, ...change });
	/** What its wrapper recorded about itself. */
	const wrappedBy = async (path: string, wrapper: WrapperFile) => {
		const processes = new RunProcesses({ agentDir, runDir: path });
		if (wrapper.type === "started") await processes.recordWrapper(wrapper, wrapper.at);
		else await processes.preventStart(wrapper.at);
	};
	return {
		wrappedBy,
		temp: temp.path,
		dir,
		run,
		prune,
		left: async () => (await readdir(dir)).sort(),
		[Symbol.asyncDispose]: temp.remove,
	};
}

test("a run that another machine lost goes with the files of its first attempt, also if it never had a second", async () => {
	await using it = await world();
	const [first, second] = [await it.run("a1", 20), await it.run("a2", 20)];
	await writeFile(join(second, RUN_FILES.remote), "{}");
	await cp(first, join(second, LOST_DIR), { recursive: true });
	await rename(first, betweenAttempts(first));
	await touch(join(second, LOST_DIR), 20);
	await touch(second, 20);
	expect((await it.prune()).removed.sort()).toEqual([".a1.lost", "a2"]);
	expect(await it.left()).toEqual([]);
});

test("journals of workflows go by their age, unless they are in use", async () => {
	await using it = await world();
	for (const [id, daysAgo] of Object.entries({ old: 20, young: 3, kept: 20 })) {
		const path = join(it.dir, `${id}.workflow.jsonl`);
		await writeFile(path, "{}\n");
		await utimes(path, (NOW - daysAgo * DAY_MS) / 1_000, (NOW - daysAgo * DAY_MS) / 1_000);
	}
	await it.prune({ keep: new Set(["kept"]) });
	expect(await it.left()).toEqual(["kept.workflow.jsonl", "young.workflow.jsonl"]);
});

async function touch(path: string, daysAgo: number): Promise<void> {
	const at = (NOW - daysAgo * DAY_MS) / 1_000;
	for (const name of await readdir(path)) await utimes(join(path, name), at, at);
	await utimes(path, at, at);
}

function resultOf(runId: string): ResultFile {
	return {
		...{ format: 1, runId, agentId: runId, run: 1, writtenBy: "parent", startedAt: 0, completedAt: 1 },
		...{ outcome: { status: "completed", text: "done" }, turns: 1, toolUses: 0, usage: NO_USAGE },
	};
}

async function wrapperOf(path: string, wrapper: WrapperFile): Promise<void> {
	await writeFile(join(path, RUN_FILES.wrapper), JSON.stringify(wrapper));
	await touch(path, 50);
}

describe("the files of runs", () => {
	test("go when they are too old, and the directory with them", async () => {
		await using at = await world();
		await at.run("old", 15);
		await at.run("new", 13);
		const { removed, freedBytes, problems } = await at.prune();
		expect([removed, problems, await at.left()]).toEqual([["old"], [], ["new"]]);
		expect(freedBytes).toBeGreaterThan(500);
	});

	test("go when they are too much, the oldest first and no more than needed", async () => {
		await using at = await world();
		for (const [index, id] of ["a", "b", "c", "d"].entries()) await at.run(id, 5 - index, { kilobytes: 400 });
		expect((await at.prune({ megabytes: 1 })).removed).toEqual(["a", "b"]);
		expect(await at.left()).toEqual(["c", "d"]);
	});

	test.runIf(process.platform !== "win32")(
		"stay when they came with a repository, which knows no such rights",
		async () => {
			await using at = await world();
			for (const mode of [0o755, 0o770, 0o701]) {
				const path = await at.run(`forged${mode}`, 50);
				await chmod(path, mode);
			}
			expect((await at.prune()).removed).toEqual([]);
			expect(await at.left()).toHaveLength(3);
		},
	);

	test("stay for ever without limits, and where there is no such directory nothing happens", async () => {
		await using at = await world();
		await at.run("old", 99, { kilobytes: 2_000 });
		expect((await at.prune({ days: 0, megabytes: 0 })).removed).toEqual([]);
		expect(await at.prune({ dir: join(at.dir, "missing") })).toEqual({ removed: [], freedBytes: 0, problems: [] });
	});

	test("count from the last write, not from the launch", async () => {
		await using at = await world();
		const path = await at.run("long", 20);
		await utimes(join(path, RUN_FILES.result), NOW / 1_000, NOW / 1_000);
		expect((await at.prune()).removed).toEqual([]);
	});

	test("of all kinds that we make go, also those that a crash left unfinished", async () => {
		await using at = await world();
		const path = await at.run("old", 20);
		for (const name of [...Object.values(RUN_FILES), "owner-1.json", "owner-12.json", "result.json.7-ab.tmp"]) {
			if (!existsSync(join(path, name))) await writeFile(join(path, name), "");
		}
		await touch(path, 20);
		await at.prune();
		expect(await at.left()).toEqual([]);
	});
});

describe("what is not ours", () => {
	test("stays: a file beside ours, and with it the directory", async () => {
		await using at = await world();
		const path = await at.run("old", 20);
		await writeFile(join(path, "notes.md"), "mine");
		await mkdir(join(path, "owner-1.json")); // a directory under a name of ours
		await symlink(at.temp, join(path, RUN_FILES.stderr));
		await touch(path, 20);
		const { removed, problems } = await at.prune();
		expect([removed, problems]).toEqual([["old"], []]);
		expect((await readdir(path)).sort()).toEqual(["notes.md", "owner-1.json", "stderr.log"]);
		expect((await at.prune()).removed).toEqual([]);
	});

	test.each<[string, (path: string) => Promise<unknown>]>([
		["without a description", (path) => rm(join(path, RUN_FILES.meta))],
		["that somebody else made", (path) => writeFile(join(path, RUN_FILES.meta), '{"createdBy":"me","runId":"old"}')],
		[
			"that was copied from one of ours",
			(path) => writeFile(join(path, RUN_FILES.meta), '{"createdBy":"pi-subagents","runId":"x"}'),
		],
		["whose description is no object", (path) => writeFile(join(path, RUN_FILES.meta), "null")],
	])("stays: a directory %s", async (_what, spoil) => {
		await using at = await world();
		const path = await at.run("old", 20);
		await spoil(path);
		await touch(path, 20);
		const before = await readdir(path);
		expect(await at.prune({ megabytes: 0.0001 })).toEqual({ removed: [], freedBytes: 0, problems: [] });
		expect(await readdir(path)).toEqual(before);
	});

	test("stays: what a link points at, be it the run or its description", async () => {
		await using at = await world();
		const path = await at.run("old", 20);
		await rename(path, join(at.temp, "old"));
		await symlink(join(at.temp, "old"), path);
		await mkdir(join(at.dir, "trap"));
		await symlink("/dev/zero", join(at.dir, "trap", RUN_FILES.meta));
		await writeFile(join(at.dir, ".gitignore"), "*\n");
		expect(await at.prune()).toEqual({ removed: [], freedBytes: 0, problems: [] });
		expect(await at.left()).toEqual([".gitignore", "old", "trap"]);
		expect(existsSync(join(at.temp, "old", RUN_FILES.meta))).toBe(true);
	});
});

describe("what is in use", () => {
	test("stays: a run of this process, and what the caller wants to keep", async () => {
		await using at = await world();
		for (const id of ["live", "kept", "old"]) await at.run(id, 20);
		const { removed } = await at.prune({ isLive: (id) => id === "live", keep: new Set(["kept"]) });
		expect([removed, await at.left()]).toEqual([["old"], ["kept", "live"]]);
	});

	test("stays: a run without a result whose wrapper is alive, and goes when that is gone", async () => {
		await using at = await world();
		const us = await identityOf(process.pid);
		const unfinished = (id: string) => at.run(id, 50, { isUnfinished: true });
		await at.wrappedBy(await unfinished("alive"), { type: "started", at: 1, ...us });
		await at.wrappedBy(await unfinished("dead"), { type: "started", at: 1, ...us, born: "never" });
		await at.wrappedBy(await unfinished("never"), { type: "given_up", at: 1 });
		await at.wrappedBy(await at.run("ended", 50), { type: "started", at: 1, ...us });
		expect((await at.prune()).removed.toSorted()).toEqual(["dead", "ended", "never"]);
		expect(await at.left()).toEqual(["alive"]);
	});

	test("go though their own files name a living process: the agent could have written that", async () => {
		await using at = await world();
		const us = await identityOf(process.pid);
		await wrapperOf(await at.run("here", 50, { isUnfinished: true }), { type: "started", at: 1, ...us });
		const elsewhere = { ...us, host: "elsewhere.example", boot: null };
		await wrapperOf(await at.run("elsewhere", 50, { isUnfinished: true }), { type: "started", at: 1, ...elsewhere });
		expect((await at.prune()).removed.toSorted()).toEqual(["elsewhere", "here"]);
	});

	test("stays: a run that may go on inside another pi, until it was quiet for a day", async () => {
		await using at = await world();
		await at.run("busy", 0.9, { isUnfinished: true, kilobytes: 100 });
		await at.run("gone", 1.1, { isUnfinished: true, kilobytes: 100 });
		expect((await at.prune({ megabytes: 0.0001 })).removed).toEqual(["gone"]);
	});
});

test("a round that was interrupted at any point is finished by the next", async () => {
	await using at = await world();
	const path = await at.run("old", 20);
	const pristine = join(at.temp, "pristine");
	await cp(path, pristine, { recursive: true, preserveTimestamps: true });
	const order = ["system-prompt.md", RUN_FILES.stdout, RUN_FILES.result, RUN_FILES.meta];
	for (let done = 0; done < order.length; done++) {
		await rm(path, { recursive: true, force: true });
		await cp(pristine, path, { recursive: true, preserveTimestamps: true });
		for (const name of order.slice(0, done)) await rm(join(path, name));
		expect((await at.prune()).removed).toEqual(["old"]);
		expect(await at.left()).toEqual([]);
	}
});

test("two who prune at the same time do not get in each other's way", async () => {
	await using at = await world();
	for (let index = 0; index < 20; index++) await at.run(`r${index}`, 20);
	const both = await Promise.all([at.prune(), at.prune()]);
	expect(both.flatMap(({ problems }) => problems)).toEqual([]);
	expect(await at.left()).toEqual([]);
});

test("what cannot be deleted is a problem, and the rest goes all the same", async () => {
	await using at = await world();
	await at.run("old", 20);
	await writeFile(join(at.dir, "file"), "");
	const elsewhere = await at.prune({ dir: join(at.dir, "file") });
	expect(elsewhere.problems).toEqual([expect.stringMatching(/file: ENOTDIR/)]);
	expect((await at.prune()).removed).toEqual(["old"]);
});

test("files that were cut off anywhere, or hold anything, never make it fail", async () => {
	await using at = await world();
	const path = await at.run("a", 20, { isUnfinished: true });
	const us = await identityOf(process.pid);
	await wrapperOf(path, { type: "started", at: 1, ...us });
	const pristine = join(at.temp, "pristine");
	await cp(path, pristine, { recursive: true });
	const size = (await readFile(join(path, RUN_FILES.meta))).length;
	await fc.assert(
		fc.asyncProperty(
			fc.constantFrom(RUN_FILES.meta, RUN_FILES.wrapper),
			fc.oneof(
				fc.nat(size).map((length) => (file: string) => truncate(file, length)),
				fc.uint8Array({ maxLength: 200 }).map((bytes) => (file: string) => writeFile(file, bytes)),
				fc.json().map((text) => (file: string) => writeFile(file, text)),
			),
			async (name, damage) => {
				await rm(path, { recursive: true, force: true });
				await cp(pristine, path, { recursive: true });
				await damage(join(path, name));
				await touch(path, 50);
				expect((await at.prune()).problems).toEqual([]);
			},
		),
		{ numRuns: isFullRun ? 200 : 40 },
	);
});

test("many runs are pruned step by step, and at each step what is left says whose it is and that it is over", async () => {
	await using at = await world();
	const ids = Array.from({ length: isFullRun ? 200 : 60 }, (_, index) => `r${index}`);
	await Promise.all(ids.map((id) => at.run(id, 20)));
	let isOver = false;
	let turns = 0;
	const countTurns = () => {
		turns++;
		if (!isOver) setImmediate(countTurns);
	};
	countTurns();
	const seen = new Set<string>();
	const watching = (async () => {
		while (!isOver) {
			for (const id of ids) {
				const files = await readdir(join(at.dir, id)).catch((): string[] => []); // gone
				seen.add([RUN_FILES.stdout, RUN_FILES.result, RUN_FILES.meta].filter((name) => files.includes(name)).join());
			}
			await setImmediateAsync();
		}
	})();
	await at.prune();
	isOver = true;
	await watching;
	expect(await at.left()).toEqual([]);
	expect(turns).toBeGreaterThan(ids.length); // others had their turn in between
	const steps = ["stdout.log,result.json,meta.json", "result.json,meta.json", "meta.json", ""];
	expect([...seen].filter((state) => !steps.includes(state))).toEqual([]);
});

describe("conversations", () => {
	async function sessions() {
		const at = await world();
		const talk = async (session: string, agent: string, daysAgo: number, kilobytes = 1) => {
			const path = join(at.dir, session, agent);
			await mkdir(path, { recursive: true });
			if (kilobytes > 0) await writeFile(join(path, "2026-01-01.jsonl"), "x".repeat(kilobytes * 1024));
			await touch(path, daysAgo);
			return path;
		};
		const prune = (change: Partial<PruneOptions> = {}) => pruneConversations({ dir: at.dir, ...bounds, ...change });
		return { ...at, talk, prune };
	}

	test("go by age and size, with the directories that become empty", async () => {
		await using at = await sessions();
		await at.talk("s1", "a1", 20);
		await at.talk("s1", "a2", 20, 0);
		await at.talk("s2", "a3", 20);
		await at.talk("s2", "a4", 3, 600);
		await at.talk("s2", "a5", 2, 600);
		expect((await at.prune({ megabytes: 1 })).removed.toSorted()).toEqual(["a1", "a2", "a3", "a4"]);
		expect([await at.left(), await readdir(join(at.dir, "s2"))]).toEqual([["s2"], ["a5"]]);
	});

	test("stay as long as an agent may need them, here or in another pi", async () => {
		await using at = await sessions();
		await at.talk("open", "old", 20);
		await at.talk("s1", "open", 20);
		await at.talk("s1", "kept", 20);
		await at.talk("s1", "recent", 0.5, 600);
		await at.prune({ megabytes: 0.1, isLive: (session) => session === "open", keep: new Set(["kept"]) });
		expect((await readdir(join(at.dir, "s1"))).sort()).toEqual(["kept", "recent"]);
		expect(await readdir(join(at.dir, "open"))).toEqual(["old"]);
	});

	test("leave what others put there, and links alone", async () => {
		await using at = await sessions();
		const path = await at.talk("s1", "a1", 20);
		await writeFile(join(path, "notes.md"), "mine");
		await mkdir(join(at.temp, "elsewhere", "a2"), { recursive: true });
		await writeFile(join(at.temp, "elsewhere", "a2", "x.jsonl"), "theirs");
		await touch(join(at.temp, "elsewhere", "a2"), 20);
		await symlink(join(at.temp, "elsewhere"), join(at.dir, "s2"));
		await at.prune();
		expect([await readdir(path), await readdir(join(at.temp, "elsewhere", "a2"))]).toEqual([["notes.md"], ["x.jsonl"]]);
	});
});
