import { readdir } from "node:fs/promises";
import { createAgentSession, SessionManager } from "@earendil-works/pi-coding-agent";
import { callTool, converse, say } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { Manager, systemClock } from "../../../core/src/index.ts";
import { conversationsWritten, sessionRunner } from "../../src/session/index.ts";
import { sessionWorld } from "../fixtures/session.ts";

test("what a record counts is what pi's own statistics of the session say", async () => {
	const usage = { input: 120, output: 30, cacheRead: 7, cacheWrite: 5 };
	await using world = await sessionWorld(
		converse(
			() => true,
			{ ...callTool("ls", { path: "." }), usage },
			{
				toolCalls: [
					{ name: "ls", args: { path: "." } },
					{ name: "read", args: { path: "nothing" } },
				],
				usage,
			},
			say("Done.", { usage }),
		),
	);
	const sessionDir = `${world.spec.cwd}/sessions`;
	const runner = sessionRunner({ ...world.host, sessionDir: () => sessionDir });
	const manager = new Manager({ runners: { session: runner }, clock: systemClock, newId: () => "a1" });
	const { agentId, run, ...spec } = world.spec;
	await manager.wait(manager.spawn(spec).id);
	await conversationsWritten();

	const [file = ""] = await readdir(`${sessionDir}/${agentId}`);
	const { session } = await createAgentSession({
		cwd: spec.cwd,
		agentDir: world.host.agentDir,
		modelRuntime: world.model.modelRuntime,
		sessionManager: SessionManager.open(`${sessionDir}/${agentId}/${file}`),
	});
	const { tokens, cost, toolCalls, assistantMessages, contextUsage } = session.getSessionStats();
	session.dispose();
	const { total: _total, ...counted } = tokens;
	expect(manager.store.record(agentId)).toMatchObject({
		run,
		usage: { ...counted, cost },
		toolUses: toolCalls,
		turns: assistantMessages,
		contextPercent: contextUsage?.percent,
	});
	expect(counted).toEqual({ input: 360, output: 90, cacheRead: 21, cacheWrite: 15 });
});
