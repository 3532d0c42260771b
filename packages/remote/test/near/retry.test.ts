import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { INHERITED, type Outcome } from "@pi-subagents/core";
import { expect, onTestFinished, test } from "vitest";
import { keepFirst, type LostRun, mayRunAgain, setAside, wasRunAgain } from "../../src/near/retry.ts";

const lost: Outcome = { status: "aborted", by: "lost" };
const again: LostRun = { spec: { retry: "lost", run: 1 }, outcome: lost, isOver: true, wasRunAgain: false };

test.each<[string, Partial<LostRun>, boolean]>([
	["was lost and asked for it", {}, true],
	["did not ask", { spec: { run: 1 } }, false],
	["may still be alive", { isOver: false }, false],
	["was run again already", { wasRunAgain: true }, false],
	["was stopped", { outcome: { status: "aborted", by: "user" } }, false],
	["took too long", { outcome: { status: "aborted", by: "timeout" } }, false],
	["failed", { outcome: { status: "failed", error: "no luck" } }, false],
	["completed", { outcome: { status: "completed", text: "Done." } }, false],
	["began with a conversation that is here", { spec: { ...again.spec, inheritsContext: true, [INHERITED]: [] } }, true],
	["began with one that only an earlier process had", { spec: { ...again.spec, inheritsContext: true } }, false],
	["is a resumed one, whose files have it", { spec: { ...again.spec, inheritsContext: true, run: 2 } }, true],
])("a run that %s", (_name, change, expected) => {
	expect(mayRunAgain({ ...again, ...change })).toBe(expected);
});

test("the files of the first attempt make room, and are kept with those of the second", async () => {
	const root = await mkdtemp(join(tmpdir(), "retry-"));
	onTestFinished(() => rm(root, { recursive: true, force: true }));
	const dir = join(root, "a1");
	await mkdir(join(dir, "first"), { recursive: true });
	await setAside(dir);
	expect((await readdir(root)).filter((name) => !name.startsWith("."))).toEqual([]);
	await mkdir(dir);
	expect(await wasRunAgain(dir)).toBe(false);
	await keepFirst(dir);
	expect([await wasRunAgain(dir), await readdir(root), await readdir(join(dir, "lost"))]).toEqual([
		true,
		["a1"],
		["first"],
	]);
	await keepFirst(dir); // nothing more to move
});
