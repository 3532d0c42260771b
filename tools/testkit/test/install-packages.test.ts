/** Fetching pinned packages, with tarballs made here instead of a registry. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTempDir } from "../src/index.ts";
import { type FetchTarballs, installPackages, type PinnedPackage } from "../src/pi/install-packages.ts";

/** A registry with one package, and a directory to install it into. */
async function registry() {
	const dir = await createTempDir();
	onTestFinished(dir.remove);
	await mkdir(join(dir.path, "package"));
	await writeFile(join(dir.path, "package", "index.js"), "hello");
	const tarball = join(dir.path, "it.tgz");
	execFileSync("tar", ["-czf", tarball, "-C", dir.path, "package"]);
	const digest = createHash("sha512")
		.update(await readFile(tarball))
		.digest("base64");
	const pinned: PinnedPackage = { name: "@some/thing", version: "1.2.3", integrity: `sha512-${digest}` };
	const fetched: string[] = [];
	const fetch: FetchTarballs = async (into, packages) => {
		for (const { name } of packages) fetched.push(name);
		await copyFile(tarball, join(into, "some-thing-1.2.3.tgz"));
	};
	return { root: join(dir.path, "cache"), pinned, fetch, fetched };
}

test("a package is fetched once and then there", async () => {
	const { root, pinned, fetch, fetched } = await registry();
	const dir = await installPackages(root, [pinned], fetch);
	expect(await installPackages(root, [pinned], fetch)).toBe(dir);
	expect(await readFile(join(dir, "node_modules/@some/thing/index.js"), "utf8")).toBe("hello");
	expect(fetched).toEqual(["@some/thing"]);
});

test("several that ask at once all get the same, and nothing is left lying about", async () => {
	const { root, pinned, fetch } = await registry();
	const dirs = await Promise.all(Array.from({ length: 4 }, () => installPackages(root, [pinned], fetch)));
	expect(new Set(dirs).size).toBe(1);
	expect(await readdir(root)).toHaveLength(1);
});

test("a package with another checksum is refused and not unpacked", async () => {
	const { root, pinned, fetch } = await registry();
	const other = { ...pinned, integrity: "sha512-AAAA" };
	await expect(installPackages(root, [other], fetch)).rejects.toThrow("@some/thing@1.2.3 has the checksum sha512-");
	expect(await readdir(root)).toEqual([]);
});

test("a fetch that failed is tried again the next time", async () => {
	const { root, pinned, fetch } = await registry();
	const offline: FetchTarballs = () => Promise.reject(new Error("offline"));
	await expect(installPackages(root, [pinned], offline)).rejects.toThrow("offline");
	expect(existsSync(await installPackages(root, [pinned], fetch))).toBe(true);
});
