/**
 * `npm run bench [word]`: measures every entry whose name holds the word, prints a table and writes it as JSON.
 * Fails when a ratio misses its target, or has nothing to be compared with.
 */
import "./place.ts";
import { mkdir, writeFile } from "node:fs/promises";
import { activity } from "./entries/activity.ts";
import { detached } from "./entries/detached.ts";
import { guards } from "./entries/guards.ts";
import { liveScreen } from "./entries/live-screen.ts";
import { coldLoad, ownLoad, warmLoad } from "./entries/load.ts";
import { discovery, hostileFiles } from "./entries/presets.ts";
import { progress } from "./entries/progress.ts";
import { prompt } from "./entries/prompt.ts";
import { remote } from "./entries/remote.ts";
import { report } from "./entries/report.ts";
import { rpc } from "./entries/rpc.ts";
import { schedule } from "./entries/schedule.ts";
import { silence } from "./entries/silence.ts";
import { dispatching, firstStart, liveMemory, liveText, loopDelay, spawning } from "./entries/spawn.ts";
import { widget } from "./entries/widget.ts";
import { workflows } from "./entries/workflow.ts";
import { worktrees } from "./entries/worktree.ts";
import { type Figure, measure } from "./measure.ts";
import { closeDetached } from "./worlds/detached.ts";
import { closeRemote } from "./worlds/remote.ts";
import { closeWorld } from "./worlds/spawn.ts";

const entries = [
	progress,
	activity,
	rpc,
	...schedule,
	dispatching,
	...widget,
	...silence,
	...spawning,
	firstStart,
	...loopDelay,
	liveMemory,
	...guards,
	liveText,
	...liveScreen,
	...detached,
	...remote,
	...worktrees,
	...workflows,
	...discovery,
	hostileFiles,
	...prompt,
	...report,
	ownLoad,
	warmLoad,
	coldLoad,
];
const word = process.argv[2] ?? "";
const figures: Figure[] = [];

for (const entry of entries.filter(({ name }) => name.includes(word))) {
	process.stderr.write(`measuring ${entry.name} …\n`);
	figures.push(await measure(entry));
}
await closeWorld();
await closeDetached();
await closeRemote();
console.log(table(figures));
await mkdir(new URL("results/", import.meta.url), { recursive: true });
const results = { at: new Date().toISOString(), node: process.version, figures };
await writeFile(new URL("results/latest.json", import.meta.url), `${JSON.stringify(results, undefined, "\t")}\n`);
process.exitCode = figures.length > 0 && figures.every(({ ok }) => ok) ? 0 : 1;

function table(rows: readonly Figure[]): string {
	const head = ["", "ours", "against", "ratio (middle half)", "target", ""];
	const body = rows.map((row) => [
		row.name,
		`${row.ours.toFixed(1)} ${row.unit}`,
		`${row.against.name} ${row.against.value.toFixed(1)} ${row.unit}`,
		row.ratio === undefined
			? "n/a"
			: `${row.ratio.toFixed(2)} (${row.spread.map((ratio) => ratio.toFixed(2)).join("–")})`,
		`≤ ${row.target}`,
		row.ok ? "ok" : "MISSED",
	]);
	const widths = head.map((_, column) => Math.max(...[head, ...body].map((cells) => (cells[column] ?? "").length)));
	return [head, ...body]
		.map((cells) =>
			cells
				.map((cell, column) => cell.padEnd(widths[column] ?? 0))
				.join("  ")
				.trimEnd(),
		)
		.join("\n");
}
