/** The jobs level of the menu: next runs, history, pause, run, remove, create. */
import { messageOf } from "@pi-subagents/core/internal/base";
import { parseCall } from "@pi-subagents/launch";
import type { Menu } from "../../screen/navigation.ts";
import { breadcrumb, runMenu } from "../../screen/navigation.ts";
import {
	historyBlocks,
	type JobAction,
	type JobWithTimetable,
	jobActions,
	jobIntro,
	jobItems,
	jobsWithTimetables,
	NEW_JOB,
	nextBlocks,
} from "./schedule-items.ts";
import { createJob } from "./schedule-wizard.ts";

const TITLE = breadcrumb("Agents", "Scheduled jobs");

export function scheduleMenu(menu: Menu): Promise<void> {
	const { screen, clock } = menu;
	return runMenu(
		screen,
		async () => {
			const jobs = await jobsWithTimetables(menu.schedules, menu.ctx);
			return { title: TITLE, items: () => jobItems(jobs, clock.now()), isLive: true, isSearchable: true };
		},
		(value) => (value === NEW_JOB ? createJob(menu) : jobMenu(menu, value)),
	);
}

async function jobMenu(menu: Menu, id: string): Promise<void> {
	const { screen, clock } = menu;
	let isRemoved = false;
	const findJob = async (): Promise<JobWithTimetable> => {
		const job = (await jobsWithTimetables(menu.schedules, menu.ctx)).find((each) => each.job.id === id);
		if (!job) throw new Error(`Job ${id} no longer exists.`);
		return job;
	};
	for (let selected: string | undefined; !isRemoved; ) {
		const each = await findJob();
		const action = await screen.choose({
			title: breadcrumb(TITLE, each.job.name),
			intro: jobIntro(each, clock.now()),
			items: () => jobActions(each),
			selected,
		});
		if (action === undefined) return;
		selected = action;
		try {
			isRemoved = await runAction(menu, action as JobAction, await findJob());
		} catch (error) {
			screen.notify(messageOf(error), "error");
		}
	}
}

/** Resolves with whether the job was removed. */
async function runAction(menu: Menu, action: JobAction, each: JobWithTimetable): Promise<boolean> {
	const { screen, schedules, ctx, clock } = menu;
	const { name } = each.job;
	const change = async (patch: Parameters<typeof schedules.update>[1], message: string) => {
		await schedules.update(each, patch, ctx);
		screen.notify(message);
	};
	switch (action) {
		case "run":
			await schedules.runNow(each, ctx);
			screen.notify(`"${name}" is running now; the result will appear here.`);
			return false;
		case "pause":
			await change({ enabled: false }, `"${name}" is paused.`);
			return false;
		case "resume":
			await change({ enabled: true }, `"${name}" is resumed.`);
			return false;
		case "quiet":
		case "loud": {
			const payload = { ...parseCall(each.job.payload), quiet: action === "quiet" };
			await change({ payload }, payload.quiet ? "Only failures are announced." : "Successes are announced too.");
			return false;
		}
		case "next":
			await screen.read(breadcrumb(TITLE, name), nextBlocks(each, clock.now()));
			return false;
		case "history":
			await screen.read(breadcrumb(TITLE, name), historyBlocks(each));
			return false;
		case "remove":
			return remove(menu, each);
		default:
			throw new Error(`unknown action: ${JSON.stringify(action satisfies never)}`);
	}
}

async function remove({ screen, schedules, ctx }: Menu, each: JobWithTimetable): Promise<boolean> {
	const intro = `${each.timetable.rule}\nIf its agent is running, it continues. The history is deleted.`;
	const title = `Remove "${each.job.name}"?`;
	if (!(await screen.confirm({ title, intro, yes: "Remove it", no: "Keep it" }))) return false;
	await schedules.remove(each, ctx);
	screen.notify(`"${each.job.name}" is removed.`);
	return true;
}
