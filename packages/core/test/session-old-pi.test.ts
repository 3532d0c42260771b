import { callTool, otherwise } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { standBetweenTurns } from "../src/session/between-turns.ts";
import { openConversation } from "../src/session/conversation.ts";
import { openChild } from "../src/session/open.ts";
import { SharedResources } from "../src/session/resources.ts";
import { sessionWorld } from "./session-fixture.ts";

test("a pi that cannot be made to wait between turns is at least told to end", async () => {
	await using world = await sessionWorld(otherwise(callTool("ls", { path: "." })));
	const child = await openChild(
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
	standBetweenTurns(child.session, {
		count: () => void turns++,
		afterTurn: async () => (turns < 3 ? "go" : "end"),
		beforeRetry: async () => undefined,
		isOver: () => false,
	});
	await child.session.prompt("Look around.");
	await child.close();
	expect(turns).toBe(3);
	expect(world.model.requests).toHaveLength(3);
});
