/** Times as people and models write them, jobs as files keep them. */
import { strict as assert } from "node:assert";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError } from "@pi-subagents/core";
import { parseCall, parseRequest } from "@pi-subagents/launch";
import { describeSchedule, fileJobStore, nextRuns, parseSchedule, ScheduleError } from "@pi-subagents/schedule";
import fc from "fast-check";
import { changedFile, changedJson, changedText, hostileText } from "../mutate.ts";
import { parsed, presentable, type Target, target, unpolluted } from "../target.ts";

const NOW = Date.UTC(2027, 1, 28, 23, 59, 30);
const TIMES = [
	"0 9 * * 1",
	"*/5 0-6,22 L * MON#2",
	"0 0 29 2 *",
	"@daily",
	"5m",
	"+10m",
	"2027-03-28T02:30:00",
	"2028-01-31T09:00:00Z",
	"1 2 3 4 5 6",
];
const ZONES = [undefined, "Europe/Berlin", "America/New_York", "Pacific/Chatham"] as const;
const REQUESTS = ["0 9 * * 1; project; quiet; zone=Europe/Berlin; runs=5", "+1s; missed=latest; overlap=queue"];
const CALLS = [
	{ preset: "scout", task: "Look.", description: "look", name: "n", maxTurns: 3, isolation: "worktree", quiet: false },
	{ preset: "workflow", task: "Run", description: "w", workflow: { name: "w", args: [1] }, quiet: true },
];
const job = {
	...{ id: "j1", name: "n", schedule: "5m", payload: CALLS[0], overlap: "skip", missed: "latest", enabled: true },
	...{ createdAt: NOW, when: { kind: "every", ms: 300_000, from: NOW }, runs: 0, cursor: NOW, epoch: 0 },
	...{ open: [], history: [] },
};
const LINES = [
	{ type: "job", job },
	{ type: "take", id: "j1", at: NOW, owner: "o1", cursor: NOW, epoch: 0, through: NOW, run: [], passed: [] },
	{ type: "remove", id: "j1" },
].map((entry, index) => JSON.stringify({ ...entry, w: "w1", n: index }));

export const scheduleTargets: Target[] = [
	target(
		"a schedule is understood or refused, is described in words, and its times grow",
		fc.tuple(changedText(TIMES), fc.oneof(fc.constantFrom(...ZONES), hostileText)),
		([text, timeZone]) => {
			const options = { now: NOW, ...(timeZone === undefined ? {} : { timeZone }) };
			const schedule = parsed(() => parseSchedule(text, options), ScheduleError);
			if (!schedule) return;
			presentable(describeSchedule(schedule), 500);
			let before = NOW;
			for (const run of nextRuns(schedule, NOW, 5)) {
				assert.ok(run.getTime() > before, "a run that is not later than the one before");
				before = run.getTime();
			}
		},
	),
	target("the `schedule` of a call is understood or refused", changedText(REQUESTS), (text) => {
		const request = parsed(() => parseRequest(text), AgentError);
		if (request?.maxRuns !== undefined) assert.ok(Number.isInteger(request.maxRuns) && request.maxRuns > 0);
	}),
	target("a kept call is read back whole or not at all", changedJson(CALLS), (value) => {
		const call = parsed(() => parseCall(value), Error);
		if (call) assert.deepEqual(parseCall(JSON.parse(JSON.stringify(call))), JSON.parse(JSON.stringify(call)));
		unpolluted();
	}),
	target(
		"a journal of jobs in any state can be opened, and jobs come out whole",
		changedFile([LINES.join("\n")]),
		async (bytes) => {
			const dir = join(tmpdir(), `pi-fuzz-jobs-${process.pid}`);
			await mkdir(join(dir, "journal-1"), { recursive: true });
			await writeFile(join(dir, "journal-1", "entries.jsonl"), bytes);
			const problems: string[] = [];
			const store = fileJobStore(dir, { onProblem: (problem) => void problems.push(problem) });
			try {
				for (const [id, found] of await store.read()) assert.equal(found.id, id);
				for (const problem of problems) presentable(problem, 2_000);
			} finally {
				await store.close();
				await rm(dir, { recursive: true, force: true });
			}
		},
	),
];
