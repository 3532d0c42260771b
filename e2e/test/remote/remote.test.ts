/** Agents on another machine, as a person in real pi meets them: `local` is a worker on this one, over a pipe. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { callTool, gatePis, isFullRun, say, startRpc, startTui } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { asRepository } from "../../support/repository.ts";
import { delegate, parentSays, scene, scoutSays, unfenced } from "../../support/scene.ts";

interface Parameter {
	description?: string;
	items?: { properties: Record<string, Parameter> };
}

describe.each(await gatePis())("pi $version", (pi) => {
	test("an agent works on another machine: the tree names it, and its branch comes back", async () => {
		await using it = await scene(
			[
				parentSays(delegate(), ({ lastToolResults }) => say(`My scout reports: ${unfenced(lastToolResults[0]?.text)}`)),
				scoutSays(callTool("bash", { command: "echo found > found.txt" }), say("Found: heliotrope.")),
			],
			{
				agentFiles: {
					"subagents.json": JSON.stringify({ machine: "local", agentOverrides: { "repo-scout": { tools: ["bash"] } } }),
				},
			},
		);
		const { cwd } = it.env;
		const git = await asRepository(it);
		await using tui = await startTui({ env: it.env, pi }, { cols: 160 });
		tui.submit("Please delegate.");
		await tui.waitForText(/repo-scout .*@local/);
		await tui.waitForText("My scout reports: Found: heliotrope.");
		const [id = ""] = (await readdir(join(cwd, ".pi/subagents/runs"))).filter((name) => !name.startsWith("."));
		expect(await git("show", `pi/${id}:found.txt`)).toBe("found");
		const meta = JSON.parse(await readFile(join(cwd, ".pi/subagents/runs", id, "meta.json"), "utf8"));
		expect([meta.machine, meta.spec.runner]).toEqual(["local", "remote"]);
	});

	if (isFullRun)
		test("the model is asked for a machine only where the user defined some", async () => {
			for (const [machines, expected] of [
				[{}, undefined],
				[{ box: { ssh: "me@box.invalid" } }, "here, box"],
			] as const) {
				await using it = await scene([parentSays(say("Hello."))], {
					agentFiles: { "subagents.json": JSON.stringify({ machines }) },
				});
				await using rpc = await startRpc({ env: it.env, pi });
				await rpc.prompt("Do not delegate.");
				const propertiesOf = (tool: string) => {
					const found = it.server.requests[0]?.tools.find(({ name }) => name === tool);
					return (found?.parameters as { properties: Record<string, Parameter> } | undefined)?.properties ?? {};
				};
				const { properties: ofTask = {} } = propertiesOf("subagent").tasks?.items ?? {};
				const isOffered = expected !== undefined;
				expect([propertiesOf("Agent").machine?.description, "retry" in propertiesOf("Agent")]).toEqual([
					expected,
					isOffered,
				]);
				for (const offered of [propertiesOf("subagent"), ofTask, propertiesOf("background_agent")])
					expect("machine" in offered).toBe(isOffered);
			}
		});
});
