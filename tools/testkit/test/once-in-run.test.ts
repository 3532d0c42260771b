import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTempDir, onceInRun } from "../src/index.ts";

test("of several that ask at once, one makes it, and all have it", async () => {
	await using dir = await createTempDir();
	const make = (into: string) => appendFile(join(into, "made"), "once\n");
	await Promise.all([1, 2, 3].map(() => onceInRun(dir.path, make)));
	expect(await readFile(join(dir.path, "made"), "utf8")).toBe("once\n");
});

test("what cannot be made fails for those who wait, too", async () => {
	await using dir = await createTempDir();
	const make = () => Promise.reject(new Error("no room"));
	const asked = await Promise.allSettled([onceInRun(dir.path, make), onceInRun(dir.path, make)]);
	expect(asked.map((each) => each.status === "rejected" && String(each.reason))).toEqual(
		expect.arrayContaining(["Error: no room", expect.stringContaining("could not fill")]),
	);
});
