/** Jobs as menu items, the actions of each, and their upcoming and past runs. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { messageOf } from "@pi-subagents/core/internal/base";
import type { ScheduledJob } from "@pi-subagents/launch";
import { isQuiet, momentText, parseCall, runText, scopeText, type Timetable, timetableOf } from "@pi-subagents/launch";
import { formatDuration, sanitize } from "@pi-subagents/progress";
import type { Job, JobRun } from "@pi-subagents/schedule";
import type { Block, Item, Tone } from "@pi-subagents/widget/dialogs";
import type { PiSchedules } from "../../host.ts";

/** Not valid as a job id, so it cannot collide. */
export const NEW_JOB = "(new)";

export function jobItems(jobs: readonly JobWithTimetable[], now: number): Item[] {
	return [
		...jobs.map((each) => jobItem(each, now)),
		{
			value: NEW_JOB,
			mark: { text: "+", tone: "accent" },
			label: "New job",
			about: "run an agent at a set time, or repeatedly",
		},
	];
}

function jobItem({ scope, job, timetable }: JobWithTimetable, now: number): Item {
	const last = job.history.at(-1);
	return {
		value: job.id,
		mark: markOf(job),
		label: job.name,
		tag: { text: scope },
		about: timetable.rule,
		end: dueText(job, now),
		...(last ? { note: `Last: ${momentText(last.dueAt, job)}, ${runText(last)}` } : {}),
	};
}

function markOf({ enabled, nextAt, history }: Job): { text: string; tone: Tone } {
	if (history.some(({ result }) => result === "running")) return { text: "●", tone: "accent" };
	if (!enabled) return { text: "○", tone: "muted" };
	return nextAt === undefined ? { text: "✓", tone: "muted" } : { text: "●", tone: "good" };
}

/** When it is due next, relative to now. */
export function dueText({ enabled, nextAt }: Job, now: number): string {
	if (!enabled) return "paused";
	return nextAt === undefined ? "over" : nextAt <= now ? "due" : `in ${formatDuration(nextAt - now)}`;
}

export type JobAction = "pause" | "resume" | "run" | "next" | "history" | "loud" | "quiet" | "remove";

export function jobActions({ job }: JobWithTimetable): (Item & { value: JobAction })[] {
	return [
		{ value: "run", label: "Run now", about: "in addition to its schedule" },
		job.enabled
			? { value: "pause", label: "Pause", about: "no runs until it is resumed" }
			: { value: "resume", label: "Resume", about: "missed runs are not made up" },
		{ value: "next", label: "Next runs", about: "upcoming times" },
		{ value: "history", label: "History", about: `past runs (${job.runs})` },
		isQuiet(job)
			? { value: "loud", label: "Announce successes", about: "currently only failures are announced" }
			: { value: "quiet", label: "Be quiet", about: "announce failures only" },
		{ value: "remove", label: "Remove", about: "permanently" },
	];
}

/** The description above the actions. */
export function jobIntro({ job, scope, timetable }: JobWithTimetable, now: number): string {
	const { rule } = timetable;
	return [`${rule}: ${dueText(job, now)}${isQuiet(job) ? ", quiet" : ""}. ${scopeText(scope)}`, workText(job)].join(
		"\n",
	);
}

/** An unreadable job is still listed, so that it can be removed. */
function workText({ payload }: Job): string {
	try {
		const { preset, task } = parseCall(payload);
		return `${preset}: ${sanitize(task).slice(0, 200)}`;
	} catch (error) {
		return messageOf(error);
	}
}

export function nextBlocks({ job, timetable }: JobWithTimetable, now: number): Block[] {
	if (timetable.next.length === 0) return [{ text: job.enabled ? "No more runs." : "It is paused." }];
	const rows = timetable.next.map((at) => ({
		lead: [{ text: momentText(at, job) }],
		body: [{ text: at <= now ? "due" : `in ${formatDuration(at - now)}`, tone: "muted" as const }],
	}));
	return [{ text: timetable.rule, tone: "strong" }, { rows }];
}

/** Newest first. */
export function historyBlocks({ job }: JobWithTimetable): Block[] {
	if (job.history.length === 0) return [{ text: "It has not run yet." }];
	const rows = job.history.toReversed().map((run) => ({
		lead: [{ text: momentText(run.dueAt, job) }],
		body: [{ text: runText(run), tone: TONES[run.result] }],
	}));
	return [{ rows }];
}

const TONES: Record<JobRun["result"], Tone> = {
	running: "accent",
	done: "good",
	failed: "bad",
	skipped: "muted",
	missed: "warn",
	lost: "warn",
};

export type JobWithTimetable = ScheduledJob & { timetable: Timetable };

/** How many upcoming runs fit on a screen. */
const PREVIEW_RUNS = 10;

export async function jobsWithTimetables(schedules: PiSchedules, ctx: ExtensionContext): Promise<JobWithTimetable[]> {
	const jobs = await schedules.list(ctx);
	return Promise.all(jobs.map(async (each) => ({ ...each, timetable: await timetableOf(each.job, PREVIEW_RUNS) })));
}
