import { mkdir, rename, rm, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allSources, createCatalogue, directory } from "../../src/index.ts";
import { longAgo, preset, put, tree } from "../support.ts";

/** A catalogue over one directory, and a short way to read it. */
async function shelf(files: Readonly<Record<string, string>>) {
	const root = await tree(files);
	const catalogue = createCatalogue({ cwd: root, agentDir: root, sources: directory(root) });
	const models = async () =>
		Object.fromEntries((await catalogue.read()).presets.map(({ name, model }) => [name, model]));
	return { root, catalogue, models };
}

test("nothing changed: the same object again", async () => {
	const { catalogue } = await shelf({ "a.md": preset("a"), "bad.md": "nothing" });
	const first = await catalogue.read();
	expect(first.problems).toHaveLength(1);
	expect(await catalogue.read()).toBe(first);
});

test("an edit shows at the next read, and only the edited file is parsed again", async () => {
	const { root, catalogue } = await shelf({ "a.md": preset("a", "model: one\n"), "b.md": preset("b") });
	const [a, b] = (await catalogue.read()).presets;
	await put(join(root, "a.md"), preset("a", "model: two\n"), new Date("2021-01-01"));
	const [newA, newB] = (await catalogue.read()).presets;
	expect([a?.model, newA?.model]).toEqual(["one", "two"]);
	expect(newB).toBe(b);
});

test("an edit of equal length shows even when the date is set back", async () => {
	const { root, models } = await shelf({ "a.md": preset("a", "model: one\n") });
	expect(await models()).toEqual({ a: "one" });
	await put(join(root, "a.md"), preset("a", "model: two\n"), longAgo);
	expect(await models()).toEqual({ a: "two" });
});

test("files that are added, removed and renamed show", async () => {
	const { root, models } = await shelf({ "a.md": preset("a", "model: m\n") });
	expect(await models()).toEqual({ a: "m" });
	await put(join(root, "b.md"), preset("b", "model: n\n"));
	expect(await models()).toEqual({ a: "m", b: "n" });
	await rename(join(root, "a.md"), join(root, "c.md"));
	expect(await models()).toEqual({ a: "m", b: "n" });
	await rm(join(root, "b.md"));
	expect(await models()).toEqual({ a: "m" });
	await rename(join(root, "c.md"), join(root, "c.txt"));
	expect(await models()).toEqual({});
});

test("a touched file is read again and gives an equal preset", async () => {
	const { root, catalogue } = await shelf({ "a.md": preset("a") });
	const before = await catalogue.read();
	await utimes(join(root, "a.md"), new Date("2022-01-01"), new Date("2022-01-01"));
	const after = await catalogue.read();
	expect(after).not.toBe(before);
	expect(after).toEqual(before);
});

test("a broken file that is repaired shows, and the other way round", async () => {
	const { root, catalogue } = await shelf({ "a.md": "broken" });
	expect((await catalogue.read()).problems).toHaveLength(1);
	await put(join(root, "a.md"), preset("a"));
	expect(await catalogue.read()).toMatchObject({ presets: [{ name: "a" }], problems: [] });
	await rm(join(root, "a.md"));
	await mkdir(join(root, "a.md"));
	expect(await catalogue.read()).toMatchObject({
		presets: [],
		problems: [{ message: expect.stringContaining("directory") }],
	});
});

test("a link that changes its target shows, as does an edit behind a link", async () => {
	const { root, models } = await shelf({ "x/one": preset("a", "model: one\n"), "x/two": preset("a", "model: two\n") });
	await symlink(join("x", "one"), join(root, "a.md"));
	expect(await models()).toEqual({ a: "one" });
	await put(join(root, "x/one"), preset("a", "model: three\n"));
	expect(await models()).toEqual({ a: "three" });
	await rm(join(root, "a.md"));
	await symlink(join("x", "two"), join(root, "a.md"));
	expect(await models()).toEqual({ a: "two" });
});

test("a file changed just before it was read is not trusted: its date may not move again", async () => {
	const root = await tree({ "a.md": preset("a") });
	const clock = { now: longAgo.getTime() + 10 };
	const catalogue = createCatalogue({ cwd: root, agentDir: root, sources: directory(root), now: () => clock.now });
	const first = await catalogue.read();
	clock.now += 60_000;
	const second = await catalogue.read();
	expect(second).not.toBe(first); // read again
	expect(await catalogue.read()).toBe(second); // and settled now
});

test("a nearer project directory shows when it appears", async () => {
	const root = await tree({ "repo/.pi/subagents/far.md": preset("far"), "repo/app/x": "" });
	const catalogue = createCatalogue({ cwd: join(root, "repo/app"), agentDir: join(root, "home") });
	expect((await catalogue.read()).presets.map(({ name }) => name)).toEqual(["far"]);
	await put(join(root, "repo/app/.pi/subagents/near.md"), preset("near"));
	expect((await catalogue.read()).presets.map(({ name }) => name)).toEqual(["near"]);
});

test("reads that overlap all answer alike", async () => {
	const { root, catalogue } = await shelf(
		Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}.md`, preset(`p${i}`)])),
	);
	await put(join(root, "p3.md"), preset("p3", "model: m\n"));
	const answers = await Promise.all(Array.from({ length: 10 }, () => catalogue.read()));
	for (const answer of answers) expect(answer).toEqual(answers[0]);
});

test("a thousand files do not hold up the event loop", async () => {
	const { catalogue } = await shelf(
		Object.fromEntries(
			Array.from({ length: 1000 }, (_, i) => [
				`p${i}.md`,
				preset(`p${i}`, `tools: [read, "x${i}"]\nx: {a: [b, c]}\n`, "word ".repeat(400)),
			]),
		),
	);
	let turns = 0;
	let isReading = true;
	const count = () => {
		turns++;
		if (isReading) setImmediate(count);
	};
	setImmediate(count);
	const { presets } = await catalogue.read();
	isReading = false;
	expect(presets).toHaveLength(1000);
	expect(turns, "others get their turn at least after every batch of files").toBeGreaterThan(1000 / 64);
});

test("all sources together are read without problems where there is nothing", async () => {
	const root = await tree();
	const { presets, problems } = await createCatalogue({
		cwd: root,
		agentDir: root,
		sources: allSources({ home: root }),
	}).read();
	expect([presets.length, problems]).toEqual([7, []]);
});
