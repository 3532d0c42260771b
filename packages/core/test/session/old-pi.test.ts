import { callTool, otherwise } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { createChildSession } from "../../src/session/create-child-session.ts";
import { openConversation } from "../../src/session/history/conversation.ts";
import { SharedResources } from "../../src/session/resources/resources.ts";
import { hookTurns } from "../../src/session/turn-hooks.ts";
import { sessionWorld } from "../fixtures/session.ts";

test("a pi that cannot be made to wait between turns is at least told to end", async () => {
	await using world = await sessionWorld(otherwise(callTool("ls", { path: "." })));
	const child = await createChildSession(
		{
			host: world.host,
			resources: new SharedResources(),
			conversation: openConversation(world.host, world.spec),
			askedAt: performance.now(),
			signal: new AbortController().signal,
		},
		world.spec,
	);
	if (!child) throw new Error("not opened");
	Reflect.set(child.session.agent, "finishTurn", undefined);
	let turns = 0;
	hookTurns(child.session, {
		count: () => void turns++,
		afterTurn: async () => (turns < 3 ? "go" : "end"),
		beforeRetry: async () => undefined,
		isOver: () => false,
		whileAsking: (_request, ask) => ask({}),
		onResponse: () => undefined,
	});
	await child.session.prompt("Look around.");
	await child.close();
	expect(turns).toBe(3);
	expect(world.model.requests).toHaveLength(3);
});
