/** The user's own hook decides about every launch, whatever runs the agent; a project cannot set one. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isFullRun, runJson, say } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { delegate, isScout, parentSays, scene, scoutSays, unfenced } from "../../support/scene.ts";

const HOOK = `
	import { readFileSync } from "node:fs";
	const { task, tools } = JSON.parse(readFileSync(0, "utf8"));
	const answer = task === "Dig." ? { tools: tools.filter((name) => name === "read") } : { refuse: "Only digging." };
	console.log(JSON.stringify(answer));
`;

async function launched(task: string, runner = "session") {
	await using it = await scene([parentSays(delegate(task), say("I see.")), scoutSays(say("Dug."))], {
		files: { ".pi/subagents.json": JSON.stringify({ hooks: { before_launch: ["touch", "ran"] } }) },
		agentFiles: { "hook.mjs": HOOK },
	});
	const { agentDir } = it.env;
	const hooks = { before_launch: [process.execPath, join(agentDir, "hook.mjs")] };
	await writeFile(join(agentDir, "subagents.json"), JSON.stringify({ hooks, runner }));
	await runJson({ env: it.env }, "Please delegate.");
	const { requests } = it.server;
	return {
		result: unfenced(requests.flatMap(({ lastToolResults }) => lastToolResults)[0]?.text),
		tools: requests.filter(isScout).map(({ tools }) => tools.map(({ name }) => name)),
	};
}

test.each(isFullRun ? ["session", "process"] : ["session"])("a hook takes tools from an agent (%s)", async (runner) => {
	const { result, tools } = await launched("Dig.", runner);
	expect(result).toContain("Dug.");
	expect(tools).toEqual([["read", "ask_main_session"]]);
});

test("a hook refuses an agent: the model reads why, and the agent's model is not asked", async () => {
	const { result, tools } = await launched("Climb.");
	expect(result).toContain("refused by `hooks.before_launch` of your settings: Only digging.");
	expect(tools).toEqual([]);
});
