/** A dashboard beside us in real pi: it hears what agents of both runners write while they write it. */
import { join } from "node:path";
import {
	callTool,
	createGate,
	gateCases,
	gatePis,
	lastUserSays,
	runJson,
	say,
	startRpc,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { linesOf } from "../../support/detached.ts";
import { extensionDir, parentSays, scene } from "../../support/scene.ts";

/** As dashboards do it: the two channels, by name, what their payloads say, and the cost when an agent has ended. */
const dashboard = `
import { appendFileSync } from "node:fs";
export default (pi) => {
	let session = "none";
	const note = (what) => appendFileSync("log.jsonl", JSON.stringify({ session, ...what }) + "\\n");
	pi.on("session_start", (event, ctx) => {
		session = ctx.sessionManager.getSessionId() + " " + event.reason;
	});
	for (const channel of ["subagents:entry", "subagents:delta"])
		pi.events.on(channel, (payload) => note({ channel, ...payload }));
	pi.events.on("subagents:completed", ({ id: agentId }) => {
		const requestId = String(Math.random());
		const off = pi.events.on("subagents:rpc:cost:reply:" + requestId, ({ data }) => {
			off();
			note({ channel: "cost", agentId, ...data });
		});
		pi.events.emit("subagents:rpc:cost", { requestId, agentId });
	});
	pi.registerCommand("again", { handler: (_args, ctx) => ctx.reload() });
};
`;

const preset = (name: string, field: string) => ({
	[`subagents/${name}.md`]: `---\nname: ${name}\ndescription: Writes\ntools: read\nmodel: fake/fake-1\n${field}\n---\nYou write.\n`,
});

const answer = "The launch code is heliotrope. ".repeat(40);

interface Heard {
	session: string;
	channel: string;
	agentId: string;
	blockId?: number;
	kind?: string;
	offset: number;
	text: string;
	final?: boolean;
}

describe.each(await gatePis())("pi $version", (pi) => {
	test.each(gateCases(["before", "after"], 0))(
		"a dashboard loaded %s us rebuilds each block from its pieces",
		async (order) => {
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
				const open = (await heard()).filter(
					({ kind, text, final }) => kind === "text" && text !== "" && final === false,
				);
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
		},
	);

	test.each(gateCases(["before", "after"], 1))(
		"a dashboard loaded %s us hears every agent once, also after a reload and in a second session",
		async (order) => {
			await using it = await scene(
				[
					parentSays(callTool("subagent", { preset: "inside", task: "Write it down." }), say("Done.")),
					when(lastUserSays("Write it down."), say("It is written.", { thinking: "How?" })),
				],
				{
					files: { "dashboard.ts": dashboard },
					agentFiles: preset("inside", "runner: session"),
					extensions: order === "before" ? ["dashboard.ts", extensionDir] : [extensionDir, "dashboard.ts"],
				},
			);
			await using rpc = startRpc({ env: it.env, pi });
			await rpc.prompt("Please delegate.");
			await rpc.send({ type: "prompt", message: "/again" });
			await rpc.prompt("Please delegate.");
			await rpc.send({ type: "new_session" });
			await rpc.prompt("Please delegate.");
			const heard = await until("the cost of three agents", async () => {
				const lines = (await linesOf(join(it.env.cwd, "log.jsonl"))) as unknown as (Heard & { agents?: number })[];
				return lines.filter(({ channel }) => channel === "cost").length >= 3 ? lines : undefined;
			});
			const sessions = Map.groupBy(heard, ({ session }) => session);
			expect([...sessions.keys()].map((name) => name.split(" ")[1])).toEqual(["startup", "reload", "new"]);
			for (const lines of sessions.values()) {
				expect(new Set(lines.map(({ agentId }) => agentId)).size).toBe(1);
				expect(lines.filter(({ channel }) => channel === "subagents:entry")).toMatchObject([
					{ kind: "thinking", text: "How?" },
					{ kind: "text", text: "It is written." },
				]);
				const deltas = lines.filter(({ channel, text }) => channel === "subagents:delta" && text !== "");
				expect(deltas.map(({ text }) => text).join("")).toBe("How?It is written.");
				expect(lines.filter(({ channel }) => channel === "cost")).toMatchObject([{ agents: 1 }]);
			}
		},
	);
});
