/** A program at the other end of a pipe that sends without end. It is a real process, and so is its pipe. */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@pi-subagents/core";
import { expect, onTestFinished, test } from "vitest";
import type { Piece } from "../../src/link/link.ts";
import { StdioLink } from "../../src/stdio/near.ts";
import { PROTOCOL } from "../../src/stdio/protocol.ts";

const MEGABYTE = 1024 * 1024;

/** Says hello and that it lives, answers requests as `answer` does, and counts in a file what it was asked for or sent. */
const worker = (answer: string) => `
const { renameSync, writeFileSync } = require("node:fs");
const say = (frame) => process.stdout.write(JSON.stringify(frame) + "\\n");
const count = (number) => {
	writeFileSync(process.argv[1] + ".new", String(number)); // whoever reads it finds a number
	renameSync(process.argv[1] + ".new", process.argv[1]);
};
let asked = 0;
process.on("SIGTERM", () => undefined); // it does not want to end
setInterval(() => say({ does: "beat" }), 1_000);
say({ does: "hello", body: { protocol: ${PROTOCOL}, version: "1" } });
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
	const { id, does, body } = JSON.parse(line);
	${answer}
});`;

async function linked(answer: string) {
	const dir = await mkdtemp(join(tmpdir(), "pi-remote-endless-"));
	onTestFinished(() => rm(dir, { recursive: true, force: true }));
	const counter = join(dir, "count");
	const args = ["-e", worker(answer), counter];
	const link = new StdioLink({
		...{ name: "box", version: "1", command: process.execPath, args },
		clock: systemClock,
		report: () => undefined,
	});
	onTestFinished(() => link.close());
	const counted = async () => Number(await readFile(counter, "utf8").catch(() => "0"));
	/** What it is when it no longer changes. */
	const settled = async () => {
		let [last, same] = [-1, 0];
		await expect
			.poll(
				async () => {
					const now = await counted();
					same = now === last ? same + 1 : 0;
					last = now;
					return same;
				},
				{ interval: 100 },
			)
			.toBeGreaterThan(5);
		return last;
	};
	return { dir, link, counted, settled };
}

/** Every part is full, and none is the last. */
const ENDLESS_FILE = `
	if (does !== "read") return say({ id, ok: true });
	count(++asked);
	say({ id, ok: true, value: { data: Buffer.alloc(${MEGABYTE}).toString("base64"), isLast: false } });`;

test("a file without end is read up to the limit, and the error says so", async () => {
	const { dir, link, settled } = await linked(ENDLESS_FILE);
	const path = join(dir, "bundle");
	const limits = { maxBytes: 5 * MEGABYTE, signal: new AbortController().signal };
	await expect(link.blobs.fetch("key", "work", path, limits)).rejects.toThrow("more than 5 MB would have to be copied");
	expect((await stat(path)).size).toBeLessThanOrEqual(5 * MEGABYTE);
	expect(await settled()).toBe(6);
});

test("a file without end is no longer read after a stop", async () => {
	const { dir, link, counted, settled } = await linked(ENDLESS_FILE);
	const stopping = new AbortController();
	const limits = { maxBytes: 1e12, signal: stopping.signal };
	const fetched = link.blobs.fetch("key", "work", join(dir, "bundle"), limits);
	fetched.catch(() => undefined);
	await expect.poll(counted).toBeGreaterThan(2);
	stopping.abort(new Error("it was stopped"));
	await expect(fetched).rejects.toThrow("it was stopped");
	const asked = await counted();
	expect(await settled()).toBeLessThanOrEqual(asked + 1); // the part that was on its way
});

test("pieces without end wait at the other end while the first of them are kept", async () => {
	const { link, settled } = await linked(`
	say({ id, ok: true });
	if (does !== "follow") return;
	const piece = { type: "bytes", file: "stdout", at: 0, data: Buffer.alloc(${MEGABYTE}).toString("base64") };
	const more = () => {
		count(++asked);
		if (process.stdout.write(JSON.stringify({ does: "piece", body: { key: "key", piece } }) + "\\n")) setImmediate(more);
		else process.stdout.once("drain", more);
	};
	more();`);
	let heard = 0;
	const disk = Promise.withResolvers<void>();
	const unfollow = link.follow(
		"key",
		async () => ({}),
		(piece: Piece) => {
			if (piece.type === "bytes") heard++;
			return disk.promise;
		},
	);
	const sent = await settled();
	expect(sent).toBeLessThan(40); // MB: what waits here, in the pipe and in its own memory
	expect(heard).toBeLessThanOrEqual(sent);
	disk.resolve();
	await expect.poll(() => heard).toBeGreaterThan(sent); // it goes on when there is room
	unfollow();
});

test("requests without end are answered a few at a time, and then not at all", async () => {
	const { dir, link } = await linked(`
	say({ id, ok: true });
	if (does !== "submit") return;
	process.stdin.pause(); // it does not read the answers
	const more = () => {
		for (let each = 0; each < 1_000; each++) say({ id: ++asked, does: "blob", body: { id: "big", at: 0 } });
		count(asked);
		if (asked < 50_000) setImmediate(more);
	};
	more();`);
	const big = join(dir, "big");
	await writeFile(big, Buffer.alloc(MEGABYTE));
	link.blobs.offer("big", async () => big);
	let isUp = true;
	link.onBeat((now) => {
		isUp = now;
	});
	const before = process.memoryUsage().rss;
	await link.submit({} as never, new AbortController().signal);
	await expect.poll(() => isUp).toBe(false);
	expect(process.memoryUsage().rss - before).toBeLessThan(200 * MEGABYTE);
});

test("a program that does not end when its connection does is ended, and not read any more", async () => {
	const { link, counted, settled } = await linked(`
	say({ id, ok: true });
	if (does !== "submit") return;
	const more = () => {
		count(++asked);
		say({ does: "nonsense", body: "x".repeat(100_000) });
		setImmediate(more);
	};
	more();`);
	await link.submit({} as never, new AbortController().signal);
	await expect.poll(counted).toBeGreaterThan(1);
	link.close();
	expect(await settled()).toBeGreaterThan(0);
});
