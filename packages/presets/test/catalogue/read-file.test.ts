import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isUnchanged, isUnchangedSync, readSmallFile, readSmallFileSync } from "../../src/catalogue/read-file.ts";
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
])("%s gives the same at once and later: %s", async (_what, type, prepare) => {
	const path = join(await tree({ "some.md": "x".repeat(maxBytes) }), "x.md");
	await prepare(path);
	readSmallFileSync(join(path, "..", "some.md"), { maxBytes, isRegular: true }); // what it read does not show through
	for (const isRegular of [false, true]) {
		const read = readSmallFileSync(path, { maxBytes, isRegular });
		expect(read.type).toBe(type);
		expect(read).toEqual(await readSmallFile(path, { maxBytes, isRegular }));
		if (!("stamp" in read) || read.stamp === undefined) continue;
		expect([isUnchangedSync(path, read.stamp), await isUnchanged(path, read.stamp)]).toEqual([true, true]);
		const other = { ...read.stamp, size: read.stamp.size + 1 };
		expect([isUnchangedSync(path, other), await isUnchanged(path, other)]).toEqual([false, false]);
	}
});

test("a file that is not there is gone, at once and later, and is not what it was", async () => {
	const path = join(await tree(), "x.md");
	const options = { maxBytes, isRegular: true };
	expect([readSmallFileSync(path, options), await readSmallFile(path, options)]).toEqual([
		{ type: "gone" },
		{ type: "gone" },
	]);
	const stamp = { dev: 0, ino: 0, size: 0, mtimeMs: 0, ctimeMs: 0 };
	expect([isUnchangedSync(path, stamp), await isUnchanged(path, stamp)]).toEqual([false, false]);
});
