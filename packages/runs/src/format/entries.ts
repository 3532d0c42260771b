/**
 * The entries of a session log about agents: one when a run is launched, one when it has settled, and one for a result
 * that is not to be delivered. Read back from files that may have been edited or cut off, so everything is checked. Runs
 * that outlive the session have entry types of their own, which other tools know. So do agents that an agent launched:
 * their entries are for reports only, since their results went to that agent. Pure.
 */

import { once } from "@pi-subagents/core/internal/base";
import { agentIdentitySchema } from "@pi-subagents/core/schema";
import { CLAIMANTS, SETTLED_STATUSES } from "@pi-subagents/progress";
import {
	count,
	listOf,
	maybeAmount,
	maybeFlag,
	maybeText,
	maybeTrue,
	oneOf,
	runNumber,
	structuredSchema,
	text,
	time,
	usageSchema,
	verificationSchema,
	worktreeReportSchema,
} from "@pi-subagents/progress/schema";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";

const id = Type.String({ pattern: "^[\\w-][\\w.-]{0,127}$" });

/** Everything that is fixed when a run is launched, some of it under the names that readers of sessions know. */
const launchSchema = () => {
	const { type, model, outlives, ...same } = agentIdentitySchema().properties;
	return Type.Object({
		...same,
		type: Type.Literal("launched"),
		runId: id,
		agentId: id,
		run: runNumber,
		preset: type,
		resolvedModel: model,
		/** One of `LAUNCHERS`, or what a newer version knows. */
		launchedBy: maybeText,
		/** The agent that launched it; only in entries about nested agents, as its depth. */
		parentAgentId: Type.Optional(id),
		depth: Type.Optional(count),
		/** When it was launched. */
		startedAt: time,
	});
};

const settledSchema = () =>
	Type.Object({
		type: Type.Literal("settled"),
		runId: id,
		status: oneOf(SETTLED_STATUSES),
		by: maybeText,
		reason: maybeText,
		error: maybeText,
		/** Who says so, if no process of ours saw it. */
		claimedBy: Type.Optional(oneOf(CLAIMANTS)),
		wrappedUp: maybeFlag,
		/** The beginning of what it said. */
		preview: maybeText,
		/** All of what it said, where its files did not hold that yet: up to 1 MB of an answer, 32 KB of anything else. */
		text: maybeText,
		/** How many characters it said. Versions before this field kept the beginning only. */
		characters: Type.Optional(count),
		resultPath: maybeText,
		/** The answer as data, if that is small. */
		structured: Type.Optional(structuredSchema()),
		/** What became of its own checkout. */
		worktree: Type.Optional(worktreeReportSchema()),
		/** What the command that checks its work said. */
		verification: Type.Optional(verificationSchema()),
		resolvedModel: maybeText,
		/** The models that could not be used before that one. */
		attempts: Type.Optional(listOf(Type.Object({ model: text, error: text }))),
		completedAt: time,
		durationMs: time,
		/** It was stopped in the queue. */
		neverStarted: maybeTrue,
		turns: count,
		toolUses: count,
		/** How full its context was. */
		contextPercent: maybeAmount,
		usage: usageSchema(),
	});

const closedSchema = () =>
	Type.Object({
		type: Type.Literal("closed"),
		runId: id,
		/** The tool call that read the result. If the session has no result of that call, nothing has read it. */
		callId: Type.Optional(Type.String()),
	});

export type LaunchEntry = Static<ReturnType<typeof launchSchema>>;
export type SettledEntry = Static<ReturnType<typeof settledSchema>>;
export type JournalEntry = LaunchEntry | SettledEntry | Static<ReturnType<typeof closedSchema>>;

const RUN = "subagents:record";
const NESTED_RUN = "subagents:nested";
const BACKGROUND_LAUNCH = "pi-subagents:bg-run";
const BACKGROUND_UPDATE = "pi-subagents:bg-update";

/** Whether a run that ended like this has a result of its own. One that was stopped, or ended with its process, has none. */
export function hasOwnEnd({ status, by }: { status?: unknown; by?: unknown }): boolean {
	return status !== "aborted" || !STOPPERS.includes(by);
}

const STOPPERS: readonly unknown[] = ["user", "parent", "shutdown", "lost"];

/** What decides the type of an entry. */
interface EntryPlace {
	outlives: boolean;
	/** An agent launched it. */
	isNested: boolean;
}

/** The type of the session's entry. */
export function entryTypeFor(entry: JournalEntry, { outlives, isNested }: EntryPlace): string {
	if (isNested) return NESTED_RUN;
	if (!outlives) return RUN;
	return entry.type === "launched" ? BACKGROUND_LAUNCH : BACKGROUND_UPDATE;
}

/** Whether entries of that type are about agents that the session itself launched. */
export function isOfSession(customType: unknown): boolean {
	return customType === RUN || outlivesIn(customType);
}

/** Whether entries of that type are about a run that outlives the session. */
export function outlivesIn(customType: unknown): boolean {
	return customType === BACKGROUND_LAUNCH || customType === BACKGROUND_UPDATE;
}

/** An entry of a session file about an agent that the session launched, if it is one and whole. */
export function parseEntry(customType: unknown, data: unknown): (JournalEntry & { outlives: boolean }) | undefined {
	const entry = isOfSession(customType) ? checkedEntry(data) : undefined;
	if (!entry) return undefined;
	const outlives = outlivesIn(customType);
	if (entry.type !== "launched") return { ...entry, outlives };
	const { parentAgentId: _parent, depth: _depth, ...launch } = entry; // only an agent launches nested ones
	return { ...launch, outlives };
}

/** The same, also about agents that an agent launched. */
export function parseAnyEntry(customType: unknown, data: unknown): (JournalEntry & { outlives: boolean }) | undefined {
	if (customType !== NESTED_RUN) return parseEntry(customType, data);
	const entry = checkedEntry(data);
	return entry && { ...entry, outlives: false };
}

function checkedEntry(data: unknown): JournalEntry | undefined {
	const { launch, settled, closed } = checks();
	if (launch.Check(data)) return data;
	if (settled.Check(data)) return data;
	return closed.Check(data) ? data : undefined;
}

/** Made and compiled with the first entry: most sessions have none, and one may have ten thousand. */
const checks = once(() => ({
	launch: Compile(launchSchema()),
	settled: Compile(settledSchema()),
	closed: Compile(closedSchema()),
}));
