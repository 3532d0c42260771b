/**
 * What twenty agents that talk cost an interactive pi which shows what they write: its output and its CPU, beside bare
 * sessions whose words are shown by the same dashboard. Ours shows its tree as well.
 */
import { dirname } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
	callTool,
	callTools,
	converse,
	createPiEnv,
	lastUserSays,
	type Reply,
	say,
	startModelServer,
	startTui,
} from "@pi-subagents-dev/testkit";
import { MARK } from "../fixtures/live-board.ts";
import type { Benchmark, Subject } from "../measure.ts";
import { cpuOf } from "./silence.ts";

const AGENTS = 20;
const TASK = "Talk.";
const LAUNCH_MS = 60_000;
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
	return {
		name,
		once: async () => of(await watched(path, callTools(...Array.from({ length: AGENTS }, () => launch)))),
	};
}

async function watched(path: string, launch: Reply): Promise<Cost> {
	const rules = [converse(lastUserSays("Begin"), launch, say("They are off.")), converse(lastUserSays(TASK), talk)];
	const server = await startModelServer({ rules });
	const agentFiles = { "subagents.json": JSON.stringify({ maxConcurrent: 0 }) };
	const env = await createPiEnv({ server, extensions: [path, board], agentFiles });
	try {
		const tui = await startTui({ env, timeoutMs: LAUNCH_MS }, { cols: 120, rows: 60 });
		tui.type("Begin.");
		tui.press("enter");
		const asked = () => server.requests.filter(({ lastUserText }) => lastUserText === TASK).length;
		await server.nextRequest(() => asked() === AGENTS, { timeoutMs: LAUNCH_MS });
		await tui.waitForText(new RegExp(`${MARK} .*w\\d{4}`), { timeoutMs: LAUNCH_MS }); // or nothing is measured
		await pass(REST_MS);
		const [before, { length }, start] = [await cpuOf(tui.pid), tui.raw, performance.now()];
		await pass(SAMPLE_MS);
		const seconds = (performance.now() - start) / 1_000;
		const cpuMsPerSecond = ((await cpuOf(tui.pid)) - before) / seconds;
		return { kbPerSecond: Buffer.byteLength(tui.raw.slice(length)) / 1_024 / seconds, cpuMsPerSecond };
	} finally {
		await env.cleanup(); // ends pi, too
		await server.close();
	}
}
