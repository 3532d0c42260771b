/** One change of one job, where there are ten thousand. */
import { appendFile, cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fileJobStore, Scheduler } from "@pi-subagents/schedule";
import { IN_PROCESS, importSource, PROCESS, rivalDir } from "../rivals.ts";
import type { Comparison, Work } from "./comparison.ts";

const JOBS = 10_000;
/** One alone is too short to be measured. */
const CHANGES = 40;
const ID = "job-5000";

/** Pauses the job, or lets it go on. */
type Change = (isPaused: boolean) => unknown;

export const schedule: Comparison = {
	lines: [{ name: "a change of one of 10,000 jobs", unit: "ms", floor: "an appended line", target: { value: 1 } }],
	work: {
		floor: changing(async (dir) => (isPaused) => appendFile(join(dir, "log"), `${JSON.stringify({ isPaused })}\n`)),
		ours: changing(async (dir, atEnd) => {
			const store = fileJobStore(dir);
			const scheduler = new Scheduler({ store, onDue: () => undefined });
			await scheduler.start();
			atEnd(async () => {
				await scheduler.stop();
				await store.close();
			});
			const [job] = await Promise.all(Array.from({ length: JOBS }, () => scheduler.add(spec)));
			if (!job) throw new Error("no job");
			return (isPaused) => (isPaused ? scheduler.pause(job.id) : scheduler.resume(job.id));
		}),
		"in-process rival": changing(async (dir) => {
			const path = join(await rivalDir(IN_PROCESS), "dist/schedule-store.js");
			const { ScheduleStore } = await import(pathToFileURL(path).href);
			const jobs = Array.from({ length: JOBS }, (_, at) => ({ ...inProcessJob, id: `job-${at}`, name: `job ${at}` }));
			await writeFile(join(dir, "jobs.json"), JSON.stringify({ version: 1, jobs }));
			const store = new ScheduleStore(join(dir, "jobs.json"));
			if (store.list().length !== JOBS) throw new Error(`it knows ${store.list().length} jobs`);
			return (isPaused) => store.update(ID, { enabled: !isPaused });
		}),
		"process rival": changing(async (dir, atEnd) => {
			const module = await importSource(await rivalDir(PROCESS), "src/runs/background/scheduled-runs.ts");
			const config = { scheduledRuns: { enabled: true, maxPending: 2 * JOBS } };
			const manager = module.createScheduledRunManager({ config, storeRoot: dir, launch: () => undefined });
			const sessionManager = { getSessionId: () => "s", getSessionFile: () => undefined };
			const act = async (action: string, more: object) => {
				const result = await manager.handleToolCall({ action, id: ID, ...more }, { cwd: dir, sessionManager });
				if (result.isError) throw new Error(result.content[0].text);
			};
			atEnd(async () => manager.stop());
			await act("schedule.create", { every: "6h", workflowScript: "return 1" });
			const folder = module.scheduledRunStorePath(dir, undefined, dir);
			const copies = Array.from({ length: JOBS }, (_, at) => `job-${at}`).filter((id) => id !== ID);
			await Promise.all(copies.map((id) => cp(join(folder, ID), join(folder, id), { recursive: true })));
			return (isPaused) => act(isPaused ? "schedule.pause" : "schedule.resume", {});
		}),
	},
};

const spec = { name: "job", schedule: "0 */6 * * *", payload: { task: "look around" } };
const inProcessJob = {
	...{ description: "look around", schedule: "6h", scheduleType: "interval", intervalMs: 21_600_000 },
	...{ subagent_type: "peer", prompt: "Look around.", enabled: true, createdAt: "2027-01-01T00:00:00Z", runCount: 0 },
};

function changing(prepare: (dir: string, atEnd: (task: () => Promise<void>) => void) => Promise<Change>): Work {
	return async () => {
		const dir = await mkdtemp(join(tmpdir(), "peers-jobs-"));
		const tasks: (() => Promise<void>)[] = [];
		try {
			const change = await prepare(dir, (task) => tasks.push(task));
			await change(true);
			await change(false);
			const start = performance.now();
			for (let turn = 0; turn < CHANGES; turn++) await change(turn % 2 === 0);
			return [(performance.now() - start) / CHANGES];
		} finally {
			for (const task of tasks) await task();
			await rm(dir, { recursive: true, force: true });
		}
	};
}
