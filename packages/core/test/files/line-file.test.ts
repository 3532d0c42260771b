import fs, { readFileSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { appendLines, appendLinesSync, endHalfLine, LineFile } from "../../src/files/line-file.ts";

/** What the next writes do: how many bytes the disk takes, or that it is full. */
let takes: (number | "full")[] = [];
let syncs = 0;
const { writeSync, fdatasyncSync } = fs;

/** A disk that takes only a part of a write cannot be had at will. */
beforeAll(() => {
	fs.writeSync = ((file: number, bytes: Buffer, offset?: number | null) => {
		const from = offset ?? 0;
		const next = takes.shift();
		if (next === "full") throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
		return writeSync(file, bytes, from, next ?? bytes.length - from);
	}) as typeof writeSync;
	fs.fdatasyncSync = (file) => {
		syncs++;
		fdatasyncSync(file);
	};
	syncBuiltinESMExports();
});

beforeEach(() => {
	takes = [];
	syncs = 0;
});

afterAll(() => {
	Object.assign(fs, { writeSync, fdatasyncSync });
	syncBuiltinESMExports();
});

async function tempPath(content?: string): Promise<string> {
	const dir = await createTempDir();
	onTestFinished(dir.remove);
	const path = join(dir.path, "log");
	if (content !== undefined) writeFileSync(path, content);
	return path;
}

function lineFile(path: string, options = { durable: false }): LineFile {
	const file = new LineFile(path, options);
	onTestFinished(() => file.close());
	return file;
}

const textIn = (path: string) => readFileSync(path, "utf8");

const APPENDERS: [string, typeof appendLines | typeof appendLinesSync][] = [
	["appendLines", appendLines],
	["appendLinesSync", appendLinesSync],
];

test.each(APPENDERS)("%s creates the file, and ends half a line that another process left", async (_name, append) => {
	const path = await tempPath();
	await append(path, "one\n", { durable: false });
	await append(path, "two\n", { durable: true });
	expect(textIn(path)).toBe("one\ntwo\n");
	const torn = await tempPath('{"hal');
	await append(torn, "whole\n", { durable: false });
	expect(textIn(torn)).toBe('{"hal\nwhole\n');
});

test.each(APPENDERS)("%s begins a new line each time in a file that others write, too", async (_name, append) => {
	const path = await tempPath();
	await append(path, "one\n", { durable: false, isShared: true });
	await append(path, "two\n", { durable: false, isShared: true });
	expect(textIn(path)).toBe("one\n\ntwo\n"); // readers skip blank lines
});

test("writes all of a line of which the system takes one part at a time", async () => {
	const path = await tempPath();
	takes = [1, 2, 3];
	lineFile(path).append("a whole line\n");
	expect(textIn(path)).toBe("a whole line\n");
});

test("a full disk loses the line that it took half of, and no other", async () => {
	const path = await tempPath();
	const file = lineFile(path);
	file.append("one\n");
	takes = [2, "full", "full"];
	expect(() => file.append("two\n")).toThrow("ENOSPC");
	expect(() => file.append("three\n")).toThrow("ENOSPC");
	file.append("four\n");
	file.append("five\n");
	expect(textIn(path)).toBe("one\ntw\nfour\nfive\n");
});

test("pieces of a line are not taken apart", async () => {
	const path = await tempPath();
	const file = lineFile(path);
	file.append("one ");
	file.append(Buffer.from("line\n"));
	expect(textIn(path)).toBe("one line\n");
});

test("a file that starts over has only what came after", async () => {
	const path = await tempPath("left over");
	const file = lineFile(path);
	file.startOver();
	file.append("new\n");
	expect(textIn(path)).toBe("new\n");
});

test("syncs to the disk exactly if its caller wants that", async () => {
	const path = await tempPath();
	lineFile(path, { durable: false }).append("one\n");
	expect(syncs).toBe(0);
	lineFile(path, { durable: true }).append("two\n");
	expect(syncs).toBe(1);
});

test("half a line in another program's file is ended, a whole one and a missing file are left alone", async () => {
	const torn = await tempPath("one\ntw");
	endHalfLine(torn);
	endHalfLine(torn);
	expect(textIn(torn)).toBe("one\ntw\n");
	const missing = `${torn}-missing`;
	endHalfLine(missing);
	expect(() => textIn(missing)).toThrow("ENOENT");
});
