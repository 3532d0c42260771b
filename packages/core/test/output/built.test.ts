/** Built, the library finds the programs of its threads, whatever file of it needs them. */
import { execFile } from "node:child_process";
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createTempDir, type TempDir } from "@pi-subagents-dev/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const TSUP = fileURLToPath(new URL("../../../../node_modules/tsup/dist/cli-default.js", import.meta.url));
let temp: TempDir;

beforeAll(async () => {
	temp = await createTempDir();
	await promisify(execFile)(process.execPath, [TSUP, "--out-dir", join(temp.path, "dist")], { cwd: root });
	await symlink(join(root, "node_modules"), join(temp.path, "node_modules"));
});
afterAll(() => temp.remove());

/** What a script prints that gets the built entry as `entry`. */
async function printed(entry: string, script: string): Promise<string> {
	const url = pathToFileURL(join(temp.path, "dist", entry)).href;
	const code = `import * as entry from ${JSON.stringify(url)};\n${script}`;
	const options = ["--conditions=@pi-subagents/source", "--input-type=module", "-e", code];
	return (await promisify(execFile)(process.execPath, options, { cwd: temp.path })).stdout;
}

test("it checks answers", async () => {
	const script = `process.stdout.write(JSON.stringify((await entry.judgeAnswer("{}", { type: "object" })).result));`;
	expect(JSON.parse(await printed("output/index.js", script))).toEqual({ ok: true, data: {}, preview: "{}" });
});

test("it writes files in a thread", async () => {
	const path = join(temp.path, "line.txt");
	const step = { does: "create", path, text: "one" };
	const script = `
		let threads = 0;
		process.on("worker", () => threads++);
		const faults = await entry.fileThread.take([${JSON.stringify(step)}]);
		process.stdout.write(JSON.stringify({ threads, faults: faults.filter(Boolean) }));`;
	const said = await printed("internal/files.js", script);
	expect(JSON.parse(said)).toEqual({ threads: 1, faults: [] });
	expect(await readFile(path, "utf8")).toBe("one");
});
