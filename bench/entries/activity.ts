/**
 * What it costs that every piece of text is a sign of life: the driver of a child hears the pieces of a hundred agents
 * that no one watches, beside reading these pieces from JSON, as every one of them arrives.
 */
import { type RunSpec, systemClock } from "@pi-subagents/core";
import { Driver } from "@pi-subagents/core/internal/run";
import { textDelta } from "@pi-subagents/progress";
import { type Benchmark, timed } from "../measure.ts";

const AGENTS = 100;
const PIECES = 1_000;

const spec: RunSpec = {
	type: "scout",
	description: "write",
	task: "Write.",
	cwd: "/",
	runner: "session",
	model: "fake/one",
	tools: [],
	limits: { idleTimeoutMs: 60_000 },
	origins: {},
	warnings: [],
};
const line = JSON.stringify({
	type: "message_update",
	assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "word " },
});

export const activity: Benchmark = {
	name: `activity: ${PIECES} pieces of ${AGENTS} agents, each a sign of life`,
	target: 2,
	unit: "ms",
	rounds: 15,
	ours: timed("read and heard", () => {
		const drivers = Array.from({ length: AGENTS }, newDriver);
		for (let count = 0; count < PIECES; count++)
			for (const driver of drivers) {
				const piece = JSON.parse(line);
				driver.stir();
				driver.write(textDelta(piece));
				driver.hear(piece);
			}
		if (drivers.some(({ quietMs }) => quietMs === undefined)) throw new Error("a driver heard nothing");
	}),
	against: timed("JSON.parse", () => {
		let length = 0;
		for (let count = 0; count < PIECES * AGENTS; count++) length += JSON.parse(line).type.length;
		if (length === 0) throw new Error("nothing was read");
	}),
};

function newDriver(): Driver {
	return new Driver(spec, {
		clock: systemClock,
		emit: () => undefined,
		isDeaf: () => false,
		isOver: () => false,
		contextPercent: () => undefined,
		pass: async () => ({ word: "go" }),
	});
}
