import { appendFile, rename, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { BytesFollower, type FollowBytesOptions } from "../../src/files/follow-bytes.ts";
import { handClock } from "../../src/testing/index.ts";

async function tempDir(): Promise<string> {
	const dir = await createTempDir();
	onTestFinished(dir.remove);
	return dir.path;
}

function follow(dir: string, options: Partial<FollowBytesOptions> = {}) {
	const pieces: string[] = [];
	const reports: string[] = [];
	const follower = new BytesFollower({
		dir,
		from: new Map([["log", 0]]),
		clock: handClock(),
		report: (message) => void reports.push(message),
		onBytes: (name, at, bytes) => void pieces.push(`${name} ${at} ${bytes}`),
		...options,
	});
	onTestFinished(() => follower.close());
	return { pieces, reports, follower };
}

test("continues each file behind what is known of it", async () => {
	const dir = await tempDir();
	await writeFile(join(dir, "log"), "0123456789");
	await writeFile(join(dir, "other"), "abc");
	const from = new Map([
		["log", 4],
		["other", 3],
		["missing", 0],
	]);
	const { pieces, follower, reports } = follow(dir, { from });
	await follower.look();
	expect(pieces).toEqual(["log 4 456789"]);
	await appendFile(join(dir, "other"), "def");
	await follower.look();
	expect(pieces.slice(1)).toEqual(["other 3 def"]);
	expect(reports).toEqual([]);
});

test("a file that was shortened or replaced starts over", async () => {
	const dir = await tempDir();
	const path = join(dir, "log");
	await writeFile(path, "one");
	const { pieces, follower } = follow(dir);
	await follower.look();
	await truncate(path, 0);
	await follower.look();
	await appendFile(path, "t");
	await follower.look();
	await writeFile(join(dir, "new"), "three");
	await rename(join(dir, "new"), path);
	await follower.look();
	expect(pieces).toEqual(["log 0 one", "log 0 t", "log 0 three"]);
});

test("bytes that could not be passed on come again at the next look", async () => {
	const dir = await tempDir();
	await writeFile(join(dir, "log"), "hello");
	const seen: string[] = [];
	const { follower, reports } = follow(dir, {
		async onBytes(_name, at, bytes) {
			seen.push(`${at} ${bytes}`);
			if (seen.length < 3) throw new Error("the connection is down");
		},
	});
	for (let looks = 0; looks < 4; looks++) await follower.look();
	expect(seen).toEqual(["0 hello", "0 hello", "0 hello"]);
	expect(reports).toEqual([`${dir}: the connection is down`]);
});

test("who asks for a look just when one ends gets another", async () => {
	const dir = await tempDir();
	const path = join(dir, "log");
	const { pieces, follower } = follow(dir);
	const first = follower.look();
	const asked = first.then(async () => {
		await writeFile(path, "late");
		await follower.look();
		return [...pieces];
	});
	expect(await asked).toEqual(["log 0 late"]);
});

test("a directory in a file's place is reported once, and the other files are read", async () => {
	const dir = await tempDir();
	await writeFile(join(dir, "log"), "hello");
	let quiet = 0;
	const { pieces, reports, follower } = follow(join(dir), {
		from: new Map([
			["..", 0],
			["log", 0],
		]),
		onQuiet: () => void quiet++,
	});
	await follower.look();
	await follower.look();
	expect(pieces).toEqual(["log 0 hello"]);
	expect(reports).toHaveLength(1);
	expect(quiet).toBeGreaterThan(0);
});

test("delivers nothing after it was closed", async () => {
	const dir = await tempDir();
	const { pieces, follower } = follow(dir);
	await follower.look();
	follower.close();
	await writeFile(join(dir, "log"), "hello");
	await follower.look();
	expect(pieces).toEqual([]);
});
