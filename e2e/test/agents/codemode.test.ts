/** pi's own script runtime, and our tools in it: data instead of text, and a failure that is one. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { availablePis, callTool, runPrint, say, secondPi } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { delegate, parentSays, scene, scoutSays } from "../../support/scene.ts";

const scout = scoutSays(({ lastUserText }) => {
	if (lastUserText.includes("fail")) return { error: "out of credit" };
	return say(lastUserText.includes("three") ? '{"n": 3}' : `<${lastUserText}>`);
});
/** What a result says, without what differs from run to run. */
const told = ({ lastToolResults }: { lastToolResults: readonly { text: string }[] }) =>
	say(`Got: ${lastToolResults[0]?.text}`);

const withRoles = { "subagents.json": JSON.stringify({ toolsets: ["agents", "presets", "roles"] }) };

const pi = await secondPi();

describe.runIf(pi !== undefined)("codemode", () => {
	test("a script gets the answers of agents as data, and a failed agent has none", async () => {
		const code = `
			const ask = (task) => tools.subagent({ preset: "repo-scout", task })
			const [fine, failed, several, waited, later, wrong] = await Promise.all([
				ask("one"), ask("fail"),
				tools.subagent({ tasks: ["two", "fail too"].map((task) => ({ preset: "repo-scout", task })) }),
				tools.Agent({ prompt: "three", description: "x", subagent_type: "repo-scout", run_in_background: false, output_schema: { type: "object" } }),
				tools.Agent({ prompt: "four", description: "x", subagent_type: "repo-scout" }),
				ask("").catch((error) => "threw: " + (error.message.length > 0)),
			])
			const plain = ({ id, usage, ...rest }) => ({ ...rest, hasId: typeof id === "string", hasUsage: usage.output >= 0 })
			const names = ALL_TOOLS.map(({ name }) => name)
			return JSON.stringify({
				fine: plain(fine), failed: plain(failed), wrong,
				several: [several.status, several.error, several.agents.map(({ status }) => status)],
				waited: [waited.status, waited.structured], later: [later.status, "answer" in later],
				hidden: ["start_subagent", "reply_subagent"].filter((name) => names.includes(name)),
				declared: (await describeTool("subagent")).includes("answer?"),
			})`;
		await using it = await scene([parentSays(callTool("codemode", { code }), say("Done.")), scout], {
			agentFiles: withRoles,
		});
		const target = { env: it.env, ...(pi ? { pi } : {}), args: ["--tools", "+codemode"] };
		const { stdout, stderr } = await runPrint(target, "Please delegate.");
		const results = it.server.requests.flatMap(({ lastToolResults }) => lastToolResults.map(({ text }) => text));
		const json = /\{"fine".*\}/.exec(results.join("\n"))?.[0];
		expect(json, `${results.join("\n")}${stdout}${stderr}`).toBeDefined();
		expect(JSON.parse(json ?? "")).toEqual({
			fine: { status: "completed", answer: "<one>", hasId: true, hasUsage: true },
			failed: { status: "failed", error: expect.stringContaining("out of credit"), hasId: true, hasUsage: true },
			several: ["failed", "1 of 2 agents did not complete", ["completed", "failed"]],
			waited: ["completed", { n: 3 }],
			later: [expect.stringMatching(/queued|running/), false],
			wrong: expect.stringContaining("threw"),
			hidden: [],
			declared: true,
		});
	});
});

describe.each(await availablePis())("pi $version", (target) => {
	test("an agent that failed is an error for the model, whatever data comes with it", async () => {
		await using it = await scene([parentSays(delegate("fail"), told), scout]);
		const { stdout } = await runPrint({ env: it.env, pi: target }, "Please delegate.");
		expect(stdout).toContain("out of credit");
		const dir = join(it.env.agentDir, "sessions");
		const [folder = ""] = await readdir(dir);
		const names = await readdir(join(dir, folder));
		const lines = (
			await readFile(join(dir, folder, names.find((name) => name.endsWith(".jsonl")) ?? ""), "utf8")
		).split("\n");
		const result = lines.map((line) => line && JSON.parse(line)).find((line) => line?.message?.role === "toolResult");
		expect(result.message).toMatchObject({ toolName: "subagent", isError: true });
		expect(result.message).not.toHaveProperty("structuredContent"); // an answer is not kept twice
	});
});
