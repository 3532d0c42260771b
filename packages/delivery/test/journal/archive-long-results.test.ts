import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Manager, systemClock } from "@pi-subagents/core";
import { fakeRunner, sampleSpec } from "@pi-subagents/core/testing";
import { recordRuns, wholeOutcome } from "@pi-subagents/runs";
import { expect, test } from "vitest";
import { archiveLongResults } from "../../src/journal/archive-long-results.ts";

const spec = sampleSpec;

const LONG = "A long story. ".repeat(1_000);

/** Agents a1, a2, … whose runs keep files; those of `lost` are gone before anybody looks. */
async function world({ lost = [] }: { lost?: string[] } = {}) {
	const temp = await mkdtemp(join(tmpdir(), "filing-"));
	const runsDir = join(temp, "runs");
	await mkdir(runsDir);
	const runner = fakeRunner();
	let ids = 0;
	const manager = new Manager({ runners: { session: runner }, clock: systemClock, newId: () => `a${++ids}` });
	const recorder = recordRuns({ store: manager.store, specOf: (id) => manager.specOf(id) });
	const told: string[] = [];
	archiveLongResults({
		manager,
		async flushLogs() {
			await recorder.flush();
			for (const id of lost) await rm(join(runsDir, id), { recursive: true, force: true });
		},
		warn: (message) => void told.push(message),
	});
	const answer = async (text: string) => {
		const { id } = manager.spawn({ ...spec, runsDir });
		runner.runs.at(-1)?.answer(text);
		return await manager.wait(id);
	};
	const recordOf = (id: string) => manager.store.record(id) ?? Promise.reject(new Error(`no ${id}`));
	const lengthOf = (id: string) => JSON.stringify(manager.store.record(id)?.outcome).length;
	return { answer, recordOf, lengthOf, told, [Symbol.asyncDispose]: () => rm(temp, { recursive: true }) };
}

test("a long answer leaves the memory when it is in its file, and is read from there", async () => {
	await using at = await world();
	expect(await at.answer(LONG)).toEqual({ status: "completed", text: LONG });
	await expect.poll(() => at.lengthOf("a1")).toBeLessThan(2_100);
	const record = await at.recordOf("a1");
	expect(record.outcome).toEqual({ status: "completed", text: LONG.slice(0, 2_000), omitted: LONG.length - 2_000 });
	expect(await wholeOutcome(record, record.outcome ?? { status: "completed", text: "" })).toEqual({
		status: "completed",
		text: LONG,
	});
});

test("one whose file is gone stays in memory, and a short one is left alone", async () => {
	await using at = await world({ lost: ["a1"] });
	await at.answer(LONG);
	await at.answer("short");
	await at.answer(LONG);
	await expect.poll(() => at.lengthOf("a3")).toBeLessThan(2_100);
	expect((await at.recordOf("a1")).outcome).toEqual({ status: "completed", text: LONG });
	expect((await at.recordOf("a2")).outcome).toEqual({ status: "completed", text: "short" });
	expect(at.told).toEqual([]);
});
