import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import type { FileStep } from "../../src/files/file-steps.ts";
import { FileThread } from "../../src/files/file-thread.ts";

async function world() {
	const temp = await createTempDir();
	const thread = new FileThread();
	const path = (...names: string[]) => join(temp.path, ...names);
	const dispose = async () => {
		await thread.close();
		await temp.remove();
	};
	return { thread, path, [Symbol.asyncDispose]: dispose };
}

test("everything is done in the order in which it was asked, and nobody else may read it", async () => {
	await using at = await world();
	const opening: FileStep[] = [
		{ does: "mkdir", path: at.path("run") },
		{ does: "create", path: at.path("run", "log"), text: "one\n" },
	];
	const lines = Array.from({ length: 200 }, (_, index) => `${index}\n`);
	const asked = [
		at.thread.take(opening),
		...lines.map((text) => at.thread.take([{ does: "append", path: at.path("run", "log"), text }])),
	];
	expect((await Promise.all(asked)).flat()).toEqual(Array.from({ length: 202 }, () => undefined));
	expect(await readFile(at.path("run", "log"), "utf8")).toBe(`one\n${lines.join("")}`);
	const modes = [await stat(at.path("run")), await stat(at.path("run", "log"))].map(({ mode }) => mode & 0o777);
	expect(modes).toEqual([0o700, 0o600]);
});

test("what gathers before the steps are sent is in them", async () => {
	await using at = await world();
	let text = "one\n";
	const written = at.thread.take(() => [{ does: "create", path: at.path("log"), text }]);
	text += "two\n";
	await at.thread.hurry(written);
	expect(await readFile(at.path("log"), "utf8")).toBe("one\ntwo\n");
});

test("the thread starts before the steps are sent: what follows a short answer does not wait for it", async () => {
	await using at = await world();
	const seen: string[] = [];
	process.once("worker", () => seen.push("started"));
	await at.thread.take(() => {
		seen.push("sent");
		return [];
	});
	expect(seen).toEqual(["started", "sent"]);
});

test("while the process has no time to spare, steps gather for longer, but not for ever", async () => {
	await using at = await world();
	const begunAt = performance.now();
	let sentAt: number | undefined;
	const taken = at.thread.take(() => {
		sentAt = performance.now();
		return [];
	});
	while (sentAt === undefined) await busyTurn();
	expect(sentAt - begunAt).toBeGreaterThan(400);
	await taken;
});

/** A turn of the event loop with work in it. */
async function busyTurn(): Promise<void> {
	for (const end = performance.now() + 5; performance.now() < end; );
	await new Promise(setImmediate);
}

test("a step that fails says why, and the others are taken", async () => {
	await using at = await world();
	await writeFile(at.path("there"), "theirs");
	const faults = await at.thread.take([
		{ does: "create", path: at.path("there"), text: "ours" },
		{ does: "append", path: at.path("missing", "log"), text: "x" },
		{ does: "append", path: "/dev/full", text: "x" },
		{ does: "create", path: at.path("new"), text: "ours" },
	]);
	expect(faults).toEqual([
		expect.stringMatching(/^EEXIST/),
		expect.stringMatching(/^ENOENT/),
		expect.stringMatching(/^ENOSPC/),
		undefined,
	]);
	expect([await readFile(at.path("there"), "utf8"), await readFile(at.path("new"), "utf8")]).toEqual([
		"theirs",
		"ours",
	]);
});

test("a directory is made with those above it, for nobody else, and may be there already; without it nothing follows", async () => {
	await using at = await world();
	await writeFile(at.path("file"), "theirs");
	const within = (...names: string[]): FileStep[] => [
		{ does: "mkdirs", path: at.path(...names) },
		{ does: "append", path: at.path(...names, "log"), text: "x" },
	];
	expect(await at.thread.take(within("above", "below"))).toEqual([undefined, undefined]);
	expect(await at.thread.take(within("above", "below"))).toEqual([undefined, undefined]);
	expect((await stat(at.path("above", "below"))).mode & 0o777).toBe(0o700);
	expect(await readFile(at.path("above", "below", "log"), "utf8")).toBe("xx");
	expect(await at.thread.take(within("file"))).toEqual([expect.stringMatching(/^EEXIST/)]);
});

test("nothing is written into a directory that somebody else has made", async () => {
	await using at = await world();
	await mkdir(at.path("run"));
	const faults = await at.thread.take([
		{ does: "mkdir", path: at.path("run") },
		{ does: "create", path: at.path("run", "log"), text: "" },
	]);
	expect(faults).toEqual([expect.stringMatching(/^EEXIST/)]);
	expect(await readdir(at.path("run"))).toEqual([]);
});

test("what is published is there whole, by whoever was first, and leaves nothing beside it", async () => {
	await using at = await world();
	const publish = (text: string): FileStep => ({ does: "publish", path: at.path("result"), text, isDurable: true });
	expect(await at.thread.take([publish("first"), publish("second")])).toEqual([undefined, undefined]);
	expect(await readFile(at.path("result"), "utf8")).toBe("first");
	expect(await readdir(at.path())).toEqual(["result"]);
});

test("a thread that was closed comes again when it is needed", async () => {
	await using at = await world();
	await at.thread.close();
	for (const name of ["one", "two"]) {
		expect(await at.thread.take([{ does: "create", path: at.path(name), text: "" }])).toEqual([undefined]);
		await at.thread.close();
	}
	expect((await readdir(at.path())).sort()).toEqual(["one", "two"]);
});

test("where there can be no thread, the files are written all the same", async () => {
	await using at = await world();
	const thread = new FileThread({ program: at.path("missing.js") });
	const write = (name: string) => thread.take([{ does: "create", path: at.path(name), text: name }]);
	expect(await Promise.all([write("one"), write("two")])).toEqual([[undefined], [undefined]]);
	expect(await write("three")).toEqual([undefined]);
	await thread.close();
	expect((await readdir(at.path())).sort()).toEqual(["one", "three", "two"]);
});
