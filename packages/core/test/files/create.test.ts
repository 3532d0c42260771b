import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { createWhole, makeRoom } from "../../src/files/create.ts";

test("a file is created by one of many, whole, and stays as that one made it", async () => {
	await using temp = await createTempDir();
	const path = join(temp.path, "result.json");
	const texts = Array.from({ length: 50 }, (_, index) => `${index} `.repeat(10_000));
	const made = await Promise.all(texts.map((text) => createWhole(path, text)));
	expect(made.filter(Boolean)).toHaveLength(1);
	expect(await readFile(path, "utf8")).toBe(texts[made.indexOf(true)]);
	expect((await stat(path)).mode & 0o777).toBe(0o600);
	expect(await createWhole(path, "later")).toBe(false);
	expect(await readdir(temp.path)).toEqual(["result.json"]);
});

test("what is there already is never replaced or followed, whatever it is", async () => {
	await using temp = await createTempDir();
	await mkdir(join(temp.path, "directory"));
	await writeFile(join(temp.path, "file"), "theirs");
	await symlink("/dev/full", join(temp.path, "link"));
	await symlink(join(temp.path, "nothing"), join(temp.path, "dangling"));
	for (const name of ["directory", "file", "link", "dangling"]) {
		expect(await createWhole(join(temp.path, name), "ours")).toBe(false);
	}
	expect((await readdir(temp.path)).sort()).toEqual(["dangling", "directory", "file", "link"]);
});

test("a place that cannot be written is an error, and nothing is left there", async () => {
	await using temp = await createTempDir();
	await expect(createWhole(join(temp.path, "missing", "result.json"), "")).rejects.toThrow("ENOENT");
	expect(await readdir(temp.path)).toEqual([]);
});

test("whatever is in a place, it is free afterwards, and nothing elsewhere is deleted", async () => {
	await using temp = await createTempDir();
	const at = (name: string) => join(temp.path, name);
	await mkdir(at("kept"));
	await writeFile(at("kept/file"), "theirs");
	await mkdir(at("directory"));
	await symlink(at("kept"), at("directory/inside"));
	await writeFile(at("file"), "");
	await symlink(at("kept"), at("link"));
	for (const name of ["directory", "file", "link", "nothing"]) {
		await makeRoom(at(name));
		expect(await createWhole(at(name), "ours")).toBe(true);
	}
	expect(await readFile(at("kept/file"), "utf8")).toBe("theirs");
});
