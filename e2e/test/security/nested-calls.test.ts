/** What an extension of an agent does through pi's other tools passes the same guards as what its model does. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { callTool, converse, runPrint, say, secondPi, systemPromptSays } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { parentSays, scene } from "../../support/scene.ts";

const FORBIDDEN = [".git/hooks/post-checkout", ".pi/subagents/runs/forged/result.json"];

/** Writes a file with pi's own tool, as a script runtime does for its scripts. */
const WRITER = `export default (pi) => pi.registerTool({ name: "scribble", label: "Scribble", description: "Writes a file.",
	parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
	async execute(id, { path }, signal, onUpdate, ctx) {
		const { result } = await ctx.executeTool("write", { path, content: "x" });
		return { content: result.content, details: {} };
	} });\n`;

const preset =
	"---\nname: clerk\ndescription: writes\nmodel: fake/fake-1\nextensions: writer\ntools: write, ext:writer/scribble\n---\nYou are the clerk.\n";

const second = await secondPi();

test.skipIf(!second)("an extension's call of another tool is kept out of git's and our own files", async () => {
	const pi = second as NonNullable<typeof second>;
	const heard: string[] = [];
	const writes = [...FORBIDDEN, "allowed.txt"].map((path) => callTool("scribble", { path }));
	await using it = await scene(
		[
			converse(systemPromptSays("You are the clerk."), ...writes, ({ messages }) => {
				heard.push(...messages.flatMap((each) => (each.role === "tool" ? [each.text] : [])));
				return say("Done.");
			}),
			parentSays(callTool("subagent", { preset: "clerk", task: "Write." }), say("All done.")),
		],
		{ agentFiles: { "subagents/clerk.md": preset, "extensions/writer.ts": WRITER } },
	);
	expect(await runPrint({ env: it.env, pi }, "Please delegate.")).toMatchObject({ code: 0 });
	expect(heard).toEqual([
		expect.stringContaining("in a git directory"),
		expect.stringContaining("only pi-subagents may change"),
		expect.stringContaining("allowed.txt"),
	]);
	expect(FORBIDDEN.filter((path) => existsSync(join(it.env.cwd, path)))).toEqual([]);
	expect(existsSync(join(it.env.cwd, "allowed.txt"))).toBe(true);
});
