/**
 * Reports of 1, 100 and 1,000 agents, beside `JSON.stringify` of the same data: the time, and the size of the page. And
 * what recording, which reports are made from, adds to the way of an answer.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Manager, type RunSpec, systemClock } from "@pi-subagents/core";
import { fakeRunner, sampleSpec } from "@pi-subagents/core/testing";
import { buildReport, htmlReport, type RunInput, writeHtmlReport } from "@pi-subagents/report";
import { recordRuns } from "@pi-subagents/runs";
import { type Benchmark, type Subject, timed } from "../measure.ts";

const TURNS = 30;
const usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0.001 };
const dir = await mkdtemp(join(tmpdir(), "bench-report-"));
process.once("exit", () => void rm(dir, { recursive: true, force: true }));

const built = join(dirname(fileURLToPath(import.meta.resolve("@pi-subagents/report/package.json"))), "dist");
const PAGE = await htmlReport(buildReport(runsOf(1), { now: 0 }));

export const report: Benchmark[] = [
	{
		// Of one agent, the script and the style are nearly all of the page: making the file means reading and writing both.
		name: "report: the file about 1 agent, time",
		target: 3,
		unit: "ms",
		rounds: 15,
		ours: timed("writeHtmlReport", () => writeHtmlReport(buildReport(runsOf(1), { now: 0 }), join(dir, "report.html"))),
		against: timed("the page read, as many bytes written", async () => {
			await Promise.all(["page.js", "page.css"].map((name) => readFile(join(built, name), "utf8")));
			await writeFile(join(dir, "plain.html"), PAGE);
		}),
	},
	...[100, 1_000].map((agents): Benchmark => {
		const runs = runsOf(agents);
		const page = async () => htmlReport(buildReport(runs, { now: 0 }));
		return {
			name: `report: the page of ${agents} agents, time`,
			target: 20,
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
	{
		// If an answer waited for what is recorded of it, four files and a log, this would be above 1.
		name: "report: from an agent's last word to its answer, with recording",
		target: 0.5,
		unit: "ms",
		rounds: 15,
		ours: answerTime("recorded", { isRecorded: true }),
		against: answerTime("not recorded, but one file awaited", { isRecorded: false }),
	},
];

const RESULT = JSON.stringify({
	format: 1,
	runId: "a1",
	outcome: { status: "completed", text: "All is well." },
	usage,
});

/** 50 agents have worked; how long the caller waits after the last word of each, in all. Files are written beside that. */
function answerTime(name: string, { isRecorded }: { isRecorded: boolean }): Subject {
	return {
		name,
		async once() {
			const runner = fakeRunner();
			let ids = 0;
			const manager = new Manager({
				runners: { session: runner },
				clock: systemClock,
				newId: () => `a${++ids}`,
				slots: { maxConcurrent: 50, whenFull: "queue" },
			});
			const runsDir = await mkdtemp(join(dir, "runs-"));
			const recorder = isRecorded
				? recordRuns({ store: manager.store, specOf: (id) => manager.specOf(id) })
				: undefined;
			const spec: RunSpec = { ...sampleSpec, runsDir };
			const agents = Array.from({ length: 50 }, () => manager.spawn(spec));
			for (const [index] of agents.entries())
				for (let turn = 0; turn < TURNS; turn++) {
					runner.runs[index]?.emit({ type: "tool_call", callId: `c${turn}`, tool: "read", args: { path: "a.ts" } });
					runner.runs[index]?.emit({ type: "tool_result", callId: `c${turn}`, tool: "read", isError: false });
				}
			await recorder?.flush();
			const start = performance.now();
			for (const [index, { id }] of agents.entries()) {
				runner.runs[index]?.answer("All is well.");
				await manager.wait(id);
				if (!isRecorded) await writeFile(join(runsDir, id), RESULT);
			}
			const took = performance.now() - start;
			await recorder?.close();
			return took;
		},
	};
}

function runsOf(agents: number): RunInput[] {
	return Array.from({ length: agents }, (_, index): RunInput => {
		const start = 1_000 + index * 10;
		const steps = Array.from({ length: TURNS }, (_, turn) => ({ turn, at: start + turn * 100 }));
		return {
			agentId: `a${index}`,
			run: 1,
			queuedAt: start,
			agent: {
				launchedBy: "model",
				...(index === 0 ? {} : { parentAgentId: `a${index >> 3}` }),
				depth: 1,
				isBackground: false,
				type: "scout",
				description: `look at ${index}`,
				task: `Look at part ${index} of the project.`,
				cwd: "/project",
				runner: "session",
				model: "fake/one",
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
