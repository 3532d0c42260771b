/**
 * The entries of a session log about agents: one when a run is launched, one when it has settled, and one for a result
 * that is not to be delivered. Read back from files that may have been edited or cut off, so everything is checked. Runs
 * that outlive the session have entry types of their own, which other tools know. So do agents that an agent launched:
 * their entries are for reports only, since their results went to that agent. Pure.
 */
import { type GivenByCall, once } from "@pi-subagents/core";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";

const id = Type.String({ pattern: "^[\\w-][\\w.-]{0,127}$" });
const time = Type.Number({ minimum: 0 });
const count = Type.Integer({ minimum: 0 });

const givenSchema = () =>
	Type.Unsafe<GivenByCall>(
		Type.Object({
			thinking: Type.Optional(Type.String()),
			maxTurns: Type.Optional(count),
			outputSchema: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
			isolated: Type.Optional(Type.Boolean()),
			tools: Type.Optional(Type.Array(Type.String())),
			verify: Type.Optional(Type.Unknown()),
			verifyBy: Type.Optional(Type.Enum(["user", "extension"])),
			retry: Type.Optional(Type.Enum(["lost", "off"])),
		}),
	);

const launchSchema = () =>
	Type.Object({
		type: Type.Literal("launched"),
		runId: id,
		agentId: id,
		run: Type.Integer({ minimum: 1 }),
		name: Type.Optional(Type.String()),
		preset: Type.String(),
		description: Type.String(),
		task: Type.String(),
		cwd: Type.String(),
		runner: Type.Enum(["session", "process", "tmux", "remote", "workflow"]),
		/** The machine that it runs on, if it is not this one. */
		machine: Type.Optional(Type.String()),
		/** The program that it runs inside. */
		launcher: Type.Optional(Type.String()),
		requestedModel: Type.Optional(Type.String()),
		resolvedModel: Type.Optional(Type.String()),
		isBackground: Type.Boolean(),
		launchedBy: Type.Optional(Type.String()),
		/** The tool call that asked for it. */
		callId: Type.Optional(Type.String()),
		/** The agent that launched it; only in entries about nested agents, as its depth. */
		parentAgentId: Type.Optional(id),
		depth: Type.Optional(count),
		/** Where its files are. */
		artifacts: Type.Optional(Type.String()),
		/** It has a checkout of its own. */
		isolation: Type.Optional(Type.Literal("worktree")),
		/** What the call said, for the agent's next run. */
		given: Type.Optional(givenSchema()),
		startedAt: time,
	});

const settledSchema = () =>
	Type.Object({
		type: Type.Literal("settled"),
		runId: id,
		status: Type.Union([Type.Literal("completed"), Type.Literal("failed"), Type.Literal("aborted")]),
		by: Type.Optional(Type.String()),
		reason: Type.Optional(Type.String()),
		error: Type.Optional(Type.String()),
		/** Who says so, if no process of ours saw it. */
		claimedBy: Type.Optional(Type.Enum(["file", "machine"])),
		wrappedUp: Type.Optional(Type.Boolean()),
		/** The beginning of what it said. */
		preview: Type.Optional(Type.String()),
		/** All of what it said, where its files did not hold that yet: up to 1 MB of an answer, 32 KB of anything else. */
		text: Type.Optional(Type.String()),
		/** How many characters it said. Versions before this field kept the beginning only. */
		characters: Type.Optional(count),
		resultPath: Type.Optional(Type.String()),
		/** The answer as data, if that is small. */
		structured: Type.Optional(Type.Object({ ok: Type.Literal(true), data: Type.Unknown(), preview: Type.String() })),
		/** What became of its own checkout. */
		worktree: Type.Optional(
			Type.Object({
				branch: Type.Optional(Type.String()),
				path: Type.Optional(Type.String()),
				base: Type.String(),
				files: count,
				insertions: count,
				deletions: count,
				merge: Type.Optional(Type.String()),
				problems: Type.Optional(Type.Array(Type.String())),
			}),
		),
		/** What the command that checks its work said. */
		verification: Type.Optional(
			Type.Object({
				ok: Type.Boolean(),
				command: Type.Optional(Type.String()),
				on: Type.Optional(Type.String()),
				durationMs: Type.Optional(time),
				problem: Type.Optional(Type.String()),
				tail: Type.Optional(Type.String()),
			}),
		),
		resolvedModel: Type.Optional(Type.String()),
		/** The models that could not be used before that one. */
		attempts: Type.Optional(Type.Array(Type.Object({ model: Type.String(), error: Type.String() }))),
		completedAt: time,
		durationMs: time,
		/** It was stopped in the queue. */
		neverStarted: Type.Optional(Type.Literal(true)),
		turns: count,
		toolUses: count,
		/** How full its context was. */
		contextPercent: Type.Optional(time),
		usage: Type.Object({ input: time, output: time, cacheRead: time, cacheWrite: time, cost: time }),
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
export interface EntryPlace {
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

export function isOurs(customType: unknown): boolean {
	return customType === RUN || outlivesIn(customType);
}

/** Whether entries of that type are about a run that outlives the session. */
export function outlivesIn(customType: unknown): boolean {
	return customType === BACKGROUND_LAUNCH || customType === BACKGROUND_UPDATE;
}

/** An entry of a session file, if it is one of ours and whole. */
export function parseEntry(customType: unknown, data: unknown): (JournalEntry & { outlives: boolean }) | undefined {
	if (!isOurs(customType)) return undefined;
	const outlives = outlivesIn(customType);
	const { launch, settled, closed } = checks();
	if (launch.Check(data)) return { ...data, outlives };
	if (settled.Check(data)) return { ...data, outlives };
	return closed.Check(data) ? { ...data, outlives } : undefined;
}

/** Made and compiled with the first entry: most sessions have none, and one may have ten thousand. */
const checks = once(() => ({
	launch: Compile(launchSchema()),
	settled: Compile(settledSchema()),
	closed: Compile(closedSchema()),
}));
