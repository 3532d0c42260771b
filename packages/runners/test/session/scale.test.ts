import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { otherwise, say } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { Manager } from "../../../core/src/index.ts";
import { handClock } from "../../../core/src/testing/index.ts";
import { sessionRunner } from "../../src/session/index.ts";
import { sessionWorld } from "../fixtures/session.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

test("a thousand real sessions through eight slots: in order, all settle, no timer is left, and little memory is kept", async () => {
	await using world = await sessionWorld(otherwise(({ lastUserText }) => say(`Done: ${lastUserText}`)));
	const clock = handClock();
	let ids = 0;
	const manager = new Manager({ runners: { session: sessionRunner(world.host) }, clock, newId: () => `a${++ids}` });
	const { agentId: _agent, run: _run, ...spec } = world.spec;
	const launch = (task: string) => manager.spawn({ ...spec, task, limits: { timeoutMs: 3_600_000 } }).id;
	// What is compiled and cached once is no leak: it is there before the measuring begins.
	await Promise.all(Array.from({ length: 100 }, () => manager.wait(launch("warm up"))));
	const heap = () => {
		collect();
		return process.memoryUsage().heapUsed;
	};
	const before = heap();

	const started: string[] = [];
	manager.store.subscribe(({ event }) => {
		if (event.type === "agent_started") started.push(event.agentId);
	});
	const launched = Array.from({ length: 1_000 }, (_, index) => launch(`task ${index}`));
	expect(manager.slots()).toMatchObject({ running: 8, queued: 992 });
	const outcomes = await Promise.all(launched.map((id) => manager.wait(id)));

	expect(outcomes).toEqual(launched.map((_, index) => ({ status: "completed", text: `Done: task ${index}` })));
	expect(started).toEqual(launched);
	expect(manager.slots()).toEqual({ running: 0, queued: 0, lent: 0, paused: [] });
	expect(clock.waiting()).toBe(0);
	// The scripted model remembers every request; that is the test's own memory, not the agents'.
	(world.model.requests as unknown[]).length = 0;
	// pi itself keeps about 3 KB of every session that was ever opened.
	expect((heap() - before) / launched.length).toBeLessThan(8_000);
});
