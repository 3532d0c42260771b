import { readFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { availablePis } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { buildOnce } from "../../fixtures/build-once.ts";
import { piWorld, processesOf, worksThenSays } from "./pi-fixture.ts";

test("the wrapper, the child's entry and what checks answers are files that need no other", async () => {
	const { wrapper, childEntry, outputWorker } = await buildOnce();
	for (const path of [wrapper, childEntry, outputWorker]) {
		const text = await readFile(path, "utf8");
		const imports = [...text.matchAll(/(?:^|[;}])import\b[^"();]*"([^"]+)"/gm)].map(([, name]) => name);
		expect(imports).not.toEqual([]);
		expect(imports.filter((name) => name === undefined || !isBuiltin(name))).toEqual([]);
	}
});

test.each(await availablePis())("built, they run pi $version and check its answer", async (pi) => {
	const output = { schema: { type: "object", required: ["files"] }, repairs: 0 };
	await using world = await piWorld(pi, worksThenSays('{"files": 2}'), { spec: { output } });
	const { result, stderr } = await world.run();
	expect(stderr).toBe("");
	expect(result?.outcome).toMatchObject({ status: "completed", structured: { ok: true, data: { files: 2 } } });
	expect(await processesOf(world.runDir)).toEqual([]);
});
