/** What a child in a process of its own is given before it starts: a conversation, and its notes. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { say } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { INHERITED } from "../../../../core/src/index.ts";
import { readMeta } from "../../../../runs/src/index.ts";
import { processRunner } from "../../../src/process/index.ts";
import { inheritConversation } from "../../../src/session/index.ts";
import { processWorld } from "../../fixtures/process-world.ts";

test("it reads the conversation of whoever launched it, then its task, and its later runs know both", async () => {
	await using world = await processWorld(({ lastUserText }) => say(`Re: ${lastUserText}`));
	const inherited = inheritConversation([{ role: "user", content: "The word is heliotrope.", timestamp: 1 }], {
		contextWindow: 20_000,
	});
	const spec = { ...world.spec, task: "Which word?", inheritsContext: true, [INHERITED]: inherited };
	const runner = processRunner(world.options);
	expect(await runner.start(spec, () => undefined).settled).toEqual({ status: "completed", text: "Re: Which word?" });
	const users = () =>
		world.server.requests.at(-1)?.messages.flatMap(({ role, text }) => (role === "user" ? [text] : []));
	const handOver = expect.stringContaining("the conversation of the one who launched you");
	expect(users()).toEqual(["The word is heliotrope.", handOver, "Which word?"]);
	expect(JSON.stringify(await readMeta(spec.artifacts))).not.toContain("heliotrope");

	const { [INHERITED]: _gone, ...resumed } = {
		...spec,
		run: 2,
		task: "Again?",
		artifacts: `${world.env.root}/runs/a1-2`,
	};
	await runner.start(resumed, () => undefined).settled;
	expect(users()).toEqual(["The word is heliotrope.", handOver, "Which word?", "Again?"]);
});

test("it reads its notes at the end of its prompt", async () => {
	await using world = await processWorld(() => say("ok"));
	const memoryDir = join(world.env.root, "notes");
	await mkdir(memoryDir);
	await writeFile(join(memoryDir, "MEMORY.md"), "- The word is heliotrope.\n");
	const systemPrompt = { mode: "replace", text: "You are a scout." } as const;
	const spec = { ...world.spec, memory: "user", memoryDir, systemPrompt } as const;
	await processRunner(world.options).start(spec, () => undefined).settled;
	const expected = /^You are a scout\..*<agent_memory>.*- The word is heliotrope\..*not change them/s;
	expect(world.server.requests[0]?.systemPrompt).toMatch(expected);
	expect(await readFile(join(spec.artifacts, "system-prompt.md"), "utf8")).toMatch(expected);
});
