/**
 * What twenty agents that talk cost an interactive pi which shows what they write: its output and its CPU, beside bare
 * sessions whose words are shown by the same dashboard. Ours shows its tree as well.
 */
import { dirname } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { callTool, type Reply, say, type Terminal } from "@pi-subagents-dev/testkit";
import { MARK } from "../fixtures/live-board.ts";
import type { Benchmark, Subject } from "../measure.ts";
import { cpuOf, onScreen } from "../worlds/screen.ts";

const AGENTS = 20;
const TASK = "Talk.";
/** Until the launch has been drawn and collected as garbage. */
const REST_MS = 2_000;
const SAMPLE_MS = 6_000;
/** 200 tokens a second, longer than it is watched. No two are alike: what looks the same is not drawn again. */
const words = Array.from({ length: 200 * 20 }, (_, index) => `w${String(index).padStart(4, "0")}`);
const talk = say(words.join(" "), { chunkSize: 6, chunkDelayMs: 5 });

const bare = fileURLToPath(new URL("../fixtures/bare-live.ts", import.meta.url));
const board = fileURLToPath(new URL("../fixtures/live-board.ts", import.meta.url));
const extension = dirname(fileURLToPath(import.meta.resolve("@pi-subagents/extension/package.json")));
const launchOne = callTool("Agent", { prompt: TASK, description: "talk", subagent_type: "general-purpose" });
const launchBare = callTool("launch_live", { prompt: TASK });

interface Cost {
	kbPerSecond: number;
	cpuMsPerSecond: number;
}

export const liveScreen: Benchmark[] = [
	row("terminal output", "KB/s", ({ kbPerSecond }) => kbPerSecond),
	row("CPU of pi", "ms/s", ({ cpuMsPerSecond }) => cpuMsPerSecond),
];

function row(what: string, unit: string, of: (cost: Cost) => number): Benchmark {
	return {
		name: `live: ${what} while the words of ${AGENTS} agents are shown`,
		target: 2,
		unit,
		rounds: 3,
		ours: subject("ours", extension, launchOne, of),
		against: subject("bare sessions", bare, launchBare, of),
	};
}

function subject(name: string, path: string, launch: Reply, of: (cost: Cost) => number): Subject {
	const shows = new RegExp(`${MARK} .*w\\d{4}`); // or nothing is measured
	const world = { agents: AGENTS, task: TASK, reply: talk, rows: 60, shows, restMs: REST_MS };
	return {
		name,
		once: async () => of(await onScreen({ ...world, extensions: [path, board], launch }, watched)),
	};
}

async function watched(tui: Terminal): Promise<Cost> {
	const [before, { length }, start] = [await cpuOf(tui.pid), tui.raw, performance.now()];
	await pass(SAMPLE_MS);
	const seconds = (performance.now() - start) / 1_000;
	const cpuMsPerSecond = ((await cpuOf(tui.pid)) - before) / seconds;
	return { kbPerSecond: Buffer.byteLength(tui.raw.slice(length)) / 1_024 / seconds, cpuMsPerSecond };
}
