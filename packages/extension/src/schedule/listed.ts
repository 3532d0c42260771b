/** Jobs with when they run, as lists show them. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { ScheduledJob, Schedules } from "./schedules.ts";
import { type Timetable, timetableOf } from "./words.ts";

export type Listed = ScheduledJob & { timetable: Timetable };

/** As many as fit on a screen. */
const PREVIEWED = 10;

export async function listedJobs(schedules: Schedules, ctx: ExtensionContext): Promise<Listed[]> {
	const jobs = await schedules.list(ctx);
	return Promise.all(jobs.map(async (each) => ({ ...each, timetable: await timetableOf(each.job, PREVIEWED) })));
}
