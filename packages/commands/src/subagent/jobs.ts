/** `/subagent jobs`: the scheduled jobs without the menu. */
import { AgentError, nearest, systemClock } from "@pi-subagents/core";
import { quoted } from "@pi-subagents/core/internal/base";
import type { Block } from "@pi-subagents/widget/dialogs";
import {
	dueText,
	historyBlocks,
	type JobWithTimetable,
	jobsWithTimetables,
	nextBlocks,
} from "../menu/schedule/schedule-items.ts";
import type { CommandDeps, Subcommand } from "../subcommand.ts";
import { firstWord } from "../text/agent-text.ts";

export function jobsCommand({ launcher, schedules }: CommandDeps): Subcommand {
	return {
		name: "jobs",
		args: "[pause|resume|run|history|remove <id>]",
		about: "list the scheduled jobs, or change one",
		completions: () => Object.entries(ACTIONS).map(([value, about]) => ({ value, label: value, description: about })),
		async run(rest, ctx) {
			const { scheduling } = await launcher.settings(ctx);
			if (!scheduling) throw new AgentError("unsupported", "Scheduling is switched off (setting `scheduling`).");
			const jobs = await jobsWithTimetables(schedules, ctx);
			if (rest === "") return jobBlocks(jobs, systemClock.now());
			const [action, id] = firstWord(rest);
			const each = findJob(jobs, id, action);
			const { name } = each.job;
			switch (action as Action) {
				case "pause":
					await schedules.update(each, { enabled: false }, ctx);
					return [{ text: `"${name}" is paused.` }];
				case "resume":
					await schedules.update(each, { enabled: true }, ctx);
					return [{ text: `"${name}" is resumed.` }];
				case "run":
					await schedules.runNow(each, ctx);
					return [{ text: `"${name}" is running now; the result will appear here.` }];
				case "history":
					return [...nextBlocks(each, systemClock.now()), ...historyBlocks(each)];
				case "remove":
					await schedules.remove(each, ctx);
					return [{ text: `"${name}" is removed. If its agent is running, it continues.` }];
			}
		},
	};
}

type Action = keyof typeof ACTIONS;

const ACTIONS = {
	pause: "no runs until it is resumed",
	resume: "missed runs are not made up",
	run: "now, in addition to its schedule",
	history: "next runs and past results",
	remove: "permanently",
};

function findJob(jobs: readonly JobWithTimetable[], id: string, action: string): JobWithTimetable {
	if (!Object.hasOwn(ACTIONS, action)) {
		const meant = nearest(action, Object.keys(ACTIONS));
		const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
		throw new AgentError(
			"bad_request",
			`Unknown action ${quoted(action)}.${hint} Use ${Object.keys(ACTIONS).join(", ")} with a job id.`,
		);
	}
	const each = jobs.find(({ job }) => job.id === id);
	if (each) return each;
	const known = jobs.map(({ job }) => `${job.id} ("${job.name}")`).join(", ");
	throw new AgentError(
		"bad_request",
		`There is no job ${quoted(id)}. ${known === "" ? "No jobs are scheduled." : `Jobs: ${known}`}`,
	);
}

function jobBlocks(jobs: readonly JobWithTimetable[], now: number): Block[] {
	if (jobs.length === 0)
		return [{ text: "No jobs are scheduled. Use `Agent` with `schedule`, or /agents, to add one." }];
	const rows = jobs.map(({ job, scope, timetable }) => ({
		lead: [
			{ text: job.id },
			{ text: scope, tone: "muted" as const },
			{ text: dueText(job, now), tone: "accent" as const },
		],
		body: [{ text: job.name }, { text: timetable.rule, tone: "muted" as const }],
	}));
	return [{ rows, isClipped: true }];
}
