/** When jobs run and how it went, in words. */

import { formatDuration, sanitize } from "@pi-subagents/progress";
import type { Job, JobRun } from "@pi-subagents/schedule";
import type { Scope } from "./request.ts";
import { loadSchedule } from "./schedule.lazy.ts";
import type { Added } from "./schedules.ts";

/** When a job runs. */
export interface Timetable {
	/** Its rule as a person says it. */
	rule: string;
	/** The next moments, earliest first. None for one that is paused or over. */
	next: readonly number[];
}

const SCOPES: Record<Scope, string> = {
	session: "It belongs to this session and runs only while the session is open.",
	project: "It belongs to the project: whichever pi is open there runs it.",
};

export async function timetableOf(job: Job, count: number): Promise<Timetable> {
	const { describeSchedule, nextRuns } = await loadSchedule();
	const { when, nextAt, maxRuns = Number.POSITIVE_INFINITY, endsAt = Number.POSITIVE_INFINITY, runs } = job;
	const later = nextAt === undefined ? [] : nextRuns(when, nextAt, count - 1).map((moment) => moment.getTime());
	const next = nextAt === undefined ? [] : [nextAt, ...later].filter((at) => at <= endsAt);
	return { rule: describeSchedule(when), next: next.slice(0, Math.max(0, Math.min(count, maxRuns - runs))) };
}

/** For the model that has just scheduled something. */
export async function addedText({ job, scope, warnings }: Added): Promise<string> {
	const { rule, next } = await timetableOf(job, 3);
	return [
		`Job ${job.id} "${sanitize(job.name)}" is scheduled, ${rule}. Next: ${next.map((at) => momentText(at, job)).join(", ")}.`,
		`Nothing was launched now. ${SCOPES[scope]} A message brings each result${isQuiet(job) ? " that is a failure" : ""}.`,
		"The user sees, pauses, runs and removes it in /agents, under Scheduled jobs, or with /subagent jobs.",
		...warnings.map(sanitize),
	].join("\n");
}

export function isQuiet({ payload }: Job): boolean {
	return typeof payload === "object" && payload !== null && "quiet" in payload && payload.quiet === true;
}

export function scopeText(scope: Scope): string {
	return SCOPES[scope];
}

/** `Mon 2027-01-04 09:00`, in the job's own time zone. */
export function momentText(at: number, { timeZone }: Pick<Job, "timeZone">): string {
	const zone = timeZone === undefined ? {} : { timeZone };
	const day = new Intl.DateTimeFormat("en-GB", { weekday: "short", ...zone }).format(at);
	// The Swedish way to write a moment is the one that everybody can read.
	const moment = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", ...zone }).format(at);
	return `${day} ${moment.replace(/:00$/, "")}`;
}

/** How a due moment ended, in a few words. */
export function runText({ result, startedAt, endedAt, note }: JobRun): string {
	const took = startedAt === undefined || endedAt === undefined ? "" : ` after ${formatDuration(endedAt - startedAt)}`;
	const said = note === undefined || note === "" ? "" : `: ${note}`;
	return `${RESULTS[result]}${took}${said}`;
}

const RESULTS: Record<JobRun["result"], string> = {
	running: "running",
	done: "done",
	failed: "failed",
	skipped: "skipped, since the run before it was still running",
	missed: "missed, since no pi was open",
	lost: "lost with the pi that ran it",
};
