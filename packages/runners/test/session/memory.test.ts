import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { callTool, onTurn, otherwise, say, when } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { conversationsWritten, sessionRunner } from "../../src/session/index.ts";
import { sessionWorld } from "../fixtures/session.ts";

setFlagsFromString("--expose-gc");
const gc: () => void = runInNewContext("gc");

const PER_AGENT_BYTES = 60 * 1024;
const WORDS = "word ".repeat(4_000);

async function heapUsed(): Promise<number> {
	for (let round = 0; round < 3; round++) {
		await new Promise(setImmediate);
		gc();
	}
	return process.memoryUsage().heapUsed;
}

test("a finished agent leaves nothing behind: no conversation, no listener, no file but its own", async () => {
	const script = [when(onTurn(1), callTool("ls", { path: "." })), otherwise(say(WORDS))];
	await using world = await sessionWorld(script);
	const sessionDir = join(world.dir, "sessions");
	const runner = sessionRunner({ ...world.host, sessionDir: () => sessionDir });
	const finished: unknown[] = [];
	const launch = async (count: number) => {
		for (let index = 0; index < count; index++) {
			const agentId = `a${finished.length}`;
			const run = runner.start({ ...world.spec, agentId }, () => undefined);
			await run.settled;
			finished.push(run); // whoever keeps the run must not keep its session
			(world.model.requests as unknown[]).length = 0; // the scripted model keeps what it was asked
		}
		await conversationsWritten();
	};
	await launch(20);
	const listeners = process.eventNames().map((name) => [name, process.listenerCount(name)]);
	const before = await heapUsed();
	await launch(200);
	const perAgent = ((await heapUsed()) - before) / 200;
	// Its last words are 20 kB and stay in its outcome; its conversation holds them several times.
	expect(perAgent).toBeLessThan(PER_AGENT_BYTES);
	expect(process.eventNames().map((name) => [name, process.listenerCount(name)])).toEqual(listeners);
	expect(await readdir(sessionDir)).toHaveLength(220);
});
