/** What a run's directory may hold in place of its files, and what nobody may wait for. */
import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cpuMs } from "@pi-subagents-dev/testkit/cpu-time";
import { describe, expect, test } from "vitest";
import { parseJson } from "../../../core/src/base/json.ts";
import { processesDir } from "../../../core/src/signals/run-processes.ts";
import { handClock } from "../../../core/src/testing/index.ts";
import type { EventLine } from "../../../runs/src/format/lines.ts";
import { claimDir, claimRun, RUN_FILES, readResult } from "../../../runs/src/index.ts";
import { isWatched, releaseRun } from "../../../runs/src/owner.ts";
import { parseEvent } from "../../../runs/src/read.ts";
import { deadProcess, liveProcess, resultOf, runDir, tempDir } from "../../../runs/test/fixtures/run-dir.ts";
import { attach, start } from "../fixtures/process.ts";

const answer: EventLine = { type: "assistant_text", at: 40, text: "All done.", stopReason: "stop" };
const idle: EventLine = { type: "idle", at: 50 };
const pipe = (path: string) => promisify(execFile)("mkfifo", [path]);

const STRANGE: [string, (path: string) => unknown][] = [
	["a directory", (path) => mkdir(path)],
	["a link to itself", (path) => symlink(path, path)],
	["a pipe", pipe],
	["a device", (path) => symlink("/dev/zero", path)],
];

/** Lets time pass until the run settles. */
async function hurried(clock: ReturnType<typeof handClock>, settled: Promise<unknown>) {
	const timer = setInterval(() => clock.advance(1_000), 10);
	return settled.finally(() => clearInterval(timer));
}

describe.skipIf(process.platform === "win32").each(STRANGE)("where %s is", (_what, make) => {
	test("in place of the result, a run whose wrapper is gone settles with what its log proves", async () => {
		const dir = await runDir();
		await dir.wrappedBy(await deadProcess());
		await dir.log(answer, idle);
		await make(dir.file("result"));
		const { run, reports } = attach(dir);
		expect(await run.settled).toEqual({ status: "completed", text: "All done." });
		expect(reports).toEqual([expect.stringContaining("cannot be used")]);
	});

	test("in place of the result, a stop that the wrapper does not obey ends the run", async () => {
		const dir = await runDir();
		const clock = handClock(1_000);
		await dir.wrappedBy((await liveProcess()).identity);
		await make(dir.file("result"));
		const { run } = attach(dir, { clock });
		run.abort({ by: "user" });
		expect(await hurried(clock, run.settled)).toEqual({ status: "aborted", by: "user" });
	});

	test("in place of what the wrapper says of itself, the run is given up in time", async () => {
		const dir = await runDir();
		const clock = handClock(1_000);
		await mkdir(processesDir(dir.place), { recursive: true });
		await make(join(processesDir(dir.place), "wrapper.json"));
		const { run } = attach(dir, { clock });
		const reason = "the record of its process is broken";
		expect(await hurried(clock, run.settled)).toMatchObject({ by: "lost", reason });
		expect(clock.now()).toBeGreaterThanOrEqual(11_000);
	});

	test("in place of the log, of what was said to the run, or of an owner, nobody waits for it", async () => {
		const dir = await runDir();
		await dir.wrappedBy(await deadProcess());
		await make(dir.file("events"));
		await make(dir.file("control"));
		const { run } = attach(dir);
		run.steer("hello");
		expect(await run.settled).toMatchObject({ by: "lost" });
		await mkdir(processesDir(dir.place), { recursive: true });
		await make(join(processesDir(dir.place), "owner-1.json"));
		await expect(claimRun(dir.place)).rejects.toThrow();
		expect(() => releaseRun(dir.place)).toThrow();
		expect(await isWatched(dir.place)).toBe(false);
	});

	test("in place of a conversation, the next run says so", async () => {
		const runs = await tempDir();
		await mkdir(join(runs, "a1"));
		await make(join(runs, "a1", RUN_FILES.session));
		const { run } = await start(join(runs, "a1-2"), "", { spec: { run: 2 } });
		expect(await run.settled).toMatchObject({ status: "failed" });
	});
});

test("a result that the wrapper could not write, since something has its name, is taken from its output", async () => {
	const path = join(await tempDir(), "a1");
	const { run } = await start(
		path,
		`import { mkdirSync } from "node:fs";
		mkdirSync(process.argv[2] + "/result.json");
		console.log(${JSON.stringify(JSON.stringify(resultOf({ status: "completed", text: "Told." })))});`,
	);
	expect(await run.settled).toEqual({ status: "completed", text: "Told." });
	expect(await readResult(path)).toMatchObject({ outcome: { text: "Told." } }); // it has its place now
});

test("owners' files with numbers that cannot be are no reason to look for ever", async () => {
	const dir = await tempDir();
	for (const number of [999_999_999, 1_000_000_000]) await writeFile(join(dir, `owner-${number}.json`), "{}");
	await expect(claimDir(dir)).rejects.toThrow("Delete those files");
});

test("data that is nested too deeply is not even parsed, however long it is", () => {
	const depth = 2_000_000;
	const args = `${'{"a":['.repeat(depth / 2)}${"]}".repeat(depth / 2)}`;
	const line = `{"type":"tool_call","at":1,"tool":"x","args":${args}}`;
	expect(cpuMs(() => expect(parseEvent(line)).toBeUndefined())).toBeLessThan(500);
	const shallow = { text: '[{"\\"[{'.repeat(1_000), deep: JSON.parse(`${"[".repeat(400)}${"]".repeat(400)}`) };
	expect(parseJson(JSON.stringify(shallow))).toEqual(shallow);
});
