/** Runs → report: the tree, spans, transcripts, sums. Pure: reads no file and no clock. */

import { runIdOf } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { checkArguments, claimText, type Outcome, type Verification } from "@pi-subagents/progress";
import { eventsOfRun, type KnownRun, recordOfRun } from "@pi-subagents/runs";
import { cleanReport, maskedRuns } from "./clean.ts";
import { criticalPath } from "./critical-path.ts";
import { spansOf } from "./spans.ts";
import { transcriptOf } from "./transcript.ts";
import { inTreeOrder, parentsOf } from "./tree.ts";
import type { Report, ReportAgent, StructuredAnswer } from "./types.ts";
import { addUsage } from "./usage.ts";
import { describeCall, labelOf, waitsForAgents } from "./wording.ts";

/** What is known of one run: from its directory, or from the entries of a session. */
export interface RunInput extends KnownRun {
	/** The pi session that launched it. */
	sessionId?: string;
	/** What its tools returned, by call: for full reports. */
	outputs?: ReadonlyMap<string, string>;
	/** The changes in its worktree: for full reports. */
	diff?: string;
}

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
	const waited = new Set(runs.filter(({ agent }) => !agent.isBackground).flatMap(({ agent }) => agent.callId ?? []));
	const agents = inTreeOrder(runs.map((run) => agentOf(run, { now, isFull, waited, parentId: parents.get(run) })));
	const sessions = new Set(runs.map(({ sessionId }) => sessionId));
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
	const record = recordOfRun(run);
	const { agentId, end } = run;
	const { name, phase, machine, callId, launchedBy, startedAt, outcome, model = "" } = record;
	const { type: preset, description, task, cwd, runner, depth, isBackground, usage, turns, toolUses } = record;
	const [queuedAt, events] = [record.queuedAt, eventsOfRun(run)];
	const endedAt = record.completedAt ?? Math.floor(Math.max(now, record.lastEventAt));
	return {
		id: runIdOf(run),
		agentId,
		run: run.run,
		...defined({ parentId, callId, launchedBy }),
		depth,
		...defined({ name, phase, machine }),
		preset,
		description,
		task,
		cwd,
		model,
		runner,
		isBackground,
		status: outcome?.status ?? (startedAt === undefined ? "queued" : "running"),
		queuedAt,
		...defined({ startedAt }),
		endedAt,
		usage,
		turns,
		toolUses,
		spans: spansOf({
			events,
			queuedAt,
			startedAt,
			endedAt,
			isRunning: outcome === undefined,
			usage: end?.usage,
			describeCall: isFull ? describeCall : labelOf,
			isWaiting: (call) => waitsForAgents(call, waited),
		}),
		transcript: transcriptOf(events, {
			isFull,
			...defined({ outputs: run.outputs }),
			...(runner === "remote" ? { machine: machine ?? "its machine" } : {}),
		}),
		...(outcome ? endOf(outcome, isFull) : {}),
		...(isFull ? defined({ diff: run.diff }) : {}),
	};
}

function endOf(outcome: Outcome, isFull: boolean): Partial<ReportAgent> {
	const answer = outcome.status === "completed" ? outcome.text : outcome.partialText;
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
