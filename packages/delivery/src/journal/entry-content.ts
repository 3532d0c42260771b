/** What entries hold of a record and its outcome, and how much of it at most. Pure. */
import { type AgentIdentity, type AgentRecord, type Outcome, runIdOf } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { durationOf } from "@pi-subagents/core/outcome-text";
import { agentIdentitySchema } from "@pi-subagents/core/schema";
import { beginningOf } from "@pi-subagents/progress";
import type { LaunchEntry, SettledEntry } from "@pi-subagents/runs";

/** More would make the session file grow with every launch; the whole task is in the run's own files. */
const TASK_CHARACTERS = 2_000;
const PREVIEW_CHARACTERS = 500;
const DATA_CHARACTERS = 2_000;
/** What an entry holds at most of an answer that no file holds: more than any model says at once. */
const ANSWER_BYTES = 1024 * 1024;
/** The same for what was said before a failure or a stop, and for what the session keeps twice without a need. */
const MODEST_BYTES = 32 * 1024;

export function launchEntry(record: AgentRecord): LaunchEntry {
	const { type, model, outlives, task, parentAgentId, depth, ...same } = launchFields(record);
	return {
		...same,
		type: "launched",
		runId: runIdOf({ agentId: record.id, run: record.run }),
		agentId: record.id,
		run: record.run,
		preset: type,
		task: beginningOf(task, TASK_CHARACTERS),
		...defined({ resolvedModel: model }),
		...(parentAgentId === undefined ? {} : { parentAgentId, depth }),
		startedAt: record.queuedAt,
	};
}

/** Everything that was fixed at launch, whatever fields that has. */
function launchFields(record: AgentRecord): AgentIdentity {
	const fields = new Set(Object.keys(agentIdentitySchema().properties));
	return Object.fromEntries(Object.entries(record).filter(([field]) => fields.has(field))) as unknown as AgentIdentity;
}

export interface SettledOptions {
	/** The run's files do not hold its answer, or that was not checked: the entry holds as much of it as it may. */
	carriesAnswer: boolean;
}

export function settledEntry(record: AgentRecord, outcome: Outcome, { carriesAnswer }: SettledOptions): SettledEntry {
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
	const { text, ...how } = split(outcome, carriesAnswer ? ANSWER_BYTES : DATA_CHARACTERS);
	const most = outcome.status === "completed" ? ANSWER_BYTES : MODEST_BYTES;
	return {
		type: "settled",
		runId: runIdOf({ agentId, run }),
		...how,
		...(text === undefined ? {} : saidFields(text, outcome.omitted ?? 0, carriesAnswer ? most : 0)),
		...(artifacts === undefined ? {} : { resultPath: `${artifacts}/result.json` }),
		...defined({
			worktree: outcome.worktree,
			verification: verificationOf(outcome),
			resolvedModel: model,
			attempts: record.attempts,
			contextPercent: record.contextPercent,
		}),
		completedAt,
		durationMs: durationOf(record),
		...(startedAt === undefined ? { neverStarted: true as const } : {}),
		turns,
		toolUses,
		usage,
	};
}

function verificationOf(outcome: Outcome) {
	return outcome.status === "aborted" ? undefined : outcome.verification;
}

/** Whether an entry can hold all of what it said. */
export function fitsEntry(outcome: Outcome): boolean {
	return bytesOf(outcome) <= ANSWER_BYTES;
}

/** Whether the session may keep all of what it said a second time, beside the result of the call that waited for it. */
export function isModest(outcome: Outcome): boolean {
	return bytesOf(outcome) <= MODEST_BYTES;
}

function bytesOf(outcome: Outcome): number {
	return Math.max(Buffer.byteLength(saidIn(outcome)), Buffer.byteLength(dataIn(outcome)));
}

/** Carries `most` bytes of the text, if the preview does not hold it anyway. */
function saidFields(text: string, omitted: number, most: number) {
	const preview = beginningOf(text, PREVIEW_CHARACTERS);
	const isWhole = preview.length === text.length;
	return {
		preview,
		...(most > 0 && !isWhole ? { text: beginningInBytes(text, most) } : {}),
		characters: text.length + omitted,
	};
}

/** As `beginningOf`, counted as a file counts. */
function beginningInBytes(text: string, maxBytes: number): string {
	const beginning = beginningOf(text, maxBytes); // no character takes less than a byte
	const beyond = Buffer.byteLength(beginning) - maxBytes;
	if (beyond <= 0) return beginning;
	const cut = Buffer.from(beginning).subarray(0, maxBytes).toString("utf8"); // half a character becomes U+FFFD
	return beginningOf(beginning, cut.replace(/\uFFFD+$/, "").length);
}

function split(
	outcome: Outcome,
	maxData: number,
): Pick<SettledEntry, "status" | "by" | "reason" | "error" | "claimedBy" | "wrappedUp" | "structured"> & {
	text?: string;
} {
	switch (outcome.status) {
		case "completed": {
			const { text, wrappedUp, by, structured } = outcome;
			const isSmall = structured && dataIn(outcome).length <= maxData;
			return {
				status: "completed",
				text,
				...(wrappedUp ? { wrappedUp, ...defined({ by }) } : {}),
				...(isSmall ? { structured } : {}),
			};
		}
		case "failed":
			return {
				status: "failed",
				error: beginningOf(outcome.error, PREVIEW_CHARACTERS),
				...defined({ claimedBy: outcome.claimedBy, text: outcome.partialText }),
			};
		case "aborted":
			return {
				status: "aborted",
				by: outcome.by,
				...(outcome.reason === undefined ? {} : { reason: beginningOf(outcome.reason, PREVIEW_CHARACTERS) }),
				...defined({ claimedBy: outcome.claimedBy, text: outcome.partialText }),
			};
	}
}

/** What the agent said: its answer, or what it had said until it ended otherwise. */
export function saidIn(outcome: Outcome): string {
	return (outcome.status === "completed" ? outcome.text : outcome.partialText) ?? "";
}

/** Its answer as data, which a command may have printed instead of the agent. */
export function dataIn(outcome: Outcome): string {
	return outcome.status === "completed" && outcome.structured ? JSON.stringify(outcome.structured.data) : "";
}
