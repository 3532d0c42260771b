import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { availablePis, createTempDir, type TempDir } from "@pi-subagents-dev/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { piWorld, processesOf, worksThenSays } from "./wrapper-pi-fixture.ts";

const TSUP = fileURLToPath(new URL("../../../node_modules/tsup/dist/cli-default.js", import.meta.url));

let out: TempDir;
const built = () => ({
	wrapper: join(out.path, "process/wrapper.js"),
	childEntry: join(out.path, "process/child.js"),
});

beforeAll(async () => {
	out = await createTempDir();
	const cwd = fileURLToPath(new URL("..", import.meta.url));
	await promisify(execFile)(process.execPath, [TSUP, "--out-dir", out.path], { cwd });
}, 60_000);

afterAll(() => out.remove());

test("the wrapper and the child's entry are files that need no other", async () => {
	for (const path of Object.values(built())) {
		const imports = [...(await readFile(path, "utf8")).matchAll(/^import .*?"([^"]+)";$/gm)].map(([, name]) => name);
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
