/**
 * The jobs of a session and its project, which run while the session is open. The scheduler is not loaded before there is
 * a job, and everything is closed when the session ends.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError, type Clock, systemClock } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import {
	addedText,
	holdsJobs,
	keptCall,
	loadSchedule,
	noteSession,
	parseRequest,
	prepareProjectDir,
	type ScheduledCall,
	type ScheduledJob,
	type ScheduleRequest,
	type Schedules,
	type Scope,
} from "@pi-subagents/launch";
import type { JobSpec, Scheduler } from "@pi-subagents/schedule";
import { scheduleEvents } from "./events.ts";
import { type FireDeps, fire, SWITCHED_OFF, specFor } from "./fire.ts";
import { assertTrusted, directoryOf, isTrusted } from "./job-storage.ts";

export type SchedulesDeps = Omit<FireDeps, "publish" | "notBegun"> & { clock?: Clock };

const SCOPES: readonly Scope[] = ["session", "project"];

/** How often to check whether another pi has added the first job of this project or session. */
const RECHECK_MS = 15_000;

interface Opened {
	scheduler: Scheduler;
	close(): Promise<void>;
}

export function createSchedules(
	pi: ExtensionAPI,
	{ clock = systemClock, ...deps }: SchedulesDeps,
): Schedules<ExtensionContext> {
	const { host } = deps;
	const { publish, ready } = scheduleEvents(pi, host.warn);
	const opened = new Map<Scope, Promise<Opened>>();
	let isOn = false;
	let isReady = false;
	let cancelCheck = (): void => undefined;

	const open = async (scope: Scope, ctx: ExtensionContext): Promise<Opened> => {
		const { Scheduler, NotBegun, fileJobStore, memoryJobStore } = await loadSchedule();
		const notBegun = (why: string) => new NotBegun(why);
		const dir = await directoryOf(scope, ctx, deps);
		const store = dir === undefined ? memoryJobStore() : fileJobStore(dir, { onProblem: host.warn });
		const scheduler = new Scheduler({
			store,
			clock,
			onDue: (job, _runKey, signal) => fire(job, scope, signal, { ...deps, publish, notBegun }),
			onProblem: host.warn,
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
		if (!isOn) throw new AgentError("unsupported", SWITCHED_OFF);
		const opening = opened.get(scope) ?? open(scope, ctx);
		opened.set(scope, opening);
		try {
			return (await opening).scheduler;
		} catch (error) {
			opened.delete(scope);
			throw error;
		}
	};
	/** Whether a scope has trusted jobs, without loading the scheduler. */
	const isNeeded = async (scope: Scope, ctx: ExtensionContext): Promise<boolean> => {
		if (opened.has(scope)) return true;
		const dir = await directoryOf(scope, ctx, deps);
		if (dir === undefined || !(await holdsJobs(dir))) return false;
		if (scope === "session" || isTrusted(host, ctx)) return true;
		host.warn(`This project has scheduled jobs, which run only if you trust it: use /trust.`);
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
	const checkForJobs = () =>
		bestEffort("looking for scheduled jobs", host.warn, async () => {
			const ctx = host.session();
			if (!ctx || !isOn || !firesIn(ctx)) return;
			const unopened = SCOPES.filter((scope) => !opened.has(scope));
			if (unopened.length > 0) checkAfter(RECHECK_MS);
			for (const scope of unopened) if ((await isNeeded(scope, ctx)) && isOn) await schedulerOf(scope, ctx);
			if (isReady) return;
			const jobs = await list(ctx);
			if (!isOn) return;
			isReady = true;
			ready({ sessionId: ctx.sessionManager.getSessionId(), jobCount: jobs.length });
		});
	const checkAfter = (ms: number) => {
		cancelCheck();
		cancelCheck = clock.after(ms, () => void checkForJobs());
	};
	const close = async (): Promise<void> => {
		isOn = false;
		cancelCheck();
		const left = [...opened.values()];
		opened.clear();
		await Promise.all(
			left.map((each) => bestEffort("stopping the scheduler", host.warn, async () => (await each).close())),
		);
	};
	// Before the agents are stopped: otherwise their jobs could launch them again.
	pi.on("session_shutdown", close);

	return {
		list,
		configure({ scheduling }) {
			if (scheduling === isOn || !host.session()) return;
			if (!scheduling) return void close();
			isOn = true;
			isReady = false;
			checkAfter(0); // deferred: pi is starting, or about to launch something
		},
		async add(request, call, ctx) {
			if (request.scope === "project") assertTrusted(host, ctx);
			else if (!firesIn(ctx)) throw new AgentError("unsupported", ENDS_SOON);
			const spec = await specFor({ ...call, isTrial: true }, ctx, deps);
			const dir = await directoryOf(request.scope, ctx, deps);
			if (request.scope === "project") await prepareProjectDir(dir);
			else if (dir !== undefined) await noteSession(dir, ctx.sessionManager.getSessionFile());
			const scheduler = await schedulerOf(request.scope, ctx);
			// The cwd is stored because another pi may run the job from another directory.
			const job = await scheduler.add(jobSpec(request, { ...call, cwd: spec.cwd }));
			publish({ type: "added", job: { ...job, scope: request.scope } });
			return { scope: request.scope, job, warnings: spec.warnings };
		},
		async update({ scope, job: { id } }, patch, ctx) {
			const job = await (await schedulerOf(scope, ctx)).update(id, patch);
			publish({ type: "updated", job: { ...job, scope } });
		},
		async remove({ scope, job: { id } }, ctx) {
			if (await (await schedulerOf(scope, ctx)).remove(id)) publish({ type: "removed", jobId: id });
		},
		async runNow({ scope, job: { id } }, ctx) {
			await (await schedulerOf(scope, ctx)).runNow(id);
		},
	};
}

const ENDS_SOON =
	"In this mode pi exits after its last message, so a session job would never run. Append `; project` to the time to save it for the next pi opened in this project.";

/** In other modes pi exits after its last message: it would wait forever, or cut a job off. */
function firesIn({ mode }: ExtensionContext): boolean {
	return mode !== "print" && mode !== "json";
}

function jobSpec(request: ScheduleRequest, call: ScheduledCall): JobSpec {
	const { when, scope: _, quiet, ...rest } = request;
	const payload = keptCall(call, quiet);
	return { name: payload.description, schedule: when, payload, ...rest };
}

export function createScheduleCall(schedules: Schedules<ExtensionContext>) {
	return async (schedule: string, call: ScheduledCall, ctx: ExtensionContext): Promise<string> =>
		addedText(await schedules.add(parseRequest(schedule), call, ctx));
}
