/** The user's own hook decides about every launch, whatever runs the agent; a project cannot set one. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gatePis, isFullRun, type PiBinary, runJson, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { delegate, isScout, parentSays, scene, scoutSays, unfenced } from "../../support/scene.ts";

const HOOK = `
	import { readFileSync, writeFileSync } from "node:fs";
	const { task, tools } = JSON.parse(readFileSync(0, "utf8"));
	writeFileSync(new URL("saw.json", import.meta.url), JSON.stringify(tools));
	const answers = { "Dig.": { tools: ["read"] }, "Only think.": { tools: [] } };
	console.log(JSON.stringify(answers[task] ?? { refuse: "Only digging." }));
`;

/** It may launch agents, so it has tools of ours for that. */
const SCOUT = `---
name: repo-scout
description: Fast repo exploration
model: fake/fake-1
tools: read,grep,find,ls
subagents: Explore
---
You are the repo scout. Explore quickly and summarize.
`;

async function launched(task: string, { runner = "session", pi }: { runner?: string; pi?: PiBinary } = {}) {
	await using it = await scene([parentSays(delegate(task), say("I see.")), scoutSays(say("Dug."))], {
		files: {
			".pi/subagents.json": JSON.stringify({ hooks: { before_launch: ["touch", "ran"] } }),
			".pi/subagents/repo-scout.md": SCOUT,
		},
		agentFiles: { "hook.mjs": HOOK },
	});
	const { agentDir } = it.env;
	const hooks = { before_launch: [process.execPath, join(agentDir, "hook.mjs")] };
	const place = runner === "remote" ? { machine: "local" } : { runner };
	await writeFile(join(agentDir, "subagents.json"), JSON.stringify({ hooks, ...place }));
	await runJson({ env: it.env, ...(pi && { pi }) }, "Please delegate.");
	const { requests } = it.server;
	return {
		result: unfenced(requests.flatMap(({ lastToolResults }) => lastToolResults)[0]?.text),
		tools: requests.filter(isScout).map(({ tools }) => tools.map(({ name }) => name)),
		saw: JSON.parse(await readFile(join(agentDir, "saw.json"), "utf8")),
	};
}

describe.each(await gatePis())("pi $version", (pi) => {
	const runners = isFullRun ? ["session", "process", "remote"] : ["session", "process"];
	test.each(runners)("a hook takes tools from an agent, ours among them (%s)", async (runner) => {
		const { result, tools, saw } = await launched("Dig.", { runner, pi });
		expect(result).toContain("Dug.");
		expect(tools).toEqual([["read"]]);
		const launching = ["Agent", "get_subagent_result", "steer_subagent", "stop_subagent", "reply_subagent"];
		expect(saw).toEqual([
			...["read", "grep", "find", "ls", "ask_main_session"],
			...(runner === "session" ? launching : []),
		]);
	});

	test.each(runners)("a hook can leave an agent without any tool (%s)", async (runner) => {
		const { result, tools } = await launched("Only think.", { runner, pi });
		expect(result).toContain("Dug.");
		expect(tools).toEqual([[]]);
	});
});

test("a hook refuses an agent: the model reads why, and the agent's model is not asked", async () => {
	const { result, tools } = await launched("Climb.");
	expect(result).toContain("refused by `hooks.before_launch` of your settings: Only digging.");
	expect(tools).toEqual([]);
});
