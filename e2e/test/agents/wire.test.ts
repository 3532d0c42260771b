/** What providers see of agents, in each runner: that they wait as long as they were asked to, and whose requests they are. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	callTool,
	fail,
	gatePis,
	httpError,
	once,
	type RequestView,
	type Rule,
	runPrint,
	say,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { homegrown } from "../../support/extensions/homegrown.ts";
import { parentSays, type Scene, scene } from "../../support/scene.ts";

/** The user's own, since what a project's say of runners counts only where the project is trusted. */
const preset = (name: string, ...fields: string[]) => ({
	[`subagents/${name}.md`]: `---
name: ${name}
description: Looks around
tools: read
${fields.join("\n")}
---
You are the agent ${name}.
`,
});

const isAgent = (name: string) => (request: RequestView) => request.systemPrompt.includes(`You are the agent ${name}.`);
const parentAsks = (...names: string[]): Rule =>
	parentSays(
		callTool("subagent", { tasks: names.map((name) => ({ preset: name, task: "Look." })) }),
		({ lastToolResults }) => say(lastToolResults[0]?.text ?? ""),
	);

/** More than agents wait by themselves, with all that chance adds to it. */
const ASKED_MS = 8_000;

/** One provider each, or the pause of one would hold the other as well. */
const RETRYING = {
	...preset("inside", "model: fake/fake-1"),
	...preset("apart", "model: other/oak", "runner: process"),
};

const BILLED = {
	...preset("inside", "model: github-copilot/oak"),
	...preset("apart", "model: github-copilot/oak", "runner: process"),
	...preset("fallen", "model: fake/fake-1", "fallback_models: github-copilot/oak"),
};

describe.concurrent.each(await gatePis())("pi $version", (pi) => {
	test("an agent that is refused comes back when the headers say, in each runner", async () => {
		const askedAt: Record<string, number[]> = { inside: [], apart: [] };
		const refused = (name: string, headers: Record<string, string>): Rule[] => [
			(request) => {
				if (isAgent(name)(request)) askedAt[name]?.push(performance.now());
				return undefined;
			},
			once(when(isAgent(name), httpError(429, { error: { message: "Slow down." } }, headers))),
			when(isAgent(name), say(`${name} is done.`)),
		];
		const rules = [
			parentAsks("inside", "apart"),
			...refused("inside", { "retry-after-ms": String(ASKED_MS) }),
			...refused("apart", { "retry-after": String(ASKED_MS / 1_000) }),
		];
		const retry = { enabled: true, maxRetries: 2, baseDelayMs: 50 };
		await using it = await world(rules, ["other"], { settings: { retry }, agentFiles: RETRYING });
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(stdout).toMatch(/inside is done[\s\S]+apart is done/);
		for (const [name, [first = 0, second = 0, ...more]] of Object.entries(askedAt)) {
			expect(more, name).toEqual([]);
			expect(second - first, name).toBeGreaterThanOrEqual(ASKED_MS);
		}
	});

	test("what an agent asks of GitHub Copilot counts as an agent's, in each runner, and what the user asks does not", async () => {
		const names = ["inside", "apart", "fallen"];
		const rules = [
			parentAsks(...names),
			when(({ model, ...rest }) => model === "fake-1" && isAgent("fallen")({ model, ...rest }), fail("Not today.")),
			...names.map((name) => when(isAgent(name), say(`${name} is done.`))),
		];
		const settings = { defaultProvider: "github-copilot", defaultModel: "oak" };
		await using it = await world(rules, ["github-copilot"], { settings, agentFiles: BILLED });
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(stdout).toMatch(/inside is done[\s\S]+apart is done[\s\S]+fallen is done/);
		const seen = it.server.requests.map((request) => ({
			by: names.find((name) => isAgent(name)(request)) ?? "user",
			model: request.model,
			initiator: request.headers["x-initiator"],
		}));
		expect(seen[0]).toEqual({ by: "user", model: "oak", initiator: "user" });
		expect(seen.filter(({ by }) => by !== "user")).toEqual(
			expect.arrayContaining([
				{ by: "inside", model: "oak", initiator: "agent" },
				{ by: "apart", model: "oak", initiator: "agent" },
				{ by: "fallen", model: "fake-1", initiator: undefined },
				{ by: "fallen", model: "oak", initiator: "agent" },
			]),
		);
	});
});

/** With these providers beside `fake`, each with the model `oak`. */
async function world(
	rules: readonly Rule[],
	providers: readonly string[],
	options: Parameters<typeof scene>[1],
): Promise<Scene> {
	const it = await scene(rules, options);
	const path = join(it.env.agentDir, "models.json");
	const models = JSON.parse(await readFile(path, "utf8"));
	for (const name of providers) models.providers[name] = homegrown(it.server.baseUrl);
	await writeFile(path, JSON.stringify(models));
	return it;
}
