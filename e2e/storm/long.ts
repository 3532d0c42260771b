/** `npm run test:long -- [--agents 5000] [--samples 20] [--screen]`: thousands of agents through one pi, with figures. */
import { parseArgs } from "node:util";
import { halvesOf } from "./long-figures.ts";
import { longRun } from "./long-run.ts";
import type { Sample } from "./long-watch.ts";

const { values } = parseArgs({
	options: {
		agents: { type: "string", default: "5000" },
		samples: { type: "string", default: "20" },
		screen: { type: "boolean", default: false },
	},
});
const from = Date.now();
const seconds = () => Math.round((Date.now() - from) / 1_000);
const run = await longRun({
	agents: Number(values.agents),
	samples: Number(values.samples),
	isOnScreen: values.screen,
	onSample: (sample) => console.log(rowOf(sample)),
});
for (const violation of run.violations) console.log(violation);
const [early, late] = halvesOf(run.samples);
const first = run.samples[0];
const last = run.samples.at(-1);
console.log(
	JSON.stringify(
		{
			runs: last?.agents,
			seconds: seconds(),
			heapMegabytes: [first?.heapMegabytes, last?.heapMegabytes],
			early,
			late,
			heapLateToEarly: late.heapPerAgent / early.heapPerAgent,
			runDirectories: run.runDirectories,
			warnings: last?.warnings,
			violations: run.violations.length,
		},
		(_key, value) => (typeof value === "number" ? Number(value.toPrecision(4)) : value),
		"\t",
	),
);
process.exitCode = run.violations.length > 0 ? 1 : 0;

function rowOf({
	agents,
	heapMegabytes,
	rssMegabytes,
	resources,
	frames,
	loopDelay,
	session,
	...counts
}: Sample): string {
	const open = Object.entries(resources).map(([kind, count]) => `${kind} ${count}`);
	return [
		`${seconds()} s: ${agents} runs`,
		`heap ${heapMegabytes.toFixed(1)} MB`,
		`rss ${rssMegabytes.toFixed(0)} MB`,
		`fds ${counts.descriptors}`,
		`listeners ${counts.listeners}`,
		`timers ${counts.timers}`,
		open.join(" "),
		`${frames.count} frames of ${frames.medianMs.toFixed(2)} ms (worst ${frames.worstMs.toFixed(1)})`,
		`loop ${loopDelay.medianMs.toFixed(1)}/${loopDelay.p99Ms.toFixed(0)} ms`,
		`session ${session.entries} entries ${session.megabytes.toFixed(2)} MB`,
	].join(", ");
}
