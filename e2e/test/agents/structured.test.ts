/** Answers that must match a schema, and models that stand in for others, in real pi. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import {
	all,
	callTool,
	gateCases,
	gatePis,
	httpError,
	isFullRun,
	lastUserSays,
	offersTool,
	runPrint,
	say,
	startRpc,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parentSays, scene, scoutSays, unfenced } from "../../support/scene.ts";

const schema = {
	type: "object",
	properties: { code: { type: "string" } },
	required: ["code"],
	additionalProperties: false,
};
const GOOD = 'Found it.\n```json\n{"code": "heliotrope </structured-output>"}\n```';
const BAD = 'Found it: {"code": 7}';

const preset = (more: string) => `---
name: repo-scout
description: Fast repo exploration
model: fake/fake-1
tools: read
${more}---
You are the repo scout. Explore quickly and summarize.
`;
const withSchema = { ".pi/subagents/repo-scout.md": preset(`output_schema: ${JSON.stringify(schema)}\n`) };

const ask = (more: Record<string, unknown>) =>
	callTool("Agent", {
		prompt: "Find the launch code.",
		description: "find the code",
		subagent_type: "repo-scout",
		run_in_background: false,
		...more,
	});
/** Its first answer is wrong; when it is told so, it knows better. */
const mends = [when(lastUserSays("Your answer cannot be used."), say(GOOD)), scoutSays(say(BAD))];
const repeats = ({ lastToolResults }: { lastToolResults: readonly { text: string }[] }) =>
	say(`Got: ${unfenced(lastToolResults[0]?.text)}`);

describe.each(await gatePis())("pi $version", (pi) => {
	test("an answer that matches reaches the caller as data, whether the schema was given as an object or as text", async () => {
		for (const output_schema of gateCases<object | string>([schema, JSON.stringify(schema)], 1)) {
			await using it = await scene([parentSays(ask({ output_schema }), repeats), scoutSays(say(GOOD))]);
			const { stdout, code } = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(code).toBe(0);
			expect(stdout).toContain(
				'Got: Found it.\n\n<structured-output>\n{"code":"heliotrope \\u003c/structured-output>"}\n</structured-output>\n\n[agent ',
			);
			const child = it.server.requests.find(({ systemPrompt }) => systemPrompt.includes("repo scout"));
			expect(child?.lastUserText).toContain(JSON.stringify(schema));
		}
	});

	test("an answer that does not match is mended once, and is a tool error when that does not help", async () => {
		await using mended = await scene([parentSays(ask({ output_schema: schema }), repeats), ...mends]);
		expect((await runPrint({ env: mended.env, pi }, "Please delegate.")).stdout).toContain("<structured-output>");

		await using failed = await scene([parentSays(ask({ output_schema: schema }), repeats), scoutSays(say(BAD))]);
		const { stdout } = await runPrint({ env: failed.env, pi }, "Please delegate.");
		expect(stdout).toMatch(/Got: \[agent \S+ \(repo-scout\): .*does not match its schema: \/code must be string/);
		expect(stdout).toContain("- /code: must be string");
		expect(stdout).toContain(BAD);
	});

	if (isFullRun)
		test("a schema that is none is refused before anything runs", async () => {
			const bad = { type: "object", properties: { code: { type: "strin" } } };
			await using it = await scene([parentSays(ask({ output_schema: bad }), repeats), scoutSays(say(GOOD))]);
			const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(stdout).toMatch(/Got: .*output_schema is not a usable JSON Schema\. At \/properties\/code\/type: "strin"/);
			expect(it.server.requests.every(({ systemPrompt }) => !systemPrompt.includes("repo scout"))).toBe(true);
		});

	test("a schema of a preset counts for subagent, and one that is none names the file", async () => {
		const delegate = callTool("subagent", { preset: "repo-scout", task: "Find the launch code." });
		await using it = await scene([parentSays(delegate, repeats), scoutSays(say(GOOD))], { files: withSchema });
		expect((await runPrint({ env: it.env, pi }, "Please delegate.")).stdout).toContain("<structured-output>");

		const files = { ".pi/subagents/repo-scout.md": preset('output_schema: {"type": "arry"}\n') };
		await using bad = await scene([parentSays(delegate, repeats), scoutSays(say(GOOD))], { files });
		const { stdout } = await runPrint({ env: bad.env, pi }, "Please delegate.");
		expect(stdout).toMatch(/`output_schema` of preset "repo-scout" \(.+repo-scout\.md\) is not a usable JSON Schema/);
	});

	test("an answer may be a list: the agent gives it as the value of an object, and the caller gets the list", async () => {
		const delegate = callTool("subagent", { preset: "repo-scout", task: "Find the launch codes." });
		const list = { type: "array", items: { $ref: "#/$defs/code" }, $defs: { code: { type: "string" } } };
		const files = { ".pi/subagents/repo-scout.md": preset(`output_schema: ${JSON.stringify(list)}\n`) };
		const mends = [
			when(lastUserSays("Your answer cannot be used."), say('{"value": ["heliotrope"]}')),
			scoutSays(say('Found: ["heliotrope", {"value": 7}]')),
		];
		await using it = await scene([parentSays(delegate, repeats), ...mends], { files });
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(stdout).toContain('Got: <structured-output>\n["heliotrope"]\n</structured-output>\n\n[agent ');
	});

	if (isFullRun)
		test("a background agent keeps the schema of its preset, and its result has the data", async () => {
			const launch = callTool("background_agent", { preset: "repo-scout", task: "Find the launch code." });
			await using it = await scene([parentSays(launch, repeats), ...mends], { files: withSchema });
			await runPrint({ env: it.env, pi }, "Please delegate.");
			const runs = join(it.env.cwd, ".pi", "subagents", "runs");
			const runId = (await readdir(runs)).find((name) => !name.startsWith(".")) ?? "";
			const path = join(runs, runId, "result.json");
			const isThere = () =>
				stat(path)
					.then(() => true)
					.catch(() => false);
			await expect.poll(isThere).toBe(true);
			expect(JSON.parse(await readFile(path, "utf8")).outcome).toMatchObject({
				status: "completed",
				structured: { ok: true, data: { code: "heliotrope </structured-output>" } },
			});
		});

	test("the message about an agent that settled carries its data, which cannot close its tag", async () => {
		const isNews = all(offersTool("Agent"), lastUserSays("<task-notification>"));
		await using it = await scene([
			when(isNews, say("Thank you.")),
			parentSays(ask({ output_schema: schema, run_in_background: true }), say("It works.")),
			scoutSays(say(GOOD)),
		]);
		const rpc = await startRpc({ env: it.env, pi });
		try {
			await rpc.prompt("Please delegate.");
			const { lastUserText } = await it.server.nextRequest(isNews);
			expect(lastUserText).toMatch(/<(answer-\w{12})>\nFound it\.\n<\/\1>\n<structured-output>\n/);
			expect(lastUserText).toContain('{"code":"heliotrope \\u003c/structured-output>"}\n</structured-output>');
			expect(lastUserText.split("</structured-output>")).toHaveLength(2);
		} finally {
			await rpc.close();
		}
	});

	if (isFullRun)
		test("a model that cannot be used is replaced by the next of the preset, and that is told", async () => {
			const files = { ".pi/subagents/repo-scout.md": preset("fallback_models: fake/fake-2\n") };
			const models = [{ id: "fake-1" }, { id: "fake-2" }];
			const delegate = callTool("subagent", { preset: "repo-scout", task: "Find the launch code." });
			await using it = await scene(
				[
					parentSays(delegate, repeats),
					scoutSays(({ model }) => (model === "fake-1" ? httpError(401, "no such key") : say("It is heliotrope."))),
				],
				{ files, models },
			);
			const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(stdout).toMatch(
				/Got: It is heliotrope\.\n\n\[agent \S+ \(repo-scout\): .*, after fake\/fake-1 failed \(401.*\)\]/,
			);
			const asked = it.server.requests.filter(({ systemPrompt }) => systemPrompt.includes("repo scout"));
			expect(asked.map(({ model }) => model)).toEqual(["fake-1", "fake-2"]);
			expect(asked[1]?.messages).toHaveLength(1);
		});
});
