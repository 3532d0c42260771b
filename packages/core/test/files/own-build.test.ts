/** Files of ours that an update has replaced while the old code runs. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { builtFile } from "../../src/files/built-file.ts";
import { fileOfBuild, requireOwnBuild, updateNotice } from "../../src/files/own-build.ts";

const BUILD = "0.1.0+1a2b3c4d";

/** A package's directory with one file. */
async function installed(text: string | undefined, manifest?: object): Promise<string> {
	const temp = await createTempDir();
	onTestFinished(() => temp.remove());
	const dist = join(temp.path, "dist");
	await mkdir(dist);
	if (text !== undefined) await writeFile(join(dist, "commands.cjs"), text);
	if (manifest) await writeFile(join(temp.path, "package.json"), JSON.stringify(manifest));
	return dist;
}

test("a file of the same build is found", async () => {
	for (const begin of ["", "#!/usr/bin/env node\n"]) {
		const dist = await installed(`${begin}/* pi-subagents ${BUILD} */module.exports = 1;`);
		expect(fileOfBuild(BUILD, dist, "commands.cjs")).toBe(join(dist, "commands.cjs"));
	}
});

test.each([
	["of a later version", "/* pi-subagents 0.2.0+ffffffff */", {}, "was updated from 0.1.0 to 0.2.0"],
	[
		"of another local build",
		"/* pi-subagents 0.1.0+ffffffff */",
		{},
		"was updated from 0.1.0 (build 1a2b3c4d) to 0.1.0 (build ffffffff)",
	],
	["from before builds had names", "module.exports = 1", { version: "0.0.9" }, "was updated from 0.1.0 to 0.0.9"],
	["that is gone, in a later version", undefined, { version: "0.3.0" }, "was updated from 0.1.0 to 0.3.0"],
	["that is gone with its package", undefined, undefined, "0.1.0 was removed"],
	["that is being replaced", "", undefined, "0.1.0 was removed"],
])("a file %s is refused in one sentence", async (_what, text, manifest, change) => {
	const dist = await installed(text, manifest);
	expect(() => fileOfBuild(BUILD, dist, "commands.cjs")).toThrow(
		`pi-subagents ${change} while pi was running: restart pi.`,
	);
	expect(() => fileOfBuild(BUILD, dist, "commands.cjs", "the worker")).toThrow("restart the worker.");
});

test("the text of the function is enough to use it: files that load others contain it", async () => {
	const alone = new Function(`return ${fileOfBuild.toString()}`)() as typeof fileOfBuild;
	const dist = await installed("/* pi-subagents 0.2.0+ffffffff */");
	expect(() => alone(BUILD, dist, "commands.cjs")).toThrow("was updated from 0.1.0 to 0.2.0");
});

test("where sources run, nothing is checked", async () => {
	const dist = await installed("/* pi-subagents 0.2.0+ffffffff */");
	const url = pathToFileURL(join(dist, "impl.cjs")).href;
	const path = join(dist, "commands.cjs");
	expect(requireOwnBuild(path, url)).toBe(path);
	expect(updateNotice(url)).toBeUndefined();
	expect(builtFile(url, ["./none.js", "./commands.cjs"])).toBe(path);
	expect(() => builtFile(url, ["./none.js"])).toThrow("none.js is not built, or lies elsewhere");
});
