/** `background_agent_status`: the state and results of runs that outlive this session. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { type AbortedBy, AgentError, type AgentRecord, type Outcome, runIdOf, type Usage } from "@pi-subagents/core";
import { defined, quoted } from "@pi-subagents/core/internal/base";
import {
	durationOf,
	outcomeForModel,
	type StructuredDetails,
	structuredDetails,
} from "@pi-subagents/core/outcome-text";
import { type Counts, countsOf } from "@pi-subagents/delivery";
import { beginningOf, fence, formatDuration, isSettled, sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { filledFrom, RUN_FILES, resultFileOf, wholeOutcome } from "@pi-subagents/runs";
import { Type } from "typebox";
import type { BackgroundRuns } from "./ports.ts";
import { renderToldResult } from "./render/result.ts";
import { bounded } from "./waiting/bounded.ts";

const parameters = Type.Object({
	runId: Type.Optional(Type.String()),
	includeCompleted: Type.Optional(Type.Boolean({ description: "Also finished ones" })),
});

interface BackgroundRow {
	runId: string;
	status: string;
	preset: string;
	task: string;
	cwd: string;
	requestedModel?: string;
	resolvedModel?: string;
	startedAt: number;
	completedAt?: number;
	artifacts?: string;
	structured?: StructuredDetails;
	attempts?: AgentRecord["attempts"];
	/** Of a run that has ended. */
	result?: BackgroundResult;
}

interface BackgroundResult {
	/** What it said, cleaned and capped. */
	text?: string;
	/** The file with the full text. */
	textPath?: string;
	/** The last one of its model, such as `stop` or `length`. */
	stopReason?: string;
	error?: string;
	/** Who or what stopped it. */
	abortedBy?: AbortedBy;
	model?: string;
	usage: Usage;
}

interface StatusDetails {
	counts: Counts;
	runs: BackgroundRow[];
}

/** A list is for choosing; the whole task is in the run's files. */
const TASK_CHARACTERS = 200;
const MAX_ROWS = 50;

/** pi writes details to the session file: of one run more is kept than of each in a list. */
const TEXT_CHARACTERS = { one: 8_000, each: 500 };
const ERROR_CHARACTERS = 500;

export function createBackgroundStatusTool({
	runs: backgroundRuns,
}: {
	runs: BackgroundRuns;
}): ToolDefinition<typeof parameters, StatusDetails> {
	return bounded(
		defineTool({
			name: "background_agent_status",
			label: "Background status",
			description: "Count and list background_agent runs; runId shows the activity or result of one.",
			parameters,
			async execute(_callId, { runId, includeCompleted = false }) {
				const records = backgroundRuns();
				const counts = countsOf(records);
				if (runId !== undefined) {
					const record = findRun(records, runId);
					const row = await rowOf(record, TEXT_CHARACTERS.one);
					return told(`${countsText(counts)}\n\n${await closeUp(record)}`, { counts, runs: [row] });
				}
				const listed = records.filter(({ status }) => includeCompleted || !isSettled(status));
				const shown = listed.slice(-MAX_ROWS);
				const more = listed.length > shown.length ? [`(${listed.length - shown.length} older ones left out)`] : [];
				const runs = await Promise.all(shown.map((record) => rowOf(record, TEXT_CHARACTERS.each)));
				return told([countsText(counts), ...more, ...shown.map(lineOf)].join("\n"), { counts, runs });
			},
			renderResult: renderToldResult,
		}),
	);
}

export function countsText({ running, completed, failed, aborted, total }: Counts): string {
	return `${running} running, ${completed} completed, ${failed} failed, ${aborted} aborted, ${total} in all`;
}

/** By its id, or by the beginning of only one id. */
function findRun(records: readonly AgentRecord[], wanted: string): AgentRecord {
	const idOf = ({ id: agentId, run }: AgentRecord) => runIdOf({ agentId, run });
	const exact = records.find((record) => idOf(record) === wanted);
	const [only, ...others] = exact ? [exact] : records.filter((record) => idOf(record).startsWith(wanted));
	if (only && others.length === 0) return only;
	const known = records.slice(-20).map((record) => `${idOf(record)} (${record.type}, ${record.status})`);
	const list = known.length > 0 ? `Known: ${known.join(", ")}.` : "None has been started.";
	throw new AgentError("unknown_agent", `There is no single background run ${quoted(wanted)}. ${list}`);
}

async function closeUp(record: AgentRecord): Promise<string> {
	const { outcome, activity } = record;
	if (!outcome) return `${lineOf(record)}\nLast: ${activity === undefined ? "nothing yet" : doingOf(activity)}`;
	const { text } = outcomeForModel({ outcome: await wholeOutcome(record, outcome), record });
	return `${lineOf(record)}\n${text}`;
}

function lineOf(record: AgentRecord): string {
	const { id: agentId, run, status, type, task, model, activity } = record;
	const time = formatDuration(durationOf(record));
	const doing = isSettled(status) || activity === undefined ? "" : `; ${doingOf(activity)}`;
	return `- ${runIdOf({ agentId, run })} ${status} ${time} ${sanitize(type)} (${sanitize(model ?? "?")}): ${short(task)}${doing}`;
}

function doingOf(activity: string): string {
	return fence("activity", activity, { isLine: true, maxLength: 500 });
}

async function rowOf(record: AgentRecord, mostText: number): Promise<BackgroundRow> {
	const { id: agentId, run, status, type, task, cwd, model, requestedModel, queuedAt, completedAt, artifacts } = record;
	const structured = structuredDetails(record);
	return {
		runId: runIdOf({ agentId, run }),
		status: isSettled(status) ? status : "running",
		preset: type,
		task: short(task),
		cwd,
		startedAt: queuedAt,
		...defined({ requestedModel, resolvedModel: model, completedAt }),
		...defined({ artifacts, structured, attempts: record.attempts }),
		...(record.outcome ? { result: await resultOf(record, record.outcome, mostText) } : {}),
	};
}

/** The session may know only how the answer begins, and does not know why its model stopped: the run's file does. */
async function resultOf(record: AgentRecord, known: Outcome, mostText: number): Promise<BackgroundResult> {
	const { artifacts, model, usage } = record;
	const file = await resultFileOf(record, known);
	const outcome = (file && filledFrom(file.outcome, known)) ?? known;
	const text = sanitizeBlock((outcome.status === "completed" ? outcome.text : outcome.partialText) ?? "");
	return {
		...(text === "" ? {} : { text: beginningOf(text, mostText) }),
		...(file && artifacts !== undefined ? { textPath: `${artifacts}/${RUN_FILES.result}` } : {}),
		...(file?.stopReason === undefined ? {} : { stopReason: sanitize(file.stopReason) }),
		...(outcome.status === "failed" ? { error: beginningOf(sanitize(outcome.error), ERROR_CHARACTERS) } : {}),
		...(outcome.status === "aborted" ? { abortedBy: outcome.by } : {}),
		...defined({ model }),
		usage,
	};
}

function short(task: string): string {
	const line = sanitize(task);
	return line.length > TASK_CHARACTERS ? `${line.slice(0, TASK_CHARACTERS - 1)}…` : line;
}

function told(text: string, details: StatusDetails) {
	return { content: [{ type: "text" as const, text }], details };
}
