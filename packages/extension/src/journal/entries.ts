/**
 * What a session file remembers of agents: one entry when a run is launched, one when it has settled, and one for a
 * result that is not to be told. Read back from files that may have been edited or cut off, so everything is checked.
 * Runs that outlive the session have entry types of their own, which other tools know. Pure.
 */
import { type AgentRecord, type Outcome, runIdOf } from "@pi-subagents/core";
import { type Static, Type } from "typebox";
import { Check } from "typebox/value";

const id = Type.String({ pattern: "^[\\w-][\\w.-]{0,127}$" });
const time = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 0 });

const launchSchema = Type.Object({
	type: Type.Literal("launched"),
	runId: id,
	agentId: id,
	run: Type.Integer({ minimum: 1 }),
	name: Type.Optional(Type.String()),
	preset: Type.String(),
	description: Type.String(),
	task: Type.String(),
	cwd: Type.String(),
	runner: Type.Union([Type.Literal("session"), Type.Literal("process"), Type.Literal("tmux")]),
	requestedModel: Type.Optional(Type.String()),
	resolvedModel: Type.Optional(Type.String()),
	isBackground: Type.Boolean(),
	/** Where its files are. */
	artifacts: Type.Optional(Type.String()),
	startedAt: time,
});

const settledSchema = Type.Object({
	type: Type.Literal("settled"),
	runId: id,
	status: Type.Union([Type.Literal("completed"), Type.Literal("failed"), Type.Literal("aborted")]),
	by: Type.Optional(Type.String()),
	reason: Type.Optional(Type.String()),
	error: Type.Optional(Type.String()),
	wrappedUp: Type.Optional(Type.Boolean()),
	/** The beginning of what it said; all of it is in its files. */
	preview: Type.Optional(Type.String()),
	resultPath: Type.Optional(Type.String()),
	resolvedModel: Type.Optional(Type.String()),
	completedAt: time,
	durationMs: time,
	turns: count,
	toolUses: count,
	usage: Type.Object({ input: time, output: time, cacheRead: time, cacheWrite: time, cost: time }),
});

const closedSchema = Type.Object({ type: Type.Literal("closed"), runId: id });

export type LaunchEntry = Static<typeof launchSchema>;
export type SettledEntry = Static<typeof settledSchema>;
export type JournalEntry = LaunchEntry | SettledEntry | Static<typeof closedSchema>;

const RUN = "subagents:record";
const BACKGROUND_LAUNCH = "pi-subagents:bg-run";
const BACKGROUND_UPDATE = "pi-subagents:bg-update";

/** The type of the session's entry. */
export function entryTypeFor(entry: JournalEntry, outlives: boolean): string {
	if (!outlives) return RUN;
	return entry.type === "launched" ? BACKGROUND_LAUNCH : BACKGROUND_UPDATE;
}

/** An entry of a session file, if it is one of ours and whole. */
export function parseEntry(customType: unknown, data: unknown): (JournalEntry & { outlives: boolean }) | undefined {
	const outlives = customType === BACKGROUND_LAUNCH || customType === BACKGROUND_UPDATE;
	if (!outlives && customType !== RUN) return undefined;
	if (Check(launchSchema, data)) return { ...data, outlives };
	if (Check(settledSchema, data)) return { ...data, outlives };
	return Check(closedSchema, data) ? { ...data, outlives } : undefined;
}

/** More would make the session file grow with every launch; the whole task is in the run's own files. */
const TASK_CHARACTERS = 2_000;
const PREVIEW_CHARACTERS = 500;

export function launchEntry(record: AgentRecord): LaunchEntry {
	const {
		id: agentId,
		run,
		name,
		type,
		description,
		task,
		cwd,
		runner,
		model,
		requestedModel,
		isBackground,
		artifacts,
	} = record;
	return {
		type: "launched",
		runId: runIdOf({ agentId, run }),
		agentId,
		run,
		...(name === undefined ? {} : { name }),
		preset: type,
		description,
		task: task.slice(0, TASK_CHARACTERS),
		cwd,
		runner,
		...(requestedModel === undefined ? {} : { requestedModel }),
		...(model === undefined ? {} : { resolvedModel: model }),
		isBackground,
		...(artifacts === undefined ? {} : { artifacts }),
		startedAt: record.queuedAt,
	};
}

export function settledEntry(record: AgentRecord, outcome: Outcome): SettledEntry {
	const {
		id: agentId,
		run,
		model,
		artifacts,
		turns,
		toolUses,
		usage,
		startedAt,
		completedAt = record.lastEventAt,
	} = record;
	const { text, ...how } = split(outcome);
	return {
		type: "settled",
		runId: runIdOf({ agentId, run }),
		...how,
		...(text === undefined ? {} : { preview: text.slice(0, PREVIEW_CHARACTERS) }),
		...(artifacts === undefined ? {} : { resultPath: `${artifacts}/result.json` }),
		...(model === undefined ? {} : { resolvedModel: model }),
		completedAt,
		durationMs: Math.max(0, completedAt - (startedAt ?? completedAt)),
		turns,
		toolUses,
		usage,
	};
}

function split(
	outcome: Outcome,
): Pick<SettledEntry, "status" | "by" | "reason" | "error" | "wrappedUp"> & { text?: string } {
	switch (outcome.status) {
		case "completed":
			return { status: "completed", text: outcome.text, ...(outcome.wrappedUp ? { wrappedUp: true } : {}) };
		case "failed":
			return {
				status: "failed",
				error: outcome.error.slice(0, PREVIEW_CHARACTERS),
				...(outcome.partialText === undefined ? {} : { text: outcome.partialText }),
			};
		case "aborted":
			return {
				status: "aborted",
				by: outcome.by,
				...(outcome.reason === undefined ? {} : { reason: outcome.reason.slice(0, PREVIEW_CHARACTERS) }),
				...(outcome.partialText === undefined ? {} : { text: outcome.partialText }),
			};
	}
}

/** The outcome as far as the session remembers it. */
export function outcomeFrom(entry: SettledEntry): Outcome {
	const partial = entry.preview === undefined ? {} : { partialText: entry.preview };
	switch (entry.status) {
		case "completed":
			return { status: "completed", text: entry.preview ?? "", ...(entry.wrappedUp ? { wrappedUp: true } : {}) };
		case "failed":
			return { status: "failed", error: entry.error ?? "It failed.", ...partial };
		case "aborted":
			return {
				status: "aborted",
				by: ABORTERS.find((by) => by === entry.by) ?? "lost",
				...(entry.reason === undefined ? {} : { reason: entry.reason }),
				...partial,
			};
	}
}

const ABORTERS = ["user", "parent", "turns", "timeout", "idle", "budget", "shutdown", "lost"] as const;
