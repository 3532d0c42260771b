/**
 * What a hundred agents that run but say nothing cost an interactive pi: its CPU, beside as many bare sessions with one
 * line that tells how long they have been at work. (A pi that draws nothing at all needs nothing at all.) A ratio of two
 * figures that are next to nothing says little, so what they differ by counts as well, in hundredths of a core.
 */
import { dirname } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { callTool, hang, type Reply } from "@pi-subagents-dev/testkit";
import type { Benchmark, Subject } from "../measure.ts";
import { cpuOf, onScreen } from "../worlds/screen.ts";

const AGENTS = 100;
const TASK = "Wait for ever.";
/** Until everything has been drawn, the spinners have calmed down and the launch has been collected as garbage. */
const REST_MS = 6_000;
const SAMPLE_MS = 10_000;

const extension = dirname(fileURLToPath(import.meta.resolve("@pi-subagents/extension/package.json")));
const bare = fileURLToPath(new URL("../fixtures/bare-agents.ts", import.meta.url));
const launchOne = callTool("Agent", { prompt: TASK, description: "wait", subagent_type: "general-purpose" });
const launchBare = callTool("launch_bare", { prompt: TASK });

const ours = withAgents("ours", extension, launchOne);
const floor = withAgents("bare sessions and a clock", bare, launchBare);
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
	const world = { agents: AGENTS, task: TASK, reply: hang(), rows: 40, shows: "They are off.", restMs: REST_MS };
	return {
		name,
		once: () =>
			onScreen({ ...world, extensions: [path], launch }, async ({ pid }) => {
				const before = await cpuOf(pid);
				await pass(SAMPLE_MS);
				return ((await cpuOf(pid)) - before) / (SAMPLE_MS / 1_000);
			}),
	};
}
