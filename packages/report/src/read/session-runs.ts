/** What the entries of a pi session say about runs. Entries may have been edited: everything is checked. Pure. */
import { defined, isObject } from "@pi-subagents/core";
import type { Outcome, Usage } from "@pi-subagents/progress";
import type { RunInput, RunResult } from "../model/build.ts";

export interface SessionRun {
	run: RunInput;
	/** Where its files are, as the entry says. */
	artifacts?: string;
}

const ENTRY_TYPES = ["subagents:record", "subagents:nested", "pi-subagents:bg-run", "pi-subagents:bg-update"];

/** In the order of launching. */
export function runsInSession(entries: readonly unknown[]): SessionRun[] {
	const runs = new Map<string, SessionRun>();
	for (const entry of entries) {
		if (!isObject(entry) || entry.type !== "custom" || !ENTRY_TYPES.includes(String(entry.customType))) continue;
		const { data } = entry;
		if (!isObject(data) || typeof data.runId !== "string") continue;
		const known = runs.get(data.runId);
		if (data.type === "launched") {
			const launched = launchedIn(data);
			if (launched) runs.set(data.runId, { ...known, ...launched });
		} else if (data.type === "settled" && known) known.run = { ...known.run, result: resultIn(data, known.run) };
	}
	return [...runs.values()];
}

function launchedIn(data: Record<string, unknown>): SessionRun | undefined {
	const { runId, agentId, startedAt } = data;
	if (typeof runId !== "string" || typeof agentId !== "string" || !isTime(startedAt)) return undefined;
	const launchedBy = {
		who: textIn(data.launchedBy) ?? "model",
		...defined({ agentId: textIn(data.parentAgentId), callId: textIn(data.callId) }),
	};
	return {
		run: {
			meta: {
				runId,
				agentId,
				run: Number.isInteger(data.run) ? Number(data.run) : 1,
				createdAt: startedAt,
				launchedBy,
				...defined({ name: textIn(data.name) }),
				isBackground: data.isBackground === true,
				preset: textIn(data.preset) ?? "",
				task: textIn(data.task) ?? "",
				cwd: textIn(data.cwd) ?? "",
				resolvedModel: textIn(data.resolvedModel) ?? "",
				spec: { description: textIn(data.description) ?? "", runner: textIn(data.runner) ?? "" },
			},
			lines: [],
		},
		...defined({ artifacts: textIn(data.artifacts) }),
	};
}

function resultIn(data: Record<string, unknown>, { meta }: RunInput): RunResult {
	const completedAt = isTime(data.completedAt) ? data.completedAt : meta.createdAt;
	const durationMs = isTime(data.durationMs) ? data.durationMs : 0;
	return {
		outcome: outcomeIn(data),
		startedAt: Math.max(meta.createdAt, completedAt - durationMs),
		completedAt,
		turns: isTime(data.turns) ? data.turns : 0,
		toolUses: isTime(data.toolUses) ? data.toolUses : 0,
		usage: usageIn(data.usage),
		...defined({ resolvedModel: textIn(data.resolvedModel) }),
	};
}

function outcomeIn(data: Record<string, unknown>): Outcome {
	const said = textIn(data.text) ?? textIn(data.preview);
	const partial = said === undefined ? {} : { partialText: said };
	if (data.status === "completed") return { status: "completed", text: said ?? "" };
	if (data.status === "failed") return { status: "failed", error: textIn(data.error) ?? "It failed.", ...partial };
	return { status: "aborted", by: "lost", reason: textIn(data.reason) ?? textIn(data.by) ?? "unknown", ...partial };
}

function usageIn(value: unknown): Usage {
	const of = (key: string) => (isObject(value) && isTime(value[key]) ? value[key] : 0);
	return {
		input: of("input"),
		output: of("output"),
		cacheRead: of("cacheRead"),
		cacheWrite: of("cacheWrite"),
		cost: of("cost"),
	};
}

function textIn(value: unknown): string | undefined {
	return typeof value === "string" ? value : undefined;
}

/** A finite amount that is not negative. */
function isTime(value: unknown): value is number {
	return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
