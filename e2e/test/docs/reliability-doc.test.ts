/** docs/reliability.md names tests as proof of what it promises: each of them must be there. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const page = await readFile(join(root, "docs/reliability.md"), "utf8");
const GROUPS = 23;

/** Where it is, the prefix for packages being left out. */
function pathOf(file: string): string | undefined {
	return [join(root, file), join(root, "packages", file)].find(existsSync);
}

test("docs/reliability.md has every group, and none without a test", () => {
	const rows = page.split("\n").filter((line) => /^\| \d+ \|/.test(line));
	expect(rows.map((row) => Number(row.split("|")[1]))).toEqual(Array.from({ length: GROUPS }, (_, index) => index + 1));
	for (const row of rows) expect(row).toMatch(/`[^`]+\.ts::[^`]+`/);
});

test("every test that docs/reliability.md names exists", async () => {
	const named = [...page.matchAll(/`([\w./-]+\.ts)(?:::([^`]+))?`/g)];
	expect(named.length).toBeGreaterThan(80);
	const missing: string[] = [];
	for (const [, file = "", name] of named) {
		const path = pathOf(file);
		const source = path === undefined ? undefined : await readFile(path, "utf8");
		const isThere = name === undefined || ['"', "`"].some((quote) => source?.includes(quote + name + quote));
		if (source === undefined || !isThere) missing.push(`${file}::${name}`);
	}
	expect(missing).toEqual([]);
});
