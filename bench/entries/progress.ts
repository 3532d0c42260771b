/** The progress formatter on a recorded session, beside reading the same lines and doing nothing with them. */
import { readFileSync } from "node:fs";
import { createDescriber, normalize } from "@pi-subagents/progress";
import { type Benchmark, type Subject, timed } from "../measure.ts";

const fixture = new URL("../../packages/progress/test/fixtures/session.jsonl", import.meta.url);
const recorded = readFileSync(fixture, "utf8").trimEnd().split("\n");
/** Enough lines that one pass takes tens of milliseconds. */
const lines = Array.from({ length: Math.ceil(20_000 / recorded.length) }, () => recorded).flat();

export const progress: Benchmark = {
	name: "progress: parse, normalize and describe a JSON stream",
	target: 2,
	unit: "ms",
	rounds: 15,
	ours: pass("normalize + describe", () => {
		const describe = createDescriber();
		let length = 0;
		for (const line of lines) for (const event of normalize(JSON.parse(line))) length += describe(event)?.length ?? 0;
		return length;
	}),
	against: pass("JSON.parse", () => {
		let length = 0;
		for (const line of lines) length += Object.keys(JSON.parse(line)).length;
		return length;
	}),
};

/** A pass that did nothing would be fast for the wrong reason. */
function pass(name: string, work: () => number): Subject {
	return timed(name, () => {
		if (work() === 0) throw new Error(`${name} did nothing`);
	});
}
