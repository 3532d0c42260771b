/** Jobs of sessions that are gone. */
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { pruneSchedules } from "../../src/index.ts";

const DAY_MS = 24 * 60 * 60_000;

test("jobs go with their session, not before they are old, and never those of one that is there or open", async () => {
	const dir = await mkdtemp(join(tmpdir(), "schedules-"));
	onTestFinished(() => rm(dir, { recursive: true }));
	const now = Date.now();
	const kept = async (id: string, { session, ageDays }: { session: string | undefined; ageDays: number }) => {
		const journal = join(dir, id, "journal-1");
		await mkdir(journal, { recursive: true });
		const files = [join(journal, "entries.jsonl"), journal, join(dir, id)];
		await writeFile(join(journal, "entries.jsonl"), "");
		if (session !== undefined) {
			await writeFile(join(dir, id, ".session"), `${session}\n`);
			files.unshift(join(dir, id, ".session"));
		}
		for (const file of files) await utimes(file, (now - ageDays * DAY_MS) / 1_000, (now - ageDays * DAY_MS) / 1_000);
	};
	const there = join(dir, "a-file");
	await writeFile(there, "");
	await kept("gone", { session: join(dir, "no-such.jsonl"), ageDays: 20 });
	await kept("unknown", { session: undefined, ageDays: 20 });
	await kept("spoiled", { session: '{"type":\0 garbage', ageDays: 20 });
	await kept("young", { session: join(dir, "no-such.jsonl"), ageDays: 2 });
	await kept("there", { session: there, ageDays: 20 });
	await kept("open", { session: undefined, ageDays: 20 });
	const isLive = (id: string) => id === "open";
	await pruneSchedules({ dir, days: 0, now, isLive });
	expect(await readdir(dir)).toHaveLength(7);
	await pruneSchedules({ dir, days: 14, now, isLive });
	expect((await readdir(dir)).sort()).toEqual(["a-file", "open", "there", "young"]);
	await pruneSchedules({ dir: join(dir, "nothing"), days: 14, now, isLive });
});
