import { appendFile, mkdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { type FollowOptions, followLines } from "../../src/files/tail.ts";
import { systemClock } from "../../src/index.ts";
import { handClock } from "../../src/testing/index.ts";

async function tempPath(...names: string[]): Promise<string> {
	const dir = await createTempDir();
	onTestFinished(dir.remove);
	return join(dir.path, ...names);
}

function follow(path: string, options: Partial<FollowOptions> = {}) {
	const lines: string[] = [];
	const reports: string[] = [];
	const follower = followLines(path, (line) => void lines.push(line), {
		clock: systemClock,
		report: (message) => void reports.push(message),
		...options,
	});
	onTestFinished(() => follower.close());
	return { lines, reports, flush: () => follower.flush(), close: () => follower.close() };
}

test("lines that are there come first, then each as it is completed", async () => {
	const path = await tempPath("log");
	await writeFile(path, "one\ntwo\nthr");
	const { lines } = follow(path);
	await expect.poll(() => lines).toEqual(["one", "two"]);
	await appendFile(path, "ee\n\nfive\n");
	await expect.poll(() => lines).toEqual(["one", "two", "three", "", "five"]);
});

test("a file that does not exist yet is read when it does", async () => {
	const path = await tempPath("log");
	const { lines, reports, flush } = follow(path);
	await flush();
	await writeFile(path, "hello\n");
	await expect.poll(() => lines).toEqual(["hello"]);
	expect(reports).toEqual([]);
});

test("where nothing tells of changes it looks by itself", async () => {
	const path = await tempPath("later", "log"); // a directory that does not exist cannot be watched
	const clock = handClock();
	const { lines, flush } = follow(path, { clock });
	await flush();
	await mkdir(join(path, ".."));
	await writeFile(path, "hello\n");
	clock.advance(2_000);
	await flush();
	expect(lines).toEqual(["hello"]);
});

test("a file that was cut is read on from its end, and that is said once", async () => {
	const path = await tempPath("log");
	await writeFile(path, "one\ntwo\nthr");
	const { lines, reports, flush } = follow(path);
	await flush();
	await truncate(path, 4);
	await flush();
	await appendFile(path, "four\n");
	await flush();
	await truncate(path, 0);
	await flush();
	expect(lines).toEqual(["one", "two", "thr", "four", ""]); // whoever reads lines sees that the third is none
	expect(reports).toEqual([expect.stringContaining("was truncated")]);
});

test("a file whose writer starts over is read again from its start, and a partial line is ignored", async () => {
	const path = await tempPath("log");
	await writeFile(path, "one\ntwo\nthr");
	const { lines, reports, flush } = follow(path, { startsOver: true });
	await flush();
	await writeFile(path, "four\n");
	await flush();
	expect(lines).toEqual(["one", "two", "thr", "four"]);
	expect(reports).toEqual([]);
});

test("only LF ends a line, and a character may be cut anywhere", async () => {
	const path = await tempPath("log");
	const bytes = Buffer.from("a\u2028b\u0085c\r\n🦊\n");
	const { lines, flush } = follow(path);
	for (const byte of bytes) {
		await appendFile(path, Buffer.of(byte));
		await flush();
	}
	expect(lines).toEqual(["a\u2028b\u0085c", "🦊"]);
});

test("whatever byte the file ends at, whole lines come once and the rest when it is whole", async () => {
	const path = await tempPath("log");
	const text = '{"a":1}\n{"b":"ü"}\n\n{"c":3}\n';
	const bytes = Buffer.from(text);
	for (let cut = 0; cut <= bytes.length; cut++) {
		await writeFile(path, bytes.subarray(0, cut));
		const { lines, flush, close } = follow(path);
		await flush();
		const whole = bytes.subarray(0, cut).toString().split("\n").slice(0, -1);
		expect(lines).toEqual(whole);
		await appendFile(path, bytes.subarray(cut));
		await flush();
		expect(lines).toEqual(text.split("\n").slice(0, -1));
		close();
	}
});

test("a line that is too long is skipped and reported, and the next one comes", async () => {
	const path = await tempPath("log");
	await writeFile(path, `${"x".repeat(9 * 1024 * 1024)}\nnext\n`);
	const { lines, reports, flush } = follow(path);
	await flush();
	expect(lines).toEqual(["next"]);
	expect(reports).toEqual([expect.stringContaining("9437184 bytes")]);
});

test("flush has delivered what was written before it, however much is being read", async () => {
	const path = await tempPath("log");
	const { lines, flush } = follow(path);
	for (let round = 1; round <= 20; round++) {
		await appendFile(path, "line\n".repeat(50_000));
		const first = flush();
		await Promise.all([first, flush(), flush()]);
		expect(lines.length).toBe(round * 50_000);
	}
});

test("after it is closed nothing comes, also from a look that is going on", async () => {
	const path = await tempPath("log");
	await writeFile(path, "line\n".repeat(100_000));
	const { lines, flush, close } = follow(path);
	close();
	await flush();
	expect(lines).toEqual([]);
});

test("it says when it has told all there was", async () => {
	const path = await tempPath("log");
	await writeFile(path, "one\ntwo\n");
	const seen: number[] = [];
	const { lines, flush } = follow(path, { onQuiet: () => void seen.push(lines.length) });
	await flush();
	expect(new Set(seen)).toEqual(new Set([2]));
});

test("a file that cannot be read is reported once", async () => {
	const path = await tempPath("log");
	await mkdir(path);
	const { reports, flush } = follow(path);
	await flush();
	await flush();
	expect(reports).toEqual([expect.stringContaining(path)]);
});

test("a line that its reader cannot handle is reported, and the others are delivered once", async () => {
	const path = await tempPath("log");
	await writeFile(path, "one\ntwo\nthree\n");
	const lines: string[] = [];
	const reports: string[] = [];
	const follower = followLines(
		path,
		(line) => {
			if (line === "two") throw new Error("no number");
			lines.push(line);
		},
		{ clock: handClock(), report: (message) => void reports.push(message) },
	);
	onTestFinished(() => follower.close());
	await follower.flush();
	await follower.flush();
	expect(lines).toEqual(["one", "three"]);
	expect(reports).toEqual([`A line in ${path} could not be handled: no number`]);
});
