/** `/subagent jobs`: the scheduled jobs, for whoever has no screen for the menu, or knows what they want. */
import { AgentError, nearest, systemClock } from "@pi-subagents/core";
import { dueText, historyBlocks, nextBlocks } from "../menu/schedule-items.ts";
import { type Listed, listedJobs } from "../schedule/listed.ts";
import type { Block } from "./layout.ts";
import type { CommandDeps, Subcommand } from "./subcommand.ts";
import { firstWord } from "./words.ts";

export function jobsCommand({ launcher, schedules }: CommandDeps): Subcommand {
	return {
		name: "jobs",
		args: "[pause|resume|run|history|remove <id>]",
		about: "the scheduled jobs, or what is to happen to one",
		offers: () => Object.entries(ACTIONS).map(([value, about]) => ({ value, label: value, description: about })),
		async run(rest, ctx) {
			const { scheduling } = await launcher.settings(ctx);
			if (!scheduling) throw new AgentError("unsupported", "Scheduling is switched off (setting `scheduling`).");
			const jobs = await listedJobs(schedules, ctx);
			if (rest === "") return jobBlocks(jobs, systemClock.now());
			const [action, id] = firstWord(rest);
			const each = found(jobs, id, action);
			const { name } = each.job;
			switch (action as Action) {
				case "pause":
					await schedules.update(each, { enabled: false }, ctx);
					return [{ text: `"${name}" is paused.` }];
				case "resume":
					await schedules.update(each, { enabled: true }, ctx);
					return [{ text: `"${name}" goes on.` }];
				case "run":
					await schedules.runNow(each, ctx);
					return [{ text: `"${name}" runs now; its result will be told.` }];
				case "history":
					return [...nextBlocks(each, systemClock.now()), ...historyBlocks(each)];
				case "remove":
					await schedules.remove(each, ctx);
					return [{ text: `"${name}" is removed. An agent of it that is at work goes on.` }];
			}
		},
	};
}

type Action = keyof typeof ACTIONS;

const ACTIONS = {
	pause: "nothing is due until it is resumed",
	resume: "what passed meanwhile is not made up for",
	run: "at once, beside its schedule",
	history: "when it is due, and how it went so far",
	remove: "for good",
};

function found(jobs: readonly Listed[], id: string, action: string): Listed {
	if (!Object.hasOwn(ACTIONS, action)) {
		const meant = nearest(action, Object.keys(ACTIONS));
		const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
		throw new AgentError(
			"bad_request",
			`A job cannot "${action}".${hint} ${Object.keys(ACTIONS).join(", ")} it, by its id.`,
		);
	}
	const each = jobs.find(({ job }) => job.id === id);
	if (each) return each;
	const known = jobs.map(({ job }) => `${job.id} ("${job.name}")`).join(", ");
	throw new AgentError(
		"bad_request",
		`There is no job "${id}". ${known === "" ? "There are none." : `There are: ${known}`}`,
	);
}

function jobBlocks(jobs: readonly Listed[], now: number): Block[] {
	if (jobs.length === 0) return [{ text: "No job is scheduled. `Agent` with `schedule`, or /agents, makes one." }];
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
