/** Reports of 1, 100 and 1,000 agents, beside `JSON.stringify` of the same data: the time, and the size of the page. */
import { buildReport, htmlReport, type RunInput } from "@pi-subagents/report";
import { type Benchmark, timed } from "../measure.ts";

const TURNS = 30;
const usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0.001 };

export const report: Benchmark[] = [
	...[1, 100, 1_000].map((agents): Benchmark => {
		const runs = runsOf(agents);
		const page = async () => htmlReport(buildReport(runs, { now: 0 }));
		return {
			name: `report: the page of ${agents} agents, time`,
			target: agents === 1 ? 200 : 20, // of one, reading the script and the style is nearly all
			unit: "ms",
			rounds: 7,
			ours: timed("htmlReport", page),
			against: timed("JSON.stringify", () => JSON.stringify(runs)),
		};
	}),
	...[100, 1_000].map((agents): Benchmark => {
		const runs = runsOf(agents);
		return {
			name: `report: the page of ${agents} agents, size`,
			target: 1.5,
			unit: "KB",
			rounds: 1,
			ours: { name: "page", once: async () => (await htmlReport(buildReport(runs, { now: 0 }))).length / 1_000 },
			against: { name: "JSON.stringify", once: () => JSON.stringify(runs).length / 1_000 },
		};
	}),
];

function runsOf(agents: number): RunInput[] {
	return Array.from({ length: agents }, (_, index): RunInput => {
		const start = 1_000 + index * 10;
		const steps = Array.from({ length: TURNS }, (_, turn) => ({ turn, at: start + turn * 100 }));
		return {
			meta: {
				runId: `a${index}`,
				agentId: `a${index}`,
				run: 1,
				createdAt: start,
				launchedBy: { who: "model", ...(index === 0 ? {} : { agentId: `a${index >> 3}` }) },
				preset: "scout",
				task: `Look at part ${index} of the project.`,
				cwd: "/project",
				resolvedModel: "fake/one",
				spec: { description: `look at ${index}`, runner: "session" },
			},
			lines: steps.flatMap(({ turn, at }): RunInput["lines"] => [
				{ type: "assistant_text", text: `Step ${turn}: reading the next file.`, at: at + 60 },
				{ type: "usage", usage, at: at + 60 },
				{ type: "tool_call", callId: `c${turn}`, tool: "read", args: { path: `src/${turn}.ts` }, at: at + 60 },
				{ type: "tool_result", callId: `c${turn}`, tool: "read", isError: false, at: at + 100 },
			]),
		};
	});
}
