/** A provider that has enough of all at once: what a hundred real sessions do about it, on a clock that moves by hand. */
import { httpError, say } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { Manager } from "../../../core/src/index.ts";
import { handClock } from "../../../core/src/testing/index.ts";
import { sessionRunner } from "../../src/session/index.ts";
import { sessionWorld } from "../fixtures/session.ts";

const AGENTS = 100;
const PAUSE_MS = 20_000;

/** Numbers from 0 to 1 that look random, and are the same each time. */
function randomFrom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
		return state / 2_147_483_648;
	};
}

/** real time: a turn for what the sessions do; the time of the test is the clock's. */
const breath = () => new Promise<void>((resolve) => setTimeout(resolve, 2));

test("a hundred agents that all get a 429 wait together, continue one by one, and all complete", async () => {
	const clock = handClock();
	const askedAt: number[] = [];
	await using world = await sessionWorld(
		({ lastUserText }) => {
			askedAt.push(clock.now());
			if (clock.now() < PAUSE_MS) return httpError(429, `Rate limit reached, retry after ${PAUSE_MS / 1_000}s`);
			return say(`Done: ${lastUserText}`);
		},
		{ settings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 1 } } },
	);
	let ids = 0;
	const manager = new Manager({
		runners: { session: sessionRunner(world.host) },
		clock,
		newId: () => `a${++ids}`,
		random: randomFrom(42),
		slots: { maxConcurrent: AGENTS, whenFull: "queue" },
	});
	const { agentId: _agent, run: _run, ...spec } = world.spec;
	const launched = Array.from({ length: AGENTS }, (_, index) => manager.spawn({ ...spec, task: `task ${index}` }).id);
	const settled = Promise.all(launched.map((id) => manager.wait(id)));
	await expect.poll(() => askedAt.length).toBe(AGENTS); // all had started before the first was refused
	await expect.poll(() => manager.slots().paused.length).toBe(1);
	// As long as the pause lasts nobody asks again, however long that is.
	for (let waited = 0; waited < 20; waited++) await breath();
	expect(askedAt).toHaveLength(AGENTS);
	clock.advance(PAUSE_MS - 1_000 - clock.now());
	for (let waited = 0; waited < 20; waited++) await breath();
	expect(askedAt).toHaveLength(AGENTS);

	let isOver = false;
	void settled.then(() => {
		isOver = true;
	});
	while (!isOver) {
		clock.advance(100);
		await breath();
	}
	expect(await settled).toEqual(launched.map((_, index) => ({ status: "completed", text: `Done: task ${index}` })));
	const late = askedAt.filter((at) => at >= PAUSE_MS);
	expect(late).toHaveLength(AGENTS);
	const inOneSecond = Math.max(...late.map((from) => late.filter((at) => at >= from && at < from + 1_000).length));
	expect(inOneSecond).toBeLessThan(AGENTS / 2);
	expect(manager.slots()).toEqual({ running: 0, queued: 0, lent: 0, paused: [] });
	expect(clock.waiting()).toBe(0);
});
