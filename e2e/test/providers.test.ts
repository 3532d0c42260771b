/** A provider that only an extension knows works in children too: they share the parent's models. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { availablePis, callTool, runPrint } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parentSays, scene, scoutReadsNotes } from "./scene.ts";

describe.each(await availablePis())("pi $version", (pi) => {
	test("a child runs on a model that another extension registered", async () => {
		const call = callTool("subagent", { preset: "repo-scout", task: "Find the launch code.", model: "homegrown/oak" });
		const answers = parentSays(call, ({ lastToolResults }) => ({ text: lastToolResults[0]?.text ?? "" }));
		await using it = await scene([answers, scoutReadsNotes]);
		const extension = join(it.env.root, "homegrown.ts");
		const model = {
			id: "oak",
			name: "Oak",
			reasoning: false,
			input: ["text"],
			contextWindow: 128_000,
			maxTokens: 8_192,
		};
		const config = {
			baseUrl: it.server.baseUrl,
			api: "openai-completions",
			apiKey: "none",
			models: [{ ...model, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }],
		};
		await writeFile(extension, `export default (pi) => pi.registerProvider("homegrown", ${JSON.stringify(config)});\n`);
		const { stdout, stderr } = await runPrint({ env: it.env, pi, extensions: [extension] }, "Please delegate.");
		expect({ stdout, stderr }).toEqual({
			stdout: expect.stringContaining("The launch code is heliotrope."),
			stderr: "",
		});
		expect(it.server.requests.some((request) => request.model === "oak")).toBe(true);
	});
});
