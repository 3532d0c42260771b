/** The prompt templates that come with the package: listed by real pi, and expanded into what the model reads. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { availablePis, otherwise, say, startRpc } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { extensionDir, scene } from "../../support/scene.ts";

const NAMES = ["implement-with-agents", "review-with-agents", "scout-and-plan"];

describe.each(await availablePis())("pi $version", (pi) => {
	test("lists the templates and expands them", async () => {
		await using it = await scene([otherwise(say("I see."))]);
		await using rpc = startRpc({ env: it.env, pi });
		const response = await rpc.send({ type: "get_commands" });
		const { commands = [] } = (response as { data?: { commands?: { name: string; source: string }[] } }).data ?? {};
		const templates = commands.filter(({ source }) => source === "prompt").map(({ name }) => name);
		expect(templates.sort()).toEqual(NAMES);

		await rpc.prompt("/implement-with-agents a login page");
		await rpc.prompt("/review-with-agents");
		const read = it.server.requests.map(({ messages }) => messages.findLast(({ role }) => role === "user")?.text);
		expect(read).toEqual([
			expect.stringMatching(/^Get this done with agents: a login page\n[\s\S]*preset `reviewer`/),
			expect.stringMatching(/^Review the changes that are not committed yet\.\n[\s\S]*with `tasks`/),
		]);
	});
});

test("each says what it is for, calls subagent with presets that there are, and knows no chain", async () => {
	const dir = join(extensionDir, "prompts");
	expect((await readdir(dir)).sort()).toEqual(NAMES.map((name) => `${name}.md`));
	for (const name of NAMES) {
		const text = await readFile(join(dir, `${name}.md`), "utf8");
		expect(text).toMatch(/^---\ndescription: .+\nargument-hint: ".+"\n---\n/);
		expect(text).toContain("`subagent`");
		expect(text).not.toMatch(/chain/i);
		const presets = [...text.matchAll(/preset `(\w+)`/g)].map(([, preset]) => preset);
		expect(["scout", "planner", "worker", "reviewer"]).toEqual(expect.arrayContaining(presets));
	}
});
