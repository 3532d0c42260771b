/** What must hold when a storm is over, whatever happened in it. Each violation is a sentence. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { linesOf, processesOf, textOf } from "../test/detached.ts";

interface Launch {
	runId: string;
	run: number;
	isBackground: boolean;
	artifacts?: string;
}

interface Settled {
	runId: string;
	status: string;
	turns: number;
	toolUses: number;
}

/** What a session's file says of its agents. */
export interface Account {
	launched: ReadonlyMap<string, Launch>;
	/** Runs that were launched to be waited for and then went on in the background. */
	left: ReadonlySet<string>;
	settled: ReadonlyMap<string, readonly Settled[]>;
	told: ReadonlyMap<string, number>;
	/** Not to be told: somebody has read the result. */
	closed: ReadonlySet<string>;
}

export async function accountOf(session: string): Promise<Account> {
	const launched = new Map<string, Launch>();
	const left = new Set<string>();
	const settled = new Map<string, Settled[]>();
	const told = new Map<string, number>();
	const closed = new Set<string>();
	for (const entry of await linesOf(session)) {
		const { customType, data, details } = entry as {
			customType?: string;
			data?: Launch & Settled & { type: string };
			details?: { runIds?: string[] };
		};
		if (customType === "subagent-notification") {
			for (const runId of details?.runIds ?? []) told.set(runId, (told.get(runId) ?? 0) + 1);
		}
		if (!data || !/^(subagents:record|pi-subagents:bg-)/.test(customType ?? "")) continue;
		if (data.type === "launched") {
			if (launched.has(data.runId)) left.add(data.runId);
			launched.set(data.runId, data);
		}
		if (data.type === "settled") settled.set(data.runId, [...(settled.get(data.runId) ?? []), data]);
		if (data.type === "closed") closed.add(data.runId);
	}
	return { launched, left, settled, told, closed };
}

/** Whether nothing is left to happen. */
export function isOver({ launched, settled, told, closed }: Account): boolean {
	return [...launched.values()].every(
		({ runId, isBackground }) => settled.has(runId) && (!isBackground || told.has(runId) || closed.has(runId)),
	);
}

/** What was done that may leave less behind: files that were spoiled, and a pi that was killed before it had written all. */
export interface Harm {
	spoiled: ReadonlySet<string>;
	wasKilled: boolean;
}

export async function violationsOf(account: Account, { spoiled, wasKilled }: Harm): Promise<string[]> {
	const { launched, settled, told, closed } = account;
	const found: string[] = [];
	for (const { runId, isBackground, artifacts, run } of launched.values()) {
		const ends = settled.get(runId) ?? [];
		if (ends.length !== 1) found.push(`${runId} has settled ${ends.length} times.`);
		const times = told.get(runId) ?? 0;
		if (times > 1) found.push(`${runId} was told ${times} times.`);
		if (isBackground && times === 0 && !closed.has(runId)) found.push(`${runId} was never told.`);
		if (!isBackground && times > 0) found.push(`${runId} was waited for, and told nevertheless.`);
		if (artifacts === undefined || spoiled.has(artifacts)) continue;
		const processes = await leftProcesses(artifacts);
		if (processes.length > 0) found.push(`${runId} left the processes ${processes.join(", ")}.`);
		const end = ends[0];
		if (end && run === 1) found.push(...(await differences(artifacts, end, wasKilled)));
	}
	for (const runId of settled.keys()) if (!launched.has(runId)) found.push(`${runId} settled, but was never launched.`);
	return found;
}

/**
 * What the bus said of agents, at whatever depth: each that began has ended, and none more often than it began. That one
 * began may have been said by a pi that was killed since.
 */
export function unbalanced(news: readonly Record<string, unknown>[]): string[] {
	const open = new Set<unknown>();
	const ended = new Set<unknown>();
	const found: string[] = [];
	for (const { what, id } of news) {
		if (what === "created" || what === "started") {
			open.add(id);
			continue;
		}
		if (!open.delete(id) && ended.has(id)) found.push(`${id} ended once more: ${what}.`);
		ended.add(id);
	}
	return [...found, ...[...open].map((id) => `${id} began and never ended.`)];
}

const ENDING_MS = 15_000;

/** A result is known a moment before those who wrote it have ended. */
async function leftProcesses(artifacts: string): Promise<number[]> {
	for (const deadline = Date.now() + ENDING_MS; ; await delay(50)) {
		const processes = await processesOf({ artifacts });
		if (processes.length === 0 || Date.now() > deadline) return processes;
	}
}

/** The events that a run kept give what the session remembers of it. */
async function differences(
	artifacts: string,
	{ runId, turns, toolUses }: Settled,
	mayLack: boolean,
): Promise<string[]> {
	if ((await textOf(join(artifacts, "events.jsonl"))) === undefined) return [];
	const events = await linesOf(join(artifacts, "events.jsonl"));
	const count = (type: string) => events.filter((event) => event.type === type).length;
	const kept = { turns: count("turn"), toolUses: count("tool_call") };
	const isSame = kept.turns === turns && kept.toolUses === toolUses;
	if (isSame || (mayLack && kept.turns <= turns && kept.toolUses <= toolUses)) return [];
	return [`${runId} kept ${JSON.stringify(kept)}, but the session says ${JSON.stringify({ turns, toolUses })}.`];
}

/** All files of a project but those of runs, by their content. */
export async function contentsOf(dir: string): Promise<Map<string, string>> {
	const entries = await readdir(dir, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
	const own = files.filter((path) => !path.startsWith(join(dir, ".pi", "subagents", "runs")));
	return new Map(await Promise.all(own.map(async (path) => [path, await readFile(path, "utf8")] as const)));
}
