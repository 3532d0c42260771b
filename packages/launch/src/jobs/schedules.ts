/** The jobs of a session and of its project, as commands and tools see them. Types only. */
import type { Job, JobPatch } from "@pi-subagents/schedule";
import type { SessionContext } from "../ports.ts";
import type { Settings } from "../settings/settings.ts";
import type { ScheduledCall } from "./job-payload.ts";
import type { ScheduleRequest, Scope } from "./request.ts";

/** A job and where it is kept: an id alone does not say. */
export interface ScheduledJob {
	scope: Scope;
	job: Job;
}

export interface Schedules<Context extends SessionContext> {
	/** Checks the call as a launch would, and keeps it. */
	add(request: ScheduleRequest, call: ScheduledCall, ctx: Context): Promise<Added>;
	/** Those of the session, then those of the project, oldest first. */
	list(ctx: Context): Promise<ScheduledJob[]>;
	update(which: ScheduledJob, patch: JobPatch, ctx: Context): Promise<void>;
	remove(which: ScheduledJob, ctx: Context): Promise<void>;
	/** Beside its schedule, at once. */
	runNow(which: ScheduledJob, ctx: Context): Promise<void>;
	/** Hears of the settings whenever they are read. */
	configure(settings: Pick<Settings, "scheduling">): void;
}

export interface Added extends ScheduledJob {
	/** How the call was understood, where that is not obvious. */
	warnings: readonly string[];
}
