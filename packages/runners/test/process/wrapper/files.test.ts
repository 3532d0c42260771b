import { chmod, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { GrowingFile } from "../../../../core/src/files/growing-file.ts";
import { RunProcesses } from "../../../../core/src/signals/run-processes.ts";
import { RUN_FILES } from "../../../../runs/src/format/layout.ts";
import { isProven, proveResult } from "../../../../runs/src/proof.ts";
import { fakeWorld } from "./fixture.ts";

test.each([
	["stdout.log", "EISDIR"],
	["stderr.log", "EISDIR"],
	["transcript.log", "EISDIR"],
	["events.jsonl", "EISDIR"],
])("a %s that cannot be opened is reported in the result, which is still written", async (name, why) => {
	await using world = await fakeWorld("answers");
	await mkdir(join(world.runDir, name));
	const { code, result } = await world.run();
	expect(code).toBe(0);
	expect(result?.outcome).toEqual({ status: "completed", text: "Done." });
	expect(result?.lost).toEqual([expect.stringMatching(`^${name}: ${why}`)]);
	expect(await world.survivors()).toEqual([]);
});

test("a disk that is full for everything else is reported once for each file", async () => {
	const names = ["events.jsonl", "stdout.log", "transcript.log"];
	const preload = fileURLToPath(new URL("full-disk.cjs", import.meta.url));
	const env = { ...process.env, FULL_FOR: names.join(), NODE_OPTIONS: `--require "${preload}"` };
	await using world = await fakeWorld("works", { env });
	await world.watch();
	const { result } = await world.run();
	// Nobody can read the checkpoint, so nobody is waited for.
	expect(result?.outcome).toEqual({ status: "completed", text: "Worked." });
	expect(result?.lost?.toSorted()).toEqual(names.map((name) => expect.stringMatching(`^${name}: ENOSPC`)));
	expect(await world.survivors()).toEqual([]);
});

test("files that were replaced by links are reported once each, and what they lead to stays as it is", async () => {
	await using world = await fakeWorld("works");
	await world.watch();
	const other = join(world.runDir, "other");
	await writeFile(other, "theirs");
	for (const name of ["events.jsonl", "transcript.log", "stdout.log"]) await symlink(other, join(world.runDir, name));
	const { result } = await world.run();
	// Nobody can read the checkpoint, so nobody is waited for.
	expect(result?.outcome).toEqual({ status: "completed", text: "Worked." });
	expect(result?.lost?.map((text) => text.split(":")[0]).sort()).toEqual([
		"events.jsonl",
		"stdout.log",
		"transcript.log",
	]);
	expect(await world.read("other")).toBe("theirs");
	expect(await world.survivors()).toEqual([]);
});

test.skipIf(process.platform === "win32")(
	"a link in place of the conversation gives no permissions to what it leads to",
	async () => {
		await using world = await fakeWorld("answers");
		const other = join(world.runDir, "other");
		await mkdir(other);
		await chmod(other, 0o755);
		await symlink(other, join(world.runDir, RUN_FILES.session));
		const { result } = await world.run();
		expect(result?.outcome).toEqual({ status: "completed", text: "Done." });
		expect((await stat(other)).mode & 0o777).toBe(0o755);
		expect(await world.events()).toContainEqual(
			expect.objectContaining({ type: "notice", text: `${RUN_FILES.session}: it is a link` }),
		);
	},
);

test("a result that cannot be written is still told to whoever reads the output", async () => {
	await using world = await fakeWorld("answers");
	await mkdir(join(world.runDir, RUN_FILES.result));
	const { code, stdout, stderr } = await world.run();
	expect(code).toBe(0);
	expect(JSON.parse(stdout)).toMatchObject({ runId: "a1", outcome: { status: "completed", text: "Done." } });
	expect(stderr).toBe("");
});

test.each([
	["that a process of ours wrote is not replaced", true],
	["that the agent could have written is replaced", false],
])("a result %s", async (_what, isOurs) => {
	await using world = await fakeWorld("answers");
	if (isOurs) await proveResult(world.place, "{}");
	await writeFile(join(world.runDir, RUN_FILES.result), "{}");
	const { result } = await world.run();
	expect(result?.outcome.status).toBe(isOurs ? undefined : "completed");
	expect(await isProven(world.place, await world.read(RUN_FILES.result))).toBe(true);
});

test("a run that somebody else has taken is not started again", async () => {
	await using world = await fakeWorld("answers");
	await new RunProcesses(world.place).preventStart(1);
	const { code, stdout, result } = await world.run();
	expect({ code, stdout, result }).toEqual({ code: 0, stdout: "", result: undefined });
	expect(await world.heard()).toEqual([]);
});

test("of two wrappers one runs", async () => {
	await using world = await fakeWorld("answers");
	const ends = await Promise.all([world.run(), world.run()]);
	expect(ends.map(({ stdout }) => stdout).filter((text) => text !== "")).toHaveLength(1);
	expect(await world.heard()).toHaveLength(1);
	expect(JSON.parse(await world.read(RUN_FILES.wrapper))).toMatchObject({ type: "started", pid: expect.any(Number) });
});

test("a description of the run that cannot be used is said, and nothing is started", async () => {
	await using world = await fakeWorld("answers");
	await writeFile(join(world.runDir, RUN_FILES.meta), '{"format":1');
	const { code, stderr, result } = await world.run();
	expect({ code, result }).toEqual({ code: 1, result: undefined });
	expect(stderr).toMatch(/^This run cannot be started: .*meta\.json/);
});

test("only the user can read what a run writes", async () => {
	await using world = await fakeWorld("careless");
	await world.run();
	const ours = ["events.jsonl", "transcript.log", "stdout.log", "stderr.log", "wrapper.json", "result.json"];
	for (const name of [...ours, "child-session.jsonl"]) {
		expect([name, (await stat(join(world.runDir, name))).mode & 0o077]).toEqual([name, 0]);
	}
	expect(await world.read("stderr.log")).toBe("");
});

test("a file that reaches its size limit keeps its beginning", async () => {
	await using world = await fakeWorld("answers");
	const path = join(world.runDir, "small.log");
	const lost: string[] = [];
	const file = new GrowingFile({ path, maxBytes: 1024 * 1024, durable: false, onLost: (what) => lost.push(what) });
	expect([file.append("first\n"), file.append("x".repeat(1024 * 1024)), file.append("last\n")]).toEqual([
		true,
		false,
		false,
	]);
	file.close();
	expect(await world.read("small.log")).toBe("first\n");
	expect(lost).toEqual(["small.log: only the first 1 MB are kept"]);
});
