import { execFile } from "node:child_process";
import { readFile, symlink } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { availablePis, createTempDir, type TempDir } from "@pi-subagents-dev/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { piWorld, processesOf, worksThenSays } from "./pi-fixture.ts";

const TSUP = fileURLToPath(new URL("../../../../../node_modules/tsup/dist/cli-default.js", import.meta.url));

let out: TempDir;
const built = () => ({
	wrapper: join(out.path, "process/wrapper.js"),
	childEntry: join(out.path, "process/child.js"),
});
const worker = () => join(out.path, "output-worker.js");

beforeAll(async () => {
	out = await createTempDir();
	const cwd = fileURLToPath(new URL("../../..", import.meta.url));
	await promisify(execFile)(process.execPath, [TSUP, "--out-dir", out.path], { cwd });
}, 60_000);

afterAll(() => out.remove());

test("the wrapper, the child's entry and what checks answers are files that need no other", async () => {
	for (const path of [...Object.values(built()), worker()]) {
		const text = await readFile(path, "utf8");
		const imports = [...text.matchAll(/(?:^|[;}])import\b[^"();]*"([^"]+)"/gm)].map(([, name]) => name);
		expect(imports).not.toEqual([]);
		expect(imports.filter((name) => name === undefined || !isBuiltin(name))).toEqual([]);
	}
});

test.each(await availablePis())("built, they run pi $version", { timeout: 60_000 }, async (pi) => {
	await using world = await piWorld(pi, worksThenSays("All done."), {
		built: built(),
		spec: { limits: { maxTurns: 1 } },
	});
	const { result, stderr } = await world.run();
	expect(stderr).toBe("");
	expect(result?.outcome).toEqual({ status: "completed", text: "All done.", wrappedUp: true });
	expect(await processesOf(world.runDir)).toEqual([]);
});

test.each(await availablePis())("built, they check the answer of pi $version", { timeout: 60_000 }, async (pi) => {
	const output = { schema: { type: "object", required: ["files"] }, repairs: 0 };
	await using world = await piWorld(pi, worksThenSays('{"files": 2}'), { built: built(), spec: { output } });
	const { result, stderr } = await world.run();
	expect(stderr).toBe("");
	expect(result?.outcome).toMatchObject({ status: "completed", structured: { ok: true, data: { files: 2 } } });
});

test("built, the library finds what checks answers", async () => {
	const cwd = fileURLToPath(new URL("../../..", import.meta.url));
	await symlink(join(cwd, "node_modules"), join(out.path, "node_modules"));
	const script = `
		import { judgeAnswer } from ${JSON.stringify(join(out.path, "output/index.js"))};
		process.stdout.write(JSON.stringify((await judgeAnswer("{}", { type: "object" })).result));
	`;
	const options = ["--conditions=@pi-subagents/source", "--input-type=module", "-e", script];
	const { stdout } = await promisify(execFile)(process.execPath, options, { cwd });
	expect(JSON.parse(stdout)).toEqual({ ok: true, data: {}, preview: "{}" });
});
