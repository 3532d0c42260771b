/**
 * Many processes, one store, sudden deaths. `CHAOS=full` runs ten processes on a hundred jobs; without it, fewer. A failed
 * run is repeated with the seed that it names, as far as the system allows: when a process dies is partly chance.
 */
import { patienceMs } from "@pi-subagents-dev/testkit/wait";
import { expect, test } from "vitest";
import { type JobRun, nextRuns, type StoredJob } from "../../src/index.ts";
import { type Aftermath, BEGIN, chaos, STEP_MS } from "./chaos/chaos.ts";

const isFull = process.env.CHAOS === "full";
const plan = isFull ? { processes: 10, jobs: 100, seconds: 900 } : { processes: 4, jobs: 27, seconds: 300 };
const seed = Number(process.env.CHAOS_SEED ?? 1);

test(`no run starts twice and no due time is forgotten, whichever process is killed (seed ${seed})`, {
	timeout: patienceMs(isFull ? 20 : 4),
}, async () => {
	const after = await chaos({ ...plan, seed });
	expect(after.kills).toBeGreaterThan(plan.processes);
	expect(after.begun.toSorted()).toEqual([...new Set(after.begun)].toSorted());
	const verdicts = after.jobs.map((job) => judge(job, after));
	expect(verdicts.flatMap(({ wrong }) => wrong)).toEqual([]);
	const counts = Object.groupBy(
		verdicts.flatMap(({ results }) => results),
		(result) => result,
	);
	const figures = Object.fromEntries(Object.entries(counts).map(([result, all]) => [result, all?.length]));
	console.log(`${after.kills} kills, ${after.begun.length} begun:`, figures);
	// These fates must have come up, or the test shows less than it says. Whether one run outlasts the next moment, so
	// that it is skipped, depends on the machine; the scheduler's own tests show that without chance.
	expect(Object.keys(figures)).toEqual(expect.arrayContaining(["done", "failed", "lost", "missed"]));
	expect(after.problems.filter((problem) => !/set aside|given up as lost/.test(problem))).toEqual([]);
});

/** Says of every due moment what became of it, and what should not have. */
function judge(job: StoredJob, { begun, outage }: Aftermath): { wrong: string[]; results: string[] } {
	const moments = nextRuns(job.when, BEGIN, 30).map(Number);
	const due = moments.filter((at) => at <= (job.endsAt ?? 0));
	const runs = new Map(job.history.map((run) => [run.dueAt, run]));
	const wrong = due.flatMap((at) => {
		const run = runs.get(at);
		const complaint = run ? complaintAbout(job, run, due, { begun, outage }) : "forgotten";
		const what = `${job.name} (${job.overlap}, ${job.missed}) at ${(at - BEGIN) / 1_000}: ${JSON.stringify(run)}`;
		return complaint === undefined ? [] : [`${complaint}: ${what}`];
	});
	const extra = job.history.length === due.length ? [] : [`${job.name} has ${job.history.length} of ${due.length}`];
	const open = job.open.length === 0 ? [] : [`${job.name} still has ${JSON.stringify(job.open)}`];
	return { wrong: [...wrong, ...extra, ...open, ...overlaps(job)], results: job.history.map(({ result }) => result) };
}

function complaintAbout(
	job: StoredJob,
	run: JobRun,
	due: number[],
	{ begun, outage }: Pick<Aftermath, "begun" | "outage">,
): string | undefined {
	const isBegun = begun.includes(run.runKey);
	switch (run.result) {
		case "running":
			return "still runs";
		case "done":
		case "failed":
			return isBegun ? undefined : "never begun";
		case "lost":
			return undefined; // its process died right before or after it began
		case "skipped":
			return isBegun || job.overlap !== "skip" ? "wrongly skipped" : undefined;
		case "missed":
			return isBegun || !mayMiss(job, run, due, outage) ? "wrongly missed" : undefined;
	}
}

/** A moment may be missed when its process died between taking and starting it, or when nobody lived. */
function mayMiss(job: StoredJob, run: JobRun, due: number[], outage: Aftermath["outage"]): boolean {
	const isLast = run.dueAt === due.at(-1);
	const isOrphan = run.note?.includes("its process ended") ?? false;
	const wasOut = run.dueAt > outage.from - 60_000 && run.dueAt <= outage.to;
	switch (job.missed) {
		case "all":
			return false;
		case "latest":
			return !isLast && (isOrphan || wasOut);
		case "skip":
			return isOrphan || wasOut;
	}
}

function overlaps({ name, overlap, history }: StoredJob): string[] {
	if (overlap === "allow") return [];
	const ended = history.flatMap(({ startedAt, endedAt }) => (startedAt && endedAt ? [{ startedAt, endedAt }] : []));
	const byStart = ended.toSorted((a, b) => a.startedAt - b.startedAt);
	return byStart.flatMap((run, at) => {
		const before = byStart[at - 1];
		// Each process has its own time, and they differ by a step.
		return before && before.endedAt - STEP_MS > run.startedAt
			? [`${name} ran twice at once at ${run.startedAt - BEGIN}`]
			: [];
	});
}
