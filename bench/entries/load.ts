/** What the extension adds to the start of pi: one turn in JSON mode, from start to exit, beside pi without it. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Benchmark, Subject } from "../measure.ts";
import { type Start, startToExit } from "../worlds/start.ts";

const extension = dirname(fileURLToPath(import.meta.resolve("@pi-subagents/extension/package.json")));

/** What pi itself needs to load any extension at all. */
const emptyExtension = fileURLToPath(new URL("../fixtures/empty-extension.ts", import.meta.url));

export const ownLoad: Benchmark = {
	name: "load: start to exit of pi, warm, beside an empty extension",
	target: 1.05,
	unit: "ms",
	rounds: 15,
	ours: start("with the extension", { extensions: [extension], isCold: false }),
	against: start("empty extension", { extensions: [emptyExtension], isCold: false }),
};

export const warmLoad: Benchmark = {
	name: "load: start to exit of pi, warm",
	target: 1.07,
	unit: "ms",
	rounds: 15,
	ours: start("with the extension", { extensions: [extension], isCold: false }),
	against: start("pi alone", { extensions: [], isCold: false }),
};

export const coldLoad: Benchmark = {
	name: "load: start to exit of pi, cold",
	target: 1.4,
	unit: "ms",
	rounds: 9,
	ours: start("with the extension", { extensions: [extension], isCold: true }),
	against: start("pi alone", { extensions: [], isCold: true }),
};

function start(name: string, how: Start): Subject {
	return { name, once: () => startToExit(how) };
}
