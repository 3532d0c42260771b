/**
 * The jobs of a session and of its project: kept, looked after and fired while the session is open. Nothing of it is
 * loaded before there is a job, and nothing is left when the session ends.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError, bestEffort, type Clock, systemClock } from "@pi-subagents/core";
import type { Job, JobPatch, JobSpec, Scheduler } from "@pi-subagents/schedule";
import type { LaunchParams } from "../launch.ts";
import type { Settings } from "../settings.ts";
import { assertStandsAlone, keptCall } from "./call.ts";
import { announcer } from "./events.ts";
import { type FireDeps, fire } from "./fire.ts";
import { assertTrusted, directoryOf, holdsJobs, isTrusted, noteSession, prepareProjectDir } from "./place.ts";
import type { ScheduleRequest, Scope } from "./request.ts";
import { loadSchedule } from "./schedule.lazy.ts";

/** A job and where it is kept: an id alone does not say. */
export interface ScheduledJob {
	scope: Scope;
	job: Job;
}

export interface Schedules {
	/** Checks the call as a launch would, and keeps it. */
	add(
		request: ScheduleRequest,
		call: LaunchParams & { name?: string | undefined },
		ctx: ExtensionContext,
	): Promise<Added>;
	/** Those of the session, then those of the project, oldest first. */
	list(ctx: ExtensionContext): Promise<ScheduledJob[]>;
	update(which: ScheduledJob, patch: JobPatch, ctx: ExtensionContext): Promise<void>;
	remove(which: ScheduledJob, ctx: ExtensionContext): Promise<void>;
	/** Beside its schedule, at once. */
	runNow(which: ScheduledJob, ctx: ExtensionContext): Promise<void>;
	/** Hears of the settings whenever they are read. */
	configure(settings: Pick<Settings, "scheduling">): void;
}

export interface Added extends ScheduledJob {
	/** How the call was understood, where that is not obvious. */
	warnings: readonly string[];
}

export type SchedulesDeps = Omit<FireDeps, "announce" | "notBegun"> & { clock?: Clock };

const SCOPES: readonly Scope[] = ["session", "project"];

/** How often to look whether another pi has kept a first job for this project, or for this session. */
const LOOK_AGAIN_MS = 15_000;

interface Opened {
	scheduler: Scheduler;
	close(): Promise<void>;
}

export function createSchedules(pi: ExtensionAPI, { clock = systemClock, ...deps }: SchedulesDeps): Schedules {
	const { host, launcher } = deps;
	const { announce, ready } = announcer(pi, host.tell);
	const opened = new Map<Scope, Promise<Opened>>();
	let isOn = false;
	let isReady = false;
	let cancelLook = (): void => undefined;

	const open = async (scope: Scope, ctx: ExtensionContext): Promise<Opened> => {
		const { Scheduler, NotBegun, fileJobStore, memoryJobStore } = await loadSchedule();
		const notBegun = (why: string) => new NotBegun(why);
		const dir = await directoryOf(scope, ctx, deps);
		const store = dir === undefined ? memoryJobStore() : fileJobStore(dir, { onProblem: host.tell });
		const scheduler = new Scheduler({
			store,
			clock,
			onDue: (job, _runKey, signal) => fire(job, scope, signal, { ...deps, announce, notBegun }),
			onProblem: host.tell,
		});
		const close = async () => {
			await scheduler.stop();
			await store.close();
		};
		try {
			if (firesIn(ctx)) await scheduler.start();
		} catch (error) {
			await close();
			throw error;
		}
		return { scheduler, close };
	};
	const schedulerOf = async (scope: Scope, ctx: ExtensionContext): Promise<Scheduler> => {
		if (!isOn) throw new AgentError("unsupported", "Scheduling is switched off (setting `scheduling`).");
		const opening = opened.get(scope) ?? open(scope, ctx);
		opened.set(scope, opening);
		try {
			return (await opening).scheduler;
		} catch (error) {
			opened.delete(scope);
			throw error;
		}
	};
	/** Whether there are jobs that count, in a place of which nothing is loaded yet. */
	const isNeeded = async (scope: Scope, ctx: ExtensionContext): Promise<boolean> => {
		if (opened.has(scope)) return true;
		const dir = await directoryOf(scope, ctx, deps);
		if (dir === undefined || !(await holdsJobs(dir))) return false;
		if (scope === "session" || isTrusted(host, ctx)) return true;
		host.tell(`This project has scheduled jobs, which run only where you have said that you trust it: /trust does.`);
		return false;
	};
	const list = async (ctx: ExtensionContext): Promise<ScheduledJob[]> => {
		const found: ScheduledJob[] = [];
		for (const scope of SCOPES) {
			if (!(await isNeeded(scope, ctx)) || !isOn) continue;
			const scheduler = await schedulerOf(scope, ctx);
			found.push(...(await scheduler.list()).map((job) => ({ scope, job })));
		}
		return found;
	};
	const look = () =>
		bestEffort("looking for scheduled jobs", host.tell, async () => {
			const ctx = host.session();
			if (!ctx || !isOn || !firesIn(ctx)) return;
			const unopened = SCOPES.filter((scope) => !opened.has(scope));
			if (unopened.length > 0) lookAfter(LOOK_AGAIN_MS);
			for (const scope of unopened) if ((await isNeeded(scope, ctx)) && isOn) await schedulerOf(scope, ctx);
			if (isReady) return;
			const jobs = await list(ctx);
			if (!isOn) return;
			isReady = true;
			ready({ sessionId: ctx.sessionManager.getSessionId(), jobCount: jobs.length });
		});
	const lookAfter = (ms: number) => {
		cancelLook();
		cancelLook = clock.after(ms, () => void look());
	};
	const close = async (): Promise<void> => {
		isOn = false;
		cancelLook();
		const left = [...opened.values()];
		opened.clear();
		await Promise.all(
			left.map((each) => bestEffort("ending the scheduler", host.tell, async () => (await each).close())),
		);
	};
	// The agents are stopped after this: what they were launched for must not be launched again meanwhile.
	pi.on("session_shutdown", close);

	return {
		list,
		configure({ scheduling }) {
			if (scheduling === isOn || !host.session()) return;
			if (!scheduling) return void close();
			isOn = true;
			isReady = false;
			lookAfter(0); // not now: pi is just starting, or about to launch something
		},
		async add(request, call, ctx) {
			if (request.scope === "project") assertTrusted(host, ctx);
			else if (!firesIn(ctx)) throw new AgentError("unsupported", ENDS_SOON);
			const { spec } = await launcher.resolve({ ...call, isTrial: true }, ctx);
			assertStandsAlone(spec);
			const dir = await directoryOf(request.scope, ctx, deps);
			if (request.scope === "project") await prepareProjectDir(dir);
			else if (dir !== undefined) await noteSession(dir, ctx);
			const scheduler = await schedulerOf(request.scope, ctx);
			// Another pi may be open elsewhere in the project.
			const job = await scheduler.add(jobSpec(request, { ...call, cwd: spec.cwd }));
			announce({ type: "added", job: { ...job, scope: request.scope } });
			return { scope: request.scope, job, warnings: spec.warnings };
		},
		async update({ scope, job: { id } }, patch, ctx) {
			const job = await (await schedulerOf(scope, ctx)).update(id, patch);
			announce({ type: "updated", job: { ...job, scope } });
		},
		async remove({ scope, job: { id } }, ctx) {
			if (await (await schedulerOf(scope, ctx)).remove(id)) announce({ type: "removed", jobId: id });
		},
		async runNow({ scope, job: { id } }, ctx) {
			await (await schedulerOf(scope, ctx)).runNow(id);
		},
	};
}

const ENDS_SOON =
	"pi ends after its last message in this mode, so a job of this session would never be due. Add `; project` behind the time to keep it for the pi that is next opened in this project.";

/** Elsewhere pi ends with its last message: it would either wait for the next job for ever, or cut one off. */
function firesIn({ mode }: ExtensionContext): boolean {
	return mode !== "print" && mode !== "json";
}

function jobSpec(request: ScheduleRequest, call: LaunchParams & { name?: string | undefined }): JobSpec {
	const { when, scope: _, quiet, ...rest } = request;
	const payload = keptCall(call, quiet);
	return { name: payload.description, schedule: when, payload, ...rest };
}
