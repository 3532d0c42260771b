/** Runs → report: the tree, spans, transcripts, sums. Pure: reads no file and no clock. */
import type { EventLine, Meta, ResultFile } from "@pi-subagents/core/runs";
import { checkArguments, claimText, type Outcome, type Verification } from "@pi-subagents/progress";
import { cleanReport, maskedRuns } from "./clean.ts";
import { criticalPath } from "./critical-path.ts";
import { spansOf } from "./spans.ts";
import { transcriptOf } from "./transcript.ts";
import { inTreeOrder, parentsOf } from "./tree.ts";
import type { Report, ReportAgent, StructuredAnswer } from "./types.ts";
import { addUsage } from "./usage.ts";
import { describeCall, labelOf, waitsForAgents } from "./wording.ts";

/** What is known of one run: from its directory, or from the entries of a session. */
export interface RunInput {
	meta: RunFacts;
	/** Its log, in order. Empty if there is none. */
	lines: readonly EventLine[];
	/** Absent while it runs. */
	result?: RunResult;
	/** What its tools returned, by call: for full reports. */
	outputs?: ReadonlyMap<string, string>;
	/** The changes in its worktree: for full reports. */
	diff?: string;
}

/** The part of `meta.json` that a report uses. */
export type RunFacts = Pick<
	Meta,
	| "runId"
	| "agentId"
	| "run"
	| "createdAt"
	| "queuedAt"
	| "launchedBy"
	| "depth"
	| "name"
	| "phase"
	| "isBackground"
	| "parentSessionId"
	| "preset"
	| "task"
	| "cwd"
	| "resolvedModel"
> & {
	/** The runner may be one that this version does not know. */
	spec: Pick<Meta["spec"], "description" | "machine"> & { runner: string };
};

/** The part of `result.json` that a report uses. */
export type RunResult = Pick<
	ResultFile,
	"outcome" | "startedAt" | "completedAt" | "turns" | "toolUses" | "usage" | "finalText" | "resolvedModel"
>;

export interface ReportOptions {
	/** The time of the report: where runs that have not ended end in it. */
	now: number;
	title?: string;
	/** Includes tool arguments, tool output and diffs. */
	isFull?: boolean;
	/** Texts to mask wherever they occur. */
	secrets?: readonly string[];
	/** What could not be read. */
	problems?: readonly string[];
}

/**
 * The same runs give the same report. Text is made safe to show, and secrets are masked.
 *
 * @example
 * ```ts
 * const report = buildReport(runs, { now: Date.now() });
 * console.log(report.agents.length, report.usage.cost);
 * ```
 */
export function buildReport(given: readonly RunInput[], options: ReportOptions): Report {
	checkArguments({ runs: [given, "array"], options: [options, "object"], "options.now": [options?.now, "number"] });
	const { now, isFull = false, title, problems = [], secrets = [] } = options;
	const runs = maskedRuns(given, secrets);
	const parents = parentsOf(runs);
	const waited = new Set(
		runs.filter(({ meta }) => meta.isBackground === false).flatMap(({ meta }) => meta.launchedBy?.callId ?? []),
	);
	const agents = inTreeOrder(runs.map((run) => agentOf(run, { now, isFull, waited, parentId: parents.get(run) })));
	const sessions = new Set(runs.map(({ meta }) => meta.parentSessionId));
	const [sessionId] = sessions;
	const report: Report = {
		format: 1,
		title: title ?? titleOf(agents),
		...(sessions.size === 1 && sessionId !== undefined ? { sessionId } : {}),
		createdAt: now,
		startedAt: agents.reduce((first, { queuedAt }) => Math.min(first, queuedAt), agents[0]?.queuedAt ?? 0),
		endedAt: agents.reduce((last, { endedAt }) => Math.max(last, endedAt), 0),
		isFull,
		agents,
		usage: agents.reduce((sum, { usage }) => addUsage(sum, usage), addUsage()),
		criticalPath: criticalPath(agents),
		problems: [...problems],
	};
	return cleanReport(report, secrets);
}

/** A single tree is named after what its root was asked to do. */
function titleOf(agents: readonly ReportAgent[]): string {
	const [root, another] = agents.filter(({ parentId }) => parentId === undefined);
	return root && !another ? (root.task.trim().split("\n", 1)[0] ?? "") : `${agents.length} agents`;
}

interface Placed {
	now: number;
	isFull: boolean;
	/** The calls that waited for the agents they launched. */
	waited: ReadonlySet<string>;
	parentId: string | undefined;
}

function agentOf(run: RunInput, { now, isFull, waited, parentId }: Placed): ReportAgent {
	const { meta, lines, result } = run;
	const { launchedBy } = meta;
	const { queuedAt, startedAt, endedAt } = timesOf(run, now);
	const counted = result ?? countsIn(lines);
	return {
		id: meta.runId,
		agentId: meta.agentId,
		run: meta.run,
		...(parentId === undefined ? {} : { parentId }),
		...(launchedBy?.callId === undefined ? {} : { callId: launchedBy.callId }),
		...(launchedBy === undefined ? {} : { launchedBy: launchedBy.who }),
		depth: meta.depth ?? 1,
		...(meta.name === undefined ? {} : { name: meta.name }),
		...(meta.phase === undefined ? {} : { phase: meta.phase }),
		preset: meta.preset,
		description: meta.spec.description,
		task: meta.task,
		cwd: meta.cwd,
		model: result?.resolvedModel ?? meta.resolvedModel,
		runner: meta.spec.runner,
		isBackground: meta.isBackground ?? false,
		status: result?.outcome.status ?? (startedAt === undefined ? "queued" : "running"),
		queuedAt,
		...(startedAt === undefined ? {} : { startedAt }),
		endedAt,
		usage: counted.usage,
		turns: counted.turns,
		toolUses: counted.toolUses,
		spans: spansOf({
			lines,
			queuedAt,
			startedAt,
			endedAt,
			isRunning: result === undefined,
			usage: result?.usage,
			describeCall: isFull ? describeCall : labelOf,
			isWaiting: (line) => waitsForAgents(line, waited),
		}),
		transcript: transcriptOf(lines, {
			isFull,
			...(run.outputs ? { outputs: run.outputs } : {}),
			...(meta.spec.runner === "remote" ? { machine: meta.spec.machine ?? "its machine" } : {}),
		}),
		...(result ? endOf(result.outcome, result.finalText, isFull) : {}),
		...(isFull && run.diff !== undefined ? { diff: run.diff } : {}),
	};
}

/** Clocks may have been set meanwhile, and logs cut off: an end is never before a start. */
function timesOf({ meta, lines, result }: RunInput, now: number) {
	const queuedAt = Math.floor(meta.queuedAt ?? meta.createdAt);
	const started = lines.find(({ type }) => type === "agent_started")?.at ?? lines.find(isChilds)?.at;
	const isNeverStarted = started === undefined && (!result || (result.usage.output === 0 && lines.length > 0));
	const startedAt = isNeverStarted
		? undefined
		: Math.max(queuedAt, Math.floor(started ?? result?.startedAt ?? queuedAt));
	const last = lines.reduce((latest, { at }) => Math.max(latest, at), startedAt ?? queuedAt);
	const endedAt = Math.floor(Math.max(last, result?.completedAt ?? Math.max(now, last)));
	return { queuedAt, startedAt, endedAt };
}

function isChilds({ type }: EventLine): boolean {
	return type !== "agent_queued" && type !== "agent_settled" && type !== "agent_steered";
}

function countsIn(lines: readonly EventLine[]): Pick<ReportAgent, "usage" | "turns" | "toolUses"> {
	return {
		usage: lines.reduce((sum, line) => addUsage(sum, line.type === "usage" ? line.usage : undefined), addUsage()),
		turns: lines.filter(({ type }) => type === "turn").length,
		toolUses: lines.filter(({ type }) => type === "tool_call").length,
	};
}

function endOf(outcome: Outcome, finalText: string | undefined, isFull: boolean): Partial<ReportAgent> {
	const answer = outcome.status === "completed" ? outcome.text : (outcome.partialText ?? finalText);
	const verification = outcome.status === "aborted" ? undefined : outcome.verification;
	const structured = outcome.status === "aborted" ? undefined : structuredOf(outcome.structured);
	return {
		...(answer === undefined || answer === "" ? {} : { answer }),
		...(outcome.status === "failed" ? { error: errorText(outcome) } : {}),
		...(outcome.status === "aborted" ? { stoppedBy: stopText(outcome) } : {}),
		...(structured === undefined ? {} : { structured }),
		...(verification ? { verification: isFull ? verification : withoutOutput(verification) } : {}),
		...(outcome.worktree === undefined ? {} : { worktree: outcome.worktree }),
	};
}

function withoutOutput({ tail: _tail, ...verification }: Verification): Verification {
	return verification;
}

function structuredOf(
	structured: (Outcome & { status: "completed" | "failed" })["structured"],
): StructuredAnswer | undefined {
	if (!structured) return undefined;
	return structured.ok ? { ok: true, data: structured.data } : { ok: false, errors: structured.validationErrors };
}

/** What a file says about itself stays its own words. */
function errorText({ error, claimedBy }: Outcome & { status: "failed" }): string {
	return claimedBy === undefined ? error : claimText(error, claimedBy);
}

function stopText({ by, reason, claimedBy }: Outcome & { status: "aborted" }): string {
	const told = reason === undefined ? by : `${by}: ${reason}`;
	return claimedBy === undefined ? told : `no one that we saw; ${claimText(told, claimedBy)}`;
}
