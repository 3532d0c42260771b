import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Meta, readMeta, readResult } from "../../../runs/src/index.ts";
import { parseEvent } from "../../../runs/src/read.ts";
import { metaOf } from "../../../runs/src/write.ts";
import { resultOf, runDir, tempDir } from "../../../runs/test/fixtures/run-dir.ts";
import { runSpec } from "../fixtures/process.ts";

/** Says as much as one can. */
const meta: Meta = {
	...metaOf(
		{
			...runSpec,
			artifacts: "/runs/a1",
			thinking: "high",
			systemPrompt: { mode: "replace", text: "Du bist der Späher 🦊." },
			extensions: ["git"],
			skills: true,
			outlives: true,
			runsDir: "/runs",
			limits: { maxTurns: 5, budgetCost: 0.5 },
			origins: { model: "call" },
			warnings: ["mind the gap"],
		},
		{
			createdAt: 1_700_000_000_000,
			parentSessionId: "s1",
			launch: { command: "pi", args: ["--mode", "rpc"], env: { A: "b" }, showsProgress: false },
		},
	),
};

async function metaFile(content: string | Uint8Array) {
	const dir = await runDir();
	await writeFile(dir.file("meta"), content);
	return dir.path;
}

describe("what a run is", () => {
	test("is read back as it was written", async () => {
		expect(await readMeta(await metaFile(JSON.stringify(meta)))).toEqual(meta);
	});

	test("is not told by a file that was cut off, whatever the byte", async () => {
		const bytes = Buffer.from(JSON.stringify(meta));
		const dir = await runDir();
		for (let cut = 0; cut < bytes.length; cut++) {
			await writeFile(dir.file("meta"), bytes.subarray(0, cut));
			expect(await readMeta(dir.path)).toBe(`${dir.file("meta")} is not the whole description of a run`);
		}
	});

	test.each([
		["an id that leads elsewhere", { agentId: "../../etc", runId: "../../etc" }],
		["an id with a slash", { agentId: "a/b", runId: "a/b" }],
		["an id that is a dot", { agentId: "..", runId: ".." }],
		["a run that has another name", { runId: "b2" }],
		["a run without a number", { run: 0 }],
		["a relative directory", { cwd: "project" }],
		["another format", { format: 2 }],
		["somebody else's file", { createdBy: "them" }],
		["a spec that is none", { spec: { ...meta.spec, tools: "read" } }],
		["a runner that does not exist", { spec: { ...meta.spec, runner: "cloud" } }],
		["a limit that is a text", { spec: { ...meta.spec, limits: { maxTurns: "5" } } }],
	])("is refused with %s", async (_what, wrong) => {
		expect(await readMeta(await metaFile(JSON.stringify({ ...meta, ...wrong })))).toMatch(/is not the whole/);
	});

	test("is refused where there is no file, or something else in its place", async () => {
		const dir = await tempDir();
		expect(await readMeta(join(dir, "gone"))).toMatch(/does not exist/);
		await mkdir(join(dir, "meta.json"));
		expect(await readMeta(dir)).toMatch(/cannot be read/);
	});

	test("is not read into memory when it is huge", async () => {
		const dir = await runDir();
		const file = await open(dir.file("meta"), "w");
		await file.truncate(65 * 1024 * 1024);
		await file.close();
		expect(await readMeta(dir.path)).toMatch(/larger than 64 MB/);
	});

	test("may say more than is known here", async () => {
		const newer = { ...meta, spec: { ...meta.spec, hologram: true } };
		expect(await readMeta(await metaFile(JSON.stringify(newer)))).toEqual(newer);
	});
});

describe("how a run ended", () => {
	test("is not told as long as nothing whole is there, whatever the byte", async () => {
		const dir = await runDir();
		const result = { ...resultOf({ status: "aborted", by: "lost", partialText: "halb 🦊" }), lost: ["its log"] };
		const bytes = Buffer.from(JSON.stringify(result));
		expect(await readResult(dir.path)).toBeUndefined();
		for (let cut = 0; cut < bytes.length; cut++) {
			await writeFile(dir.file("result"), bytes.subarray(0, cut));
			expect(await readResult(dir.path)).toBeUndefined();
		}
		await writeFile(dir.file("result"), bytes);
		expect(await readResult(dir.path)).toEqual(result);
	});

	test.each([
		["an outcome nobody knows", { outcome: { status: "vanished" } }],
		["a completion without text", { outcome: { status: "completed" } }],
		["a stop by nobody", { outcome: { status: "aborted", by: "ghosts" } }],
		["figures that cannot be", { usage: { input: -1, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 } }],
		["half a turn", { turns: 0.5 }],
		["a date that cannot be told", { completedAt: 1e300 }],
	])("is not told by %s", async (_what, wrong) => {
		const dir = await runDir();
		await writeFile(dir.file("result"), JSON.stringify({ ...resultOf({ status: "completed", text: "x" }), ...wrong }));
		expect(await readResult(dir.path)).toBeUndefined();
	});
});

test("any line at all is an event of a known kind, or none", () => {
	const line = fc.oneof(
		fc.string(),
		fc.json(),
		fc.record({ type: fc.constantFrom("idle", "usage", "tool_call", "question"), at: fc.anything() }).map((value) => {
			try {
				return JSON.stringify(value);
			} catch {
				return "not JSON"; // a bigint
			}
		}),
	);
	fc.assert(
		fc.property(line, (text) => {
			const event = parseEvent(text);
			expect(event === undefined || typeof event.at === "number").toBe(true);
		}),
	);
});
