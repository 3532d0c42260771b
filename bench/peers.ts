/**
 * `npm run bench:peers [--rounds N] [word]`: does the same work with ours, with the published packages of others and with
 * the least that could do it, prints one table of ratios, and writes it as JSON. `word` picks lines by their names.
 */
import "./place.ts";
import { mkdir, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Compared, compare } from "./peers/comparison.ts";
import { detached, remote } from "./peers/detached.ts";
import { discovery } from "./peers/discovery.ts";
import { disk } from "./peers/disk.ts";
import { escapes } from "./peers/escapes.ts";
import { features } from "./peers/features.ts";
import { frame } from "./peers/frame.ts";
import { kill } from "./peers/kill.ts";
import { load } from "./peers/load.ts";
import { crowd, memory } from "./peers/memory.ts";
import { prompt } from "./peers/prompt.ts";
import { queue } from "./peers/queue.ts";
import { reopen } from "./peers/reopen.ts";
import { schedule } from "./peers/schedule.ts";
import { spawn } from "./peers/spawn.ts";
import { tableOf } from "./peers/table.ts";
import { terminal } from "./peers/terminal.ts";

const comparisons = [
	...load,
	reopen,
	prompt,
	spawn,
	queue,
	crowd,
	memory,
	disk,
	detached,
	remote,
	...features,
	terminal,
	...frame,
	discovery,
	schedule,
	...kill,
	escapes,
];

const { values, positionals } = parseArgs({
	options: { rounds: { type: "string", default: "3" } },
	allowPositionals: true,
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds wants a whole number, not "${values.rounds}"`);
const [word = ""] = positionals;

const compared: Compared[] = [];
for (const comparison of comparisons.filter(({ lines }) => lines.some(({ name }) => name.includes(word)))) {
	process.stderr.write(`comparing: ${comparison.lines.map(({ name }) => name).join("; ")} …\n`);
	compared.push(...(await compare(comparison, rounds)));
	await keep(); // it takes long: what is known is not lost
}
console.log(tableOf(compared));
// A line that ours could not be measured for is a failure; one that ours loses is something to read.
process.exit(compared.some(({ cells }) => String(cells.ours.value).startsWith("failed")) ? 1 : 0);

async function keep(): Promise<void> {
	await mkdir(new URL("results/", import.meta.url), { recursive: true });
	const report = { at: new Date().toISOString(), node: process.version, rounds, compared };
	await writeFile(new URL("results/peers.json", import.meta.url), `${JSON.stringify(report, undefined, "\t")}\n`);
}
