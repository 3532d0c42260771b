/** What must hold of the extras of a storm: of workflows, checks and the other machine. Each violation is a sentence. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { PiEnv } from "@pi-subagents-dev/testkit";
import { textOf } from "../support/detached.ts";
import { tolerantLinesOf } from "./files.ts";
import { stormAnswer } from "./model.ts";
import type { Account } from "./oracle.ts";
import type { AgentPlan, Plan } from "./plan.ts";
import { cutAnswer, toldResults } from "./wholeness.ts";

type Line = Record<string, unknown>;

/**
 * An agent of a workflow that had answered is not launched again, and has one answer, unless the user asked for another.
 * `journal` are the lines of one workflow's file.
 */
export function journalViolations(id: string, journal: readonly Line[]): string[] {
	const answered = new Set<unknown>();
	const found: string[] = [];
	for (const { type, path, answer } of journal) {
		if (type === "retried") answered.delete(path);
		// The user may skip a call of a workflow that is not running, also one that has its answer.
		if ((answer as { status?: string } | undefined)?.status === "skipped") answered.delete(path);
		if (type === "launched" && answered.has(path)) found.push(`${id}: ${path} had answered, and was launched again.`);
		if (type === "answered" && answered.has(path)) found.push(`${id}: ${path} was answered twice.`);
		if (type === "answered") answered.add(path);
	}
	return found;
}

/** What a workflow gave is what its agents said, and all of it was told. */
export async function workflowViolations(
	plan: Plan,
	{ launched, settled, entries }: Account,
	spoiled: ReadonlySet<string>,
): Promise<string[]> {
	const found: string[] = [];
	const told = toldResults(entries);
	for (const { runId, agentId, runner, task, artifacts } of launched.values()) {
		if (runner !== "workflow" || artifacts === undefined) continue;
		if ([...spoiled].some((path) => path === artifacts || path.includes(`${agentId}.workflow`))) continue;
		const path = join(artifacts, "..", `${agentId}.workflow.jsonl`);
		const journal = await tolerantLinesOf(path);
		found.push(...journalViolations(agentId, journal));
		if (settled.get(runId)?.[0]?.status !== "completed") continue;
		const key = /\[(w\d+)\]/.exec(task)?.[1];
		const calls = plan.workflows.find((workflow) => workflow.key === key)?.calls ?? [];
		const { value } = journal.findLast(({ type }) => type === "ended") ?? {};
		const isRight = (said: unknown, index: number) => said === null || said === stormAnswer(calls[index]?.key ?? "");
		if (!Array.isArray(value) || value.length !== calls.length || !value.every(isRight))
			found.push(`${runId} returned something else than its agents said: ${JSON.stringify(value)?.slice(0, 200)}.`);
		for (const result of told.filter((each) => each.runId === runId)) {
			const cut = await cutAnswer(result, JSON.stringify(value, undefined, 1), entries, artifacts);
			if (cut !== undefined) found.push(cut);
		}
	}
	return found;
}

interface End {
	type?: string;
	runId?: string;
	agentId?: string;
	task?: string;
	run?: number;
	status?: string;
	verification?: { ok?: boolean };
}

/**
 * A run is verified only if its command has passed, as the command itself wrote down; and one whose work must be
 * verified is not completed otherwise. `log` is what the commands wrote.
 */
export function verifyViolations(plan: Pick<Plan, "agents">, entries: readonly Line[], log: string): string[] {
	const all = entries.flatMap(({ customType, data }): End[] =>
		/^(subagents:|pi-subagents:)/.test(String(customType)) && data ? [data as End] : [],
	);
	const keys = new Map<string, { agent: AgentPlan; run: number }>();
	for (const { type, runId = "", task = "", run = 1 } of all) {
		const agent = type === "launched" ? plan.agents.get(/\[(a\d+)\]/.exec(task)?.[1] ?? "") : undefined;
		if (agent) keys.set(runId, { agent, run });
	}
	const found: string[] = [];
	const claims = new Map<string, number>();
	for (const { type, runId = "", status, verification } of all) {
		const known = type === "settled" ? keys.get(runId) : undefined;
		if (!known) continue;
		const { agent, run } = known;
		if (verification?.ok) claims.set(agent.key, (claims.get(agent.key) ?? 0) + 1);
		if (agent.verify && run === 1 && status === "completed" && verification?.ok !== true)
			found.push(`${runId} (${agent.key}) was completed without its check.`);
	}
	for (const [key, times] of claims) {
		const passed = log.split("\n").filter((line) => line === `${key} passed`).length;
		if (passed < times) found.push(`${key} was verified ${times} times, and its command passed ${passed} times.`);
	}
	return found;
}

/** The files that an agent on the other machine wrote are on its branch here, if it completed. */
export function remoteWrites(plan: Plan, { launched, settled }: Account, written: ReadonlySet<string>): string[] {
	return [...launched.values()].flatMap(({ runId, task, run }) => {
		const agent = plan.agents.get(/\[(a\d+)\]/.exec(task)?.[1] ?? "");
		const isDue = agent?.isRemote && run === 1 && written.has(agent.key);
		return isDue && settled.get(runId)?.[0]?.status === "completed" ? [`${agent.key}.txt`] : [];
	});
}

/** When this machine has everything of a run, the other one keeps nothing. Of one that was stopped it may, for a while. */
export async function leftThere({ agentDir }: PiEnv, { settled }: Account): Promise<string[]> {
	const worker = join(agentDir, "state", "subagents", "worker");
	const left = await Promise.all(
		["runs", "in", "out"].map(async (dir) => {
			const names = await readdir(join(worker, dir)).catch(() => []);
			const isOver = (key: string) => settled.get(key.replace(/-[0-9a-f]{12}$/, ""))?.[0]?.status === "completed";
			return names.filter(isOver).map((name) => `The other machine kept ${dir}/${name}.`);
		}),
	);
	return left.flat();
}

/** How much of each there was, so that a storm in which nothing of it happened is noticed. */
export function extraFigures(plan: Plan, { launched, settled, entries }: Account, log: string): Record<string, number> {
	const ends = (runner: string) =>
		[...launched.values()].filter((run) => run.runner === runner).map(({ runId }) => settled.get(runId)?.[0]?.status);
	const used = (has: (agent: AgentPlan) => unknown) =>
		[...plan.agents.values()].filter((agent) => has(agent) && JSON.stringify(entries).includes(`[${agent.key}]`))
			.length;
	const figures = {
		workflows: ends("workflow").length,
		"workflows completed": ends("workflow").filter((status) => status === "completed").length,
		"remote runs": ends("remote").length,
		"remote runs completed": ends("remote").filter((status) => status === "completed").length,
		"agents in launchers": used(({ isBoxed }) => isBoxed),
		"agents with MCP": used(({ usesMcp }) => usesMcp),
		checks: log.split("began").length - 1,
		"checks passed": log.split("passed").length - 1,
	};
	return Object.fromEntries(Object.entries(figures).filter(([, count]) => count > 0));
}

export async function checksIn({ home }: PiEnv): Promise<string> {
	return (await textOf(join(home, "checks.log"))) ?? "";
}
