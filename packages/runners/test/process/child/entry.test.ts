import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { callTool, say } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { Question } from "../../../../core/src/index.ts";
import { processRunner } from "../../../src/process/index.ts";
import { processWorld } from "../../fixtures/process-world.ts";

async function world(...given: Parameters<typeof processWorld>) {
	const made = await processWorld(...given);
	onTestFinished(() => made[Symbol.asyncDispose]());
	return made;
}

async function write(dir: string, files: Record<string, string>): Promise<void> {
	for (const [name, content] of Object.entries(files)) {
		await mkdir(dirname(join(dir, name)), { recursive: true });
		await writeFile(join(dir, name), content);
	}
}

test("a child's question is answered from here", async () => {
	const { options, spec, server } = await world(({ lastToolResults }) =>
		lastToolResults.length > 0
			? say("Thank you.")
			: callTool("ask_main_session", { question: "Which one?", default_answer: "red" }),
	);
	const asked: [string, Question][] = [];
	const runner = processRunner({
		...options,
		ask: async (agentId, question) => {
			asked.push([agentId, question]);
			return { by: "user", text: "blue" };
		},
	});
	expect(await runner.start(spec, () => undefined).settled).toMatchObject({ status: "completed" });
	expect(asked).toEqual([["a1", { question: "Which one?", defaultAnswer: "red" }]]);
	expect(server.requests.at(-1)?.lastToolResults[0]?.text).toBe("Answer from the user: blue");
});

test("the next run of an agent remembers the one before", async () => {
	const { options, spec, server } = await world(() => say("Noted."));
	const runner = processRunner(options);
	await runner.start({ ...spec, task: "The code is heliotrope." }, () => undefined).settled;
	const next = { ...spec, task: "What is the code?", run: 2, artifacts: `${spec.artifacts}-2` };
	expect(await runner.start(next, () => undefined).settled).toEqual({ status: "completed", text: "Noted." });
	const texts = server.requests.at(-1)?.messages.map(({ text }) => text);
	expect(texts).toEqual(["The code is heliotrope.", "Noted.", "What is the code?"]);
});

const skill = (name: string) => `---\nname: ${name}\ndescription: does ${name}\n---\nDo it.\n`;
const tool = (name: string) => `
	import { Type } from "typebox";
	export default (pi) => pi.registerTool({
		name: "${name}", label: "${name}", description: "${name}", parameters: Type.Object({}),
		execute: async () => ({ content: [], details: {} }),
	});`;

test("a child has the prompt, tools, skills and extensions of its spec, and no more", async () => {
	const { options, spec, server, env } = await world(() => say("Ready."));
	await write(env.agentDir, {
		"APPEND_SYSTEM.md": "The user likes brevity.",
		"extensions/wanted.ts": tool("wanted_tool"),
		"extensions/other.ts": tool("other_tool"),
		"skills/juggling/SKILL.md": skill("juggling"),
		"skills/cooking/SKILL.md": skill("cooking"),
	});
	const given = {
		...spec,
		systemPrompt: { mode: "append", text: "You are the scout." } as const,
		tools: ["read", "wanted_tool"],
		extensions: ["wanted"],
		skills: ["juggling"],
	};
	expect(await processRunner(options).start(given, () => undefined).settled).toEqual({
		status: "completed",
		text: "Ready.",
	});
	const request = server.requests[0];
	expect(request?.tools.map(({ name }) => name).sort()).toEqual(["ask_main_session", "read", "wanted_tool"]);
	const prompt = request?.systemPrompt ?? "";
	for (const text of ["You are the scout.", '<active_agent name="scout"/>', "The user likes brevity.", "juggling"])
		expect(prompt).toContain(text);
	expect(prompt).not.toContain("cooking");
});

test("a child whose prompt replaces pi's own keeps what the user appends", async () => {
	const { options, spec, server, env } = await world(() => say("Ready."));
	await write(env.agentDir, { "APPEND_SYSTEM.md": "The user likes brevity." });
	const given = { ...spec, systemPrompt: { mode: "replace", text: "You are the scout." } as const };
	await processRunner(options).start(given, () => undefined).settled;
	const prompt = server.requests[0]?.systemPrompt ?? "";
	expect(prompt).toMatch(/^You are the scout\.\s+<active_agent name="scout"\/>/);
	expect(prompt).toContain("The user likes brevity.");
});

test("a model that pi does not know is a failure that says so", async () => {
	const { options, spec, server } = await world(() => say("Never."));
	const outcome = await processRunner(options).start({ ...spec, model: "nobody/nothing" }, () => undefined).settled;
	expect(outcome).toMatchObject({ status: "failed", error: expect.stringContaining("nobody/nothing") });
	expect(server.requests).toEqual([]);
});
