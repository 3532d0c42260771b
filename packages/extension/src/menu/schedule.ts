/** The jobs' part of the menu: see when they run and how it went, pause, run, remove and make them. */
import { messageOf } from "@pi-subagents/core";
import { parseCall } from "../schedule/call.ts";
import { type Listed, listedJobs } from "../schedule/listed.ts";
import type { Menu } from "./context.ts";
import {
	historyBlocks,
	type JobAction,
	jobActions,
	jobIntro,
	jobItems,
	NEW_JOB,
	nextBlocks,
} from "./schedule-items.ts";
import { createJob } from "./schedule-wizard.ts";
import { trail, walk } from "./walk.ts";

const TITLE = trail("Agents", "Scheduled jobs");

export function scheduleMenu(menu: Menu): Promise<void> {
	const { screen, clock } = menu;
	return walk(
		screen,
		async () => {
			const jobs = await listedJobs(menu.schedules, menu.ctx);
			return { title: TITLE, items: () => jobItems(jobs, clock.now()), isLive: true, isSearchable: true };
		},
		(value) => (value === NEW_JOB ? createJob(menu) : jobMenu(menu, value)),
	);
}

async function jobMenu(menu: Menu, id: string): Promise<void> {
	const { screen, clock } = menu;
	let isRemoved = false;
	const found = async (): Promise<Listed> => {
		const job = (await listedJobs(menu.schedules, menu.ctx)).find((each) => each.job.id === id);
		if (!job) throw new Error(`There is no job ${id} any more.`);
		return job;
	};
	for (let selected: string | undefined; !isRemoved; ) {
		const each = await found();
		const action = await screen.choose({
			title: trail(TITLE, each.job.name),
			intro: jobIntro(each, clock.now()),
			items: () => jobActions(each),
			selected,
		});
		if (action === undefined) return;
		selected = action;
		try {
			isRemoved = await act(menu, action as JobAction, await found());
		} catch (error) {
			screen.notify(messageOf(error), "error");
		}
	}
}

/** Answers whether the job is gone. */
async function act(menu: Menu, action: JobAction, each: Listed): Promise<boolean> {
	const { screen, schedules, ctx, clock } = menu;
	const { name } = each.job;
	const change = async (patch: Parameters<typeof schedules.update>[1], said: string) => {
		await schedules.update(each, patch, ctx);
		screen.notify(said);
	};
	switch (action) {
		case "run":
			await schedules.runNow(each, ctx);
			screen.notify(`"${name}" runs now; its result will be told.`);
			return false;
		case "pause":
			await change({ enabled: false }, `"${name}" is paused.`);
			return false;
		case "resume":
			await change({ enabled: true }, `"${name}" goes on.`);
			return false;
		case "quiet":
		case "loud": {
			const payload = { ...parseCall(each.job.payload), quiet: action === "quiet" };
			await change({ payload }, payload.quiet ? "Only failures are announced." : "Successes are announced, too.");
			return false;
		}
		case "next":
			await screen.read(trail(TITLE, name), nextBlocks(each, clock.now()));
			return false;
		case "history":
			await screen.read(trail(TITLE, name), historyBlocks(each));
			return false;
		case "remove":
			return remove(menu, each);
		default:
			throw new Error(`unknown action: ${JSON.stringify(action satisfies never)}`);
	}
}

async function remove({ screen, schedules, ctx }: Menu, each: Listed): Promise<boolean> {
	const intro = `${each.timetable.rule}\nAn agent of it that is at work goes on. Its history is gone.`;
	const title = `Remove "${each.job.name}"?`;
	if (!(await screen.confirm({ title, intro, yes: "Remove it", no: "Keep it" }))) return false;
	await schedules.remove(each, ctx);
	screen.notify(`"${each.job.name}" is removed.`);
	return true;
}
