/** Jobs as things to choose, and what can be done with one. Pure. */
import { messageOf } from "@pi-subagents/core";
import { formatDuration, sanitize } from "@pi-subagents/progress";
import type { Job, JobRun } from "@pi-subagents/schedule";
import type { Block, Tone } from "../commands/layout.ts";
import { parseCall } from "../schedule/call.ts";
import type { Listed } from "../schedule/listed.ts";
import { isQuiet, momentText, runText, scopeText } from "../schedule/words.ts";
import type { Item } from "./screen.ts";

/** Ids of jobs cannot begin like this. */
export const NEW_JOB = "(new)";

export function jobItems(jobs: readonly Listed[], now: number): Item[] {
	return [
		...jobs.map((each) => jobItem(each, now)),
		{
			value: NEW_JOB,
			mark: { text: "+", tone: "accent" },
			label: "New job",
			about: "let an agent work at a certain time, or again and again",
		},
	];
}

function jobItem({ scope, job, timetable }: Listed, now: number): Item {
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

/** When it is due next, as seen from now. */
export function dueText({ enabled, nextAt }: Job, now: number): string {
	if (!enabled) return "paused";
	return nextAt === undefined ? "over" : nextAt <= now ? "due" : `in ${formatDuration(nextAt - now)}`;
}

export type JobAction = "pause" | "resume" | "run" | "next" | "history" | "loud" | "quiet" | "remove";

export function jobActions({ job }: Listed): (Item & { value: JobAction })[] {
	return [
		{ value: "run", label: "Run now", about: "beside its schedule" },
		job.enabled
			? { value: "pause", label: "Pause", about: "nothing is due until it is resumed" }
			: { value: "resume", label: "Resume", about: "what passed meanwhile is not made up for" },
		{ value: "next", label: "Next runs", about: "when it is due" },
		{ value: "history", label: "History", about: `how it went so far (${job.runs})` },
		isQuiet(job)
			? { value: "loud", label: "Announce successes", about: "now only failures are announced" }
			: { value: "quiet", label: "Be quiet", about: "announce failures only" },
		{ value: "remove", label: "Remove", about: "for good" },
	];
}

/** What it is, above what can be done with it. */
export function jobIntro({ job, scope, timetable }: Listed, now: number): string {
	const { rule } = timetable;
	return [`${rule}: ${dueText(job, now)}${isQuiet(job) ? ", quiet" : ""}. ${scopeText(scope)}`, workText(job)].join(
		"\n",
	);
}

/** Also a job that cannot be read must be there to be removed. */
function workText({ payload }: Job): string {
	try {
		const { preset, task } = parseCall(payload);
		return `${preset}: ${sanitize(task).slice(0, 200)}`;
	} catch (error) {
		return messageOf(error);
	}
}

export function nextBlocks({ job, timetable }: Listed, now: number): Block[] {
	if (timetable.next.length === 0) return [{ text: job.enabled ? "Nothing is due any more." : "It is paused." }];
	const rows = timetable.next.map((at) => ({
		lead: [{ text: momentText(at, job) }],
		body: [{ text: at <= now ? "due" : `in ${formatDuration(at - now)}`, tone: "muted" as const }],
	}));
	return [{ text: timetable.rule, tone: "strong" }, { rows }];
}

/** The newest first. */
export function historyBlocks({ job }: Listed): Block[] {
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
