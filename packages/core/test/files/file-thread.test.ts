import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
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
		...lines.map((text) => at.thread.take([{ does: "append", path: at.path("run", "log"), text, durable: false }])),
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
		{ does: "append", path: at.path("missing", "log"), text: "x\n", durable: false },
		{ does: "append", path: "/dev/null", text: "x", durable: false },
		{ does: "create", path: at.path("new"), text: "ours" },
	]);
	expect(faults).toEqual([
		expect.stringMatching(/^EEXIST/),
		expect.stringMatching(/^ENOENT/),
		"it is not a regular file",
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
		{ does: "append", path: at.path(...names, "log"), text: "x\n", durable: false },
	];
	expect(await at.thread.take(within("above", "below"))).toEqual([undefined, undefined]);
	expect(await at.thread.take(within("above", "below"))).toEqual([undefined, undefined]);
	expect((await stat(at.path("above", "below"))).mode & 0o777).toBe(0o700);
	expect(await readFile(at.path("above", "below", "log"), "utf8")).toBe("x\nx\n");
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

test("files of one name that stay as they are share what they hold, as long as it is the same and still there", async () => {
	await using at = await world();
	for (const name of ["a", "b", "c", "d"]) await mkdir(at.path(name));
	const share = (dir: string, text: string): FileStep => ({ does: "share", path: at.path(dir, "prompt"), text });
	expect(
		await at.thread.take([share("a", "same"), share("b", "same"), share("b", "same"), share("c", "other")]),
	).toEqual([undefined, undefined, expect.stringMatching(/^EEXIST/), undefined]);
	const [a, b, c] = await Promise.all(["a", "b", "c"].map((dir) => stat(at.path(dir, "prompt"))));
	expect([b?.ino === a?.ino, c?.ino === a?.ino, (b?.mode ?? 0) & 0o777]).toEqual([true, false, 0o600]);
	await rm(at.path("c"), { recursive: true });
	expect(await at.thread.take([share("d", "other")])).toEqual([undefined]);
	expect(await readFile(at.path("d", "prompt"), "utf8")).toBe("other");
});

test("what does not fit into one message is made when that has been answered, and nothing is forgotten", async () => {
	await using at = await world();
	const made: number[] = [];
	const taken = Array.from({ length: 100 }, (_, index) =>
		at.thread.take(() => {
			made.push(index);
			return [{ does: "append", path: at.path("log"), text: `${index}\n`, durable: false }];
		}),
	);
	const all = at.thread.hurry(Promise.all(taken));
	const madeAtOnce = made.length;
	await all;
	expect(madeAtOnce).toBeLessThan(100);
	expect(await readFile(at.path("log"), "utf8")).toBe(Array.from({ length: 100 }, (_, index) => `${index}\n`).join(""));
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
	const names = Array.from({ length: 100 }, (_, index) => `file-${index + 100}`);
	expect((await Promise.all(names.map(write))).flat()).toEqual(names.map(() => undefined)); // more than one message
	expect(await write("last")).toEqual([undefined]);
	await thread.close();
	expect((await readdir(at.path())).sort()).toEqual([...names, "last"]);
});
