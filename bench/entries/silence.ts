/**
 * What a hundred agents that run but say nothing cost an interactive pi: its CPU, beside as many bare sessions with one
 * line that tells how long they have been at work. (A pi that draws nothing at all needs nothing at all.) A ratio of two
 * figures that are next to nothing says little, so what they differ by counts as well, in hundredths of a core.
 */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
	callTool,
	callTools,
	converse,
	createPiEnv,
	hang,
	lastUserSays,
	type Reply,
	say,
	startModelServer,
	startTui,
} from "@pi-subagents-dev/testkit";
import type { Benchmark, Subject } from "../measure.ts";

const AGENTS = 100;
const TASK = "Wait for ever.";
const LAUNCH_MS = 60_000;
/** Until everything has been drawn, the spinners have calmed down and the launch has been collected as garbage. */
const REST_MS = 6_000;
const SAMPLE_MS = 10_000;

const extension = dirname(fileURLToPath(import.meta.resolve("@pi-subagents/extension/package.json")));
const bare = fileURLToPath(new URL("../fixtures/bare-agents.ts", import.meta.url));
const times = <T>(one: T) => Array.from({ length: AGENTS }, () => one);
const launchOne = callTool("Agent", { prompt: TASK, description: "wait", subagent_type: "general-purpose" });
const launchBare = callTool("launch_bare", { prompt: TASK });

const ours = withAgents("ours", extension, callTools(...times(launchOne)));
const floor = withAgents("bare sessions and a clock", bare, callTools(...times(launchBare)));
const allowed: Subject = { name: "allowed", once: () => 3 };

export const silence: Benchmark[] = [
	{
		name: `silence: CPU of interactive pi with ${AGENTS} agents that run and say nothing`,
		target: 2,
		unit: "ms/s",
		rounds: 3,
		ours,
		against: floor,
	},
	{
		name: "silence: the same, in points of CPU more than bare sessions",
		target: 1,
		unit: "points",
		rounds: 1, // far from what is allowed, or something is broken
		ours: { name: "ours", once: async () => Math.max(0, (await ours.once()) - (await floor.once())) / 10 },
		against: allowed,
	},
];

function withAgents(name: string, path: string, launch: Reply): Subject {
	return {
		name,
		async once() {
			const rules = [
				converse(lastUserSays("Begin"), launch, say("They are off.")),
				converse(lastUserSays(TASK), hang()),
			];
			const server = await startModelServer({ rules });
			const agentFiles = { "subagents.json": JSON.stringify({ maxConcurrent: 0 }) };
			const env = await createPiEnv({ server, extensions: [path], agentFiles });
			try {
				const tui = await startTui({ env, timeoutMs: LAUNCH_MS }, { cols: 120, rows: 40 });
				tui.type("Begin.");
				tui.press("enter");
				await tui.waitForText("They are off.");
				const asked = () => server.requests.filter(({ lastUserText }) => lastUserText === TASK).length;
				await server.nextRequest(() => asked() === AGENTS, { timeoutMs: LAUNCH_MS });
				await pass(REST_MS);
				const before = await cpuOf(tui.pid);
				await pass(SAMPLE_MS);
				return ((await cpuOf(tui.pid)) - before) / (SAMPLE_MS / 1_000);
			} finally {
				await env.cleanup(); // ends pi, too
				await server.close();
			}
		},
	};
}

/** What all threads of a process have used, in milliseconds. The kernel has it in nanoseconds. */
export async function cpuOf(pid: number): Promise<number> {
	const threads = `/proc/${pid}/task`;
	const used = await Promise.all(
		(await readdir(threads)).map(async (thread) => {
			const [onCpu = "0"] = (await readFile(join(threads, thread, "schedstat"), "utf8")).split(" ");
			return Number(onCpu);
		}),
	);
	return used.reduce((sum, each) => sum + each, 0) / 1e6;
}
