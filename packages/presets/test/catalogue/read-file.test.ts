import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isUnchanged, readSmallFile } from "../../src/catalogue/read-file.ts";
import { preset, put, tree } from "../support.ts";

const run = promisify(execFile);
const maxBytes = 4096;

test.each<[string, string, (path: string) => Promise<unknown>]>([
	["a preset", "text", (path) => put(path, preset("x"))],
	["an empty file", "text", (path) => put(path, "")],
	["the largest file", "text", (path) => put(path, "é".repeat(maxBytes / 2))],
	["a file that is too large", "unusable", (path) => put(path, "x".repeat(maxBytes + 1))],
	["a file that is not UTF-8", "unusable", (path) => put(path, Buffer.from("für", "latin1"))],
	["a link to a device", "unusable", (path) => symlink("/dev/zero", path)],
	["a link to itself", "unusable", (path) => symlink(path, path)],
	["a pipe", "unusable", (path) => run("mkfifo", [path])],
	["a directory", "unusable", (path) => mkdir(path)],
])("%s is read as %s", async (_what, type, prepare) => {
	const path = join(await tree(), "x.md");
	await prepare(path);
	for (const isRegular of [false, true]) {
		const read = readSmallFile(path, { maxBytes, isRegular });
		expect(read.type).toBe(type);
		if (!("stamp" in read) || read.stamp === undefined) continue;
		expect(isUnchanged(path, read.stamp)).toBe(true);
		expect(isUnchanged(path, { ...read.stamp, size: read.stamp.size + 1 })).toBe(false);
	}
});

test("a file that is not there is gone, and is not what it was", async () => {
	const path = join(await tree(), "x.md");
	const options = { maxBytes, isRegular: true };
	expect(readSmallFile(path, options)).toEqual({ type: "gone" });
	const stamp = { dev: 0, ino: 0, size: 0, mtimeMs: 0, ctimeMs: 0 };
	expect(isUnchanged(path, stamp)).toBe(false);
});
