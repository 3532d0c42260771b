/** A provider that only an extension knows works in children too: they share the parent's models. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { availablePis, callTool, runPrint } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { homegrown } from "../../support/extensions/homegrown.ts";
import { parentSays, scene, scoutReadsNotes, unfenced } from "../../support/scene.ts";

describe.each(await availablePis())("pi $version", (pi) => {
	test("a child runs on a model that another extension registered", async () => {
		const call = callTool("subagent", { preset: "repo-scout", task: "Find the launch code.", model: "homegrown/oak" });
		const answers = parentSays(call, ({ lastToolResults }) => ({ text: unfenced(lastToolResults[0]?.text) }));
		await using it = await scene([answers, scoutReadsNotes]);
		const extension = join(it.env.root, "homegrown.ts");
		await writeFile(
			extension,
			`export default (pi) => pi.registerProvider("homegrown", ${JSON.stringify(homegrown(it.server.baseUrl))});\n`,
		);
		const { stdout, stderr } = await runPrint({ env: it.env, pi, extensions: [extension] }, "Please delegate.");
		expect({ stdout, stderr }).toEqual({
			stdout: expect.stringContaining("The launch code is heliotrope."),
			stderr: "",
		});
		expect(it.server.requests.some((request) => request.model === "oak")).toBe(true);
	});
});
