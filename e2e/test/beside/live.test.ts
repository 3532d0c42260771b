/** A dashboard beside us in real pi: it hears what agents of both runners write while they write it. */
import { join } from "node:path";
import { callTool, createGate, gatePis, lastUserSays, runJson, say, when } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { linesOf, until } from "../../support/detached.ts";
import { extensionDir, parentSays, scene } from "../../support/scene.ts";

/** As dashboards do it: the two channels, by name, and what their payloads say. */
const dashboard = `
import { appendFileSync } from "node:fs";
export default (pi) => {
	for (const channel of ["subagents:entry", "subagents:delta", "subagents:completed"])
		pi.events.on(channel, (payload) => appendFileSync("log.jsonl", JSON.stringify({ channel, ...payload }) + "\\n"));
};
`;

const preset = (name: string, field: string) => ({
	[`subagents/${name}.md`]: `---\nname: ${name}\ndescription: Writes\ntools: read\nmodel: fake/fake-1\n${field}\n---\nYou write.\n`,
});

const answer = "The launch code is heliotrope. ".repeat(40);

interface Heard {
	channel: string;
	agentId: string;
	blockId?: number;
	kind?: string;
	offset: number;
	text: string;
	final?: boolean;
}

describe.each(await gatePis())("pi $version", (pi) => {
	test.each(["before", "after"])("a dashboard loaded %s us rebuilds each block from its pieces", async (order) => {
		const gate = createGate();
		const tasks = ["inside", "apart"].map((name) => ({ preset: name, task: "Write it down." }));
		await using it = await scene(
			[
				parentSays(callTool("subagent", { tasks }), say("Done.")),
				when(
					lastUserSays("Write it down."),
					say(answer, { thinking: "Let me think about it first.", gate, chunksBeforeGate: 8 }),
				),
			],
			{
				files: { "dashboard.ts": dashboard },
				agentFiles: { ...preset("inside", "runner: session"), ...preset("apart", "runner: process") },
				extensions: order === "before" ? ["dashboard.ts", extensionDir] : [extensionDir, "dashboard.ts"],
			},
		);
		const heard = async () => (await linesOf(join(it.env.cwd, "log.jsonl"))) as unknown as Heard[];
		const ended = runJson({ env: it.env, pi }, "Please delegate.");
		await until("both agents' text while it is written", async () => {
			const open = (await heard()).filter(({ kind, text, final }) => kind === "text" && text !== "" && final === false);
			return new Set(open.map(({ agentId }) => agentId)).size === 2 ? true : undefined;
		});
		gate.open();
		const { events, code } = await ended;
		expect(code).toBe(0);

		const all = await heard();
		const agents = [...new Set(all.map(({ agentId }) => agentId).filter((id) => id !== undefined))];
		expect(agents).toHaveLength(2);
		for (const id of agents) {
			const blocks = new Map<number, string>();
			for (const { blockId = 0, text, offset } of all.filter(
				({ channel, agentId }) => agentId === id && channel === "subagents:delta",
			)) {
				const known = blocks.get(blockId) ?? "";
				expect(offset).toBe(known.length);
				blocks.set(blockId, known + text);
			}
			const written = [...blocks.values()].filter((text) => text !== "");
			expect(written[0]).toBe("Let me think about it first.");
			expect(answer.startsWith(written[1] ?? "?")).toBe(true);
			const steps = all.filter(({ channel, agentId }) => agentId === id && channel === "subagents:entry");
			expect(steps).toMatchObject([
				{ seq: 0, kind: "thinking", text: "Let me think about it first." },
				{ seq: 1, kind: "text", text: answer },
			]);
		}
		const updates = events.flatMap((event) => (event.type === "tool_execution_update" ? [event] : []));
		expect(updates.length).toBeGreaterThan(0);
		for (const { toolCallId, partialResult } of updates)
			expect(partialResult.details).toMatchObject({
				parentToolCallId: toolCallId,
				agentId: expect.stringMatching(/^\w{8}$/),
			});
	});
});
