/** What must hold when a storm is over, whatever happened in it. Each violation is a sentence. */
import { join } from "node:path";
import { textOf } from "../support/detached.ts";
import { WORKER } from "./extras-stage.ts";
import { tolerantLinesOf } from "./files.ts";
import { stormAnswer } from "./model.ts";
import { LAGS, patiently } from "./patience.ts";
import { type Named, processesNaming } from "./processes.ts";
import type { Fault } from "./weather.ts";
import { cutAnswer, toldResults, unansweredIn } from "./wholeness.ts";

interface Launch {
	runId: string;
	agentId: string;
	run: number;
	description: string;
	task: string;
	runner: string;
	isBackground: boolean;
	artifacts?: string;
	/** The tool call that launched it. */
	callId?: string;
	/** Who launched it, in entries about agents of agents. */
	parentAgentId?: string;
}

interface Settled {
	runId: string;
	status: string;
	by?: string;
	reason?: string;
	error?: string;
	turns: number;
	toolUses: number;
	/** It was stopped in the queue. */
	neverStarted?: boolean;
}

/** What a session says of its agents. */
export interface Account {
	launched: ReadonlyMap<string, Launch>;
	/** Runs whose launch is not on the session's branch, since an entry between is lost: they are told when the user goes there. */
	stray: ReadonlySet<string>;
	/** Agents that outlive the session, also those of workflows. */
	detached: ReadonlySet<string>;
	/** Runs that were launched to be waited for and then went on in the background. */
	left: ReadonlySet<string>;
	settled: ReadonlyMap<string, readonly Settled[]>;
	told: ReadonlyMap<string, number>;
	/** Not to be told: somebody has read the result. */
	closed: ReadonlySet<string>;
	/** Tool calls whose result is not in the session: who was waited for by one of them may be told after all. */
	unanswered: ReadonlySet<string>;
	/** What all this was read from. */
	entries: readonly Record<string, unknown>[];
}

/** From a session's file, or from what pi has in memory. */
export function accountOf(entries: readonly Record<string, unknown>[]): Account {
	const launched = new Map<string, Launch>();
	const isOnBranch = branchOf(entries);
	const stray = new Set<string>();
	const detached = new Set<string>();
	const workflows = new Set<string>();
	const left = new Set<string>();
	const settled = new Map<string, Settled[]>();
	const told = new Map<string, number>();
	const closed = new Set<string>();
	const unanswered = unansweredIn(entries);
	for (const entry of entries) {
		const { customType, data, details } = entry as {
			customType?: string;
			data?: Launch & Settled & { type: string };
			details?: { runIds?: string[] };
		};
		if (customType === "subagent-notification") {
			for (const runId of details?.runIds ?? []) told.set(runId, (told.get(runId) ?? 0) + 1);
		}
		if (customType === "subagents:nested" && data?.type === "launched")
			if (data.runner !== "session" && workflows.has(data.parentAgentId ?? "")) detached.add(data.agentId);
		if (!data || !/^(subagents:record|pi-subagents:bg-)/.test(customType ?? "")) continue;
		if (data.type === "launched") {
			if (launched.has(data.runId)) left.add(data.runId);
			launched.set(data.runId, data);
			if (!isOnBranch.has(entry.id)) stray.add(data.runId);
			if (customType === "pi-subagents:bg-run") detached.add(data.agentId);
			if (data.runner === "workflow") workflows.add(data.agentId);
		}
		if (data.type === "settled") settled.set(data.runId, [...(settled.get(data.runId) ?? []), data]);
		if (data.type === "closed" && !unanswered.has(data.callId ?? "")) closed.add(data.runId);
	}
	return { launched, stray, detached, left, settled, told, closed, unanswered, entries };
}

/** From the last entry up to the first, or to one that is lost. */
function branchOf(entries: readonly Record<string, unknown>[]): Set<unknown> {
	const parents = new Map(entries.map(({ id, parentId }) => [id, parentId]));
	const branch = new Set<unknown>();
	for (let id = entries.at(-1)?.id; id !== undefined && !branch.has(id); id = parents.get(id)) branch.add(id);
	return branch;
}

/** Whether nothing is left to happen. What was told has ended, even if the entry that says so is lost. */
export function isOver({ launched, stray, settled, told, closed }: Account): boolean {
	const isTold = (runId: string) => told.has(runId) || closed.has(runId) || stray.has(runId);
	return [...launched.values()].every(
		({ runId, isBackground }) => (settled.has(runId) || told.has(runId)) && (!isBackground || isTold(runId)),
	);
}

/** What was done that may leave less behind. */
export interface Harm {
	/** Directories of runs whose files were spoiled, or could not be written. */
	spoiled: ReadonlySet<string>;
	/** A pi was killed before it had written all. */
	wasKilled: boolean;
	/** The session's own file could not be written, or not be read again: it may lack what was said to it. */
	hasLostEntries: boolean;
}

export async function violationsOf(account: Account, harm: Harm): Promise<string[]> {
	const { launched, stray, settled, told, closed, unanswered } = account;
	const { spoiled, wasKilled, hasLostEntries } = harm;
	const found: string[] = [];
	for (const { runId, isBackground, callId = "", artifacts, run, runner, description } of launched.values()) {
		const ends = settled.get(runId) ?? [];
		const times = told.get(runId) ?? 0;
		// pi 0.x holds an entry that it cannot write in its memory, so the next pi has only the message that followed it.
		const mayLackEnd = hasLostEntries && times > 0;
		if (ends.length > 1 || (ends.length === 0 && !mayLackEnd)) found.push(`${runId} has settled ${ends.length} times.`);
		if (times > 1) found.push(`${runId} was told ${times} times.`);
		const mayBeUntold = hasLostEntries && stray.has(runId);
		if (isBackground && times === 0 && !closed.has(runId) && !mayBeUntold) found.push(`${runId} was never told.`);
		const mayBeTold = isBackground || unanswered.has(callId);
		if (!mayBeTold && times > 0) found.push(`${runId} was waited for, and told nevertheless.`);
		const end = ends[0];
		if (end?.status === "aborted" && LIMITS.includes(end.by ?? ""))
			found.push(`${runId} was stopped by a limit (${end.by}) that it cannot have reached.`);
		const isWhole = artifacts !== undefined && !spoiled.has(artifacts);
		if (isWhole && end && run === 1)
			for (const difference of await differences(artifacts, end, { mayLack: wasKilled, isApart: runner !== "session" }))
				found.push(`${difference} (${description}, ${runner}, ${end.status} ${end.by ?? ""} ${end.reason ?? ""})`);
	}
	found.push(...(await cutAnswers(account, spoiled)));
	if (!hasLostEntries)
		for (const runId of settled.keys())
			if (!launched.has(runId)) found.push(`${runId} settled, but was never launched.`);
	return found;
}

/** What was told as an answer is all of it, unless the files that hold it were spoiled. */
async function cutAnswers({ launched, entries }: Account, spoiled: ReadonlySet<string>): Promise<string[]> {
	const found: string[] = [];
	for (const result of toldResults(entries)) {
		const { task = "", artifacts = "" } = launched.get(result.runId) ?? {};
		const key = /\[(a\d+)\]/.exec(task)?.[1]; // a later run of it has another task
		if (key === undefined || result.status !== "completed" || spoiled.has(artifacts)) continue;
		const cut = await cutAnswer(result, stormAnswer(key), entries, artifacts);
		if (cut !== undefined) found.push(cut);
	}
	return found;
}

/** Nothing in a storm takes so long, whatever a clock says that was set. */
const LIMITS = ["idle", "timeout", "turns", "budget"];

/** Whoever could not keep something of a run says so: to the user, in its result, as its failure, or that it is lost. */
export async function unsaid(
	faults: readonly Fault[],
	account: Account,
	notices: readonly string[],
): Promise<string[]> {
	const found: string[] = [];
	for (const { runId, agentId, artifacts, description } of account.launched.values()) {
		const fault = artifacts && faults.find(({ path }) => isKept(path, artifacts));
		if (!fault) continue;
		const { code, call, path } = fault;
		const result = (await textOf(join(artifacts, "result.json"))) ?? "";
		const { error = "", by, reason } = account.settled.get(runId)?.[0] ?? {};
		const isSaid = notices.some((text) => text.includes(code) && (text.includes(runId) || text.includes(agentId)));
		if (!isSaid && by !== "lost" && !result.includes(code) && !error.includes(code))
			found.push(
				`${runId} (${description}, ${by} ${reason}) could not keep something (${code}, ${call} of ${path}), and nobody said so.`,
			);
	}
	return found;
}

/** What people would miss. */
const isKept = (path: string, artifacts: string): boolean =>
	["events.jsonl", "transcript.log", "meta.json"].some((name) => path.startsWith(join(artifacts, name)));

/**
 * What the bus said of agents, at whatever depth: each that began has ended, and none more often than it began. That one
 * began may have been said by a pi that was killed since. `mayBeMissed` may have ended while no session was open to say
 * so. A later run that is stopped in the queue ends without a word that it began.
 */
export function unbalanced(
	news: readonly Record<string, unknown>[],
	{ launched, settled }: Account,
	mayBeMissed: ReadonlySet<string>,
): string[] {
	const neverBegan = [...launched.values()].filter(
		({ runId, run }) => run > 1 && settled.get(runId)?.[0]?.neverStarted,
	);
	const unheard = neverBegan.map(({ agentId }) => agentId);
	const open = new Set<unknown>();
	const ended = new Set<unknown>();
	const found: string[] = [];
	for (const { what, id } of news) {
		if (what === "created" || what === "started") {
			open.add(id);
			continue;
		}
		if (!open.delete(id) && ended.has(id) && !takeOne(unheard, id)) found.push(`${id} ended once more: ${what}.`);
		ended.add(id);
	}
	const missing = [...open].filter((id) => !mayBeMissed.has(String(id)));
	return [...found, ...missing.map((id) => `${id} began and never ended.`)];
}

function takeOne(list: string[], one: unknown): boolean {
	const index = (list as readonly unknown[]).indexOf(one);
	if (index >= 0) list.splice(index, 1);
	return index >= 0;
}

/**
 * Whatever names the world of a storm, and is not its pi or what that keeps while it is open. A result is known a moment
 * before those who wrote it have ended.
 */
export function leftProcesses(root: string, pi: number | undefined, lag = LAGS.processes): Promise<string[]> {
	return patiently(async () => {
		const all = await processesNaming(root);
		const left = all.filter(({ pid }) => pid !== pi && !keptBy(pi, all).has(pid));
		return left.map(({ pid, command }) => `Process ${pid} was left: ${command}.`);
	}, lag);
}

/** One MCP server of the session, and the connection to the other machine, which stays open for a while. */
function keptBy(pi: number | undefined, all: readonly Named[]): Set<number> {
	const own = all.filter(({ parent }) => parent === pi);
	const server = own.find(({ command }) => command.includes("mcp/server.mjs"));
	const workers = own.filter(({ command }) => WORKER.test(command));
	return new Set([...(server ? [server] : []), ...workers].map(({ pid }) => pid));
}

/**
 * The events that a run kept give what the session remembers of it. A stop settles a run at once, also one in its own
 * process, which may do something before it hears of the stop: then the session remembers a beginning of its log.
 */
async function differences(
	artifacts: string,
	{ runId, turns, toolUses, status, by = "" }: Settled,
	{ mayLack, isApart }: { mayLack: boolean; isApart: boolean },
): Promise<string[]> {
	if ((await textOf(join(artifacts, "events.jsonl"))) === undefined) return [];
	const kept = { turns: 0, toolUses: 0 };
	let wasSame = turns === 0 && toolUses === 0;
	for (const { type } of await tolerantLinesOf(join(artifacts, "events.jsonl"))) {
		if (type === "turn") kept.turns++;
		if (type === "tool_call") kept.toolUses++;
		wasSame ||= kept.turns === turns && kept.toolUses === toolUses;
	}
	const isSame = kept.turns === turns && kept.toolUses === toolUses;
	if (isSame || (mayLack && kept.turns <= turns && kept.toolUses <= toolUses)) return [];
	if (wasSame && isApart && status === "aborted" && STOPS.includes(by)) return [];
	if (mayLack && by === "shutdown") return []; // a pi that ends does not wait for the last lines of a process that it stops
	return [`${runId} kept ${JSON.stringify(kept)}, but the session says ${JSON.stringify({ turns, toolUses })}.`];
}

/** Who stops a run from outside of its process. */
const STOPS = ["user", "parent", "shutdown"];

/** A job is due once: whoever was told that it is kept may rely on its agent, and on one only. */
export function jobViolations(news: readonly Record<string, unknown>[], mayLack: boolean): string[] {
	const times = (type: string, id: unknown) =>
		news.filter((each) => each.type === type && (each.jobId ?? (each.job as { id?: string } | undefined)?.id) === id)
			.length;
	const added = news.filter(({ type }) => type === "added").map(({ job }) => (job as { id: string }).id);
	return added.flatMap((id) => {
		const [fired, failed] = [times("fired", id), times("error", id)];
		if (fired > 1) return [`The job ${id} has fired ${fired} times.`];
		return fired + failed === 0 && !mayLack ? [`The job ${id} never fired.`] : [];
	});
}
