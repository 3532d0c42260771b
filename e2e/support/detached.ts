/** What there is to see of runs in processes of their own: in the session's file, in their own files, among the processes. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PiRpc } from "@pi-subagents-dev/testkit";

/** A run as the session that launched it knows it. */
export interface Launched {
	runId: string;
	/** Where its files are. */
	artifacts: string;
	task: string;
}

/** A run as a session was told of its end. */
export interface Told {
	runId: string;
	status: string;
	summary: string;
	preview: string;
}

/** The text of a file, if there is one. */
export async function textOf(path: string): Promise<string | undefined> {
	try {
		return await readFile(path, "utf8");
	} catch (error) {
		if (error instanceof Error && "code" in error && ["ENOENT", "ESRCH", "EACCES"].includes(String(error.code)))
			return undefined;
		throw error;
	}
}

/** The whole lines of a file of JSON lines. */
export async function linesOf(path: string): Promise<Record<string, unknown>[]> {
	const text = (await textOf(path)) ?? "";
	const lines = text.split("\n").slice(0, -1);
	return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

export async function jsonOf<T>(path: string): Promise<T | undefined> {
	const text = await textOf(path);
	return text === undefined ? undefined : JSON.parse(text);
}

export async function launchesIn(session: string): Promise<Launched[]> {
	const entries = await linesOf(session);
	return entries.filter(({ customType }) => customType === "pi-subagents:bg-run").map(({ data }) => data as Launched);
}

/** Resolves when pi's footer says this about detached runs, from some event on. */
export async function footerSays(pi: PiRpc, text: string, { from = 0 }: { from?: number } = {}): Promise<void> {
	await pi.waitFor(
		(event) =>
			event.type === "extension_ui_request" &&
			event.method === "setStatus" &&
			event.statusText?.endsWith(text) === true,
		{ from },
	);
}

/** Every time that a session was told of a run's end, also if that was of the same run again. */
export async function toldIn(session: string): Promise<Told[]> {
	const entries = (await linesOf(session)) as { type: string; customType?: string; details?: Details }[];
	const messages = entries.filter(
		({ type, customType }) => type === "custom_message" && customType === "subagent-notification",
	);
	return messages.flatMap(({ details = { runIds: [], agents: [] } }) =>
		details.runIds.map((runId, index) => ({ status: "", summary: "", preview: "", ...details.agents[index], runId })),
	);
}

interface Details {
	runIds: string[];
	agents: Omit<Told, "runId">[];
}

/** The process that runs pi for a run, if there is one yet. */
export async function wrapperOf({ artifacts }: Pick<Launched, "artifacts">): Promise<number | undefined> {
	return (await jsonOf<{ pid?: number }>(join(artifacts, "wrapper.json")))?.pid;
}

/** The run's pi, if it has been started. */
export async function childOf({ artifacts }: Pick<Launched, "artifacts">): Promise<number | undefined> {
	const started = (await linesOf(join(artifacts, "events.jsonl"))).find(({ type }) => type === "child_started");
	return started?.pid as number | undefined;
}

/** Of the run's processes, those that are left: the wrapper, pi, their groups, and whatever else names the run. */
export async function processesOf(run: Pick<Launched, "artifacts">): Promise<number[]> {
	const known = [await wrapperOf(run), await childOf(run)].filter((pid) => pid !== undefined);
	if (process.platform !== "linux") return known.filter((pid) => isRunning(pid) || isRunning(-pid));
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	const left = await Promise.all(
		pids.map(async (pid) => ((await belongsTo(pid, run.artifacts, known)) ? [Number(pid)] : [])),
	);
	return left.flat();
}

/** Processes that a process has started and, now that they have ended, not looked after. */
export async function zombiesOf(parent: number | undefined): Promise<string[]> {
	if (process.platform !== "linux") return [];
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	const stats = await Promise.all(pids.map((pid) => textOf(`/proc/${pid}/stat`)));
	return stats.flatMap((stat = "") => {
		const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return state === "Z" && Number(ppid) === parent ? [stat] : [];
	});
}

async function belongsTo(pid: string, dir: string, leaders: readonly number[]): Promise<boolean> {
	const stat = await textOf(`/proc/${pid}/stat`);
	if (stat === undefined) return false;
	const [state = "", , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	if (/^[ZX]/.test(state)) return false; // it has ended, and its parent has not looked yet
	if (leaders.includes(Number(pid)) || leaders.includes(Number(group))) return true;
	const words = [await textOf(`/proc/${pid}/cmdline`), await textOf(`/proc/${pid}/environ`)];
	return words.some((text) => text?.includes(dir));
}

/** Whether there is such a process, or such a group. */
export function isRunning(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}
