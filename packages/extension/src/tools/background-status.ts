/** `background_agent_status`: how the runs that outlive this session are doing, and what they came to. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord, isSettled, quoted, runIdOf, type Store } from "@pi-subagents/core";
import { formatDuration, sanitize } from "@pi-subagents/progress";
import { Type } from "typebox";
import { backgroundRecords, type Counts, countsOf } from "../background.ts";
import type { Journal } from "../journal/journal.ts";
import { durationOf } from "./details.ts";
import { reportFor } from "./report.ts";
import { type StructuredDetails, structuredDetails } from "./structured.ts";
import { wholeOutcome } from "./whole-outcome.ts";

const parameters = Type.Object({
	runId: Type.Optional(Type.String()),
	includeCompleted: Type.Optional(Type.Boolean({ description: "Also ended ones" })),
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
}

interface StatusDetails {
	counts: Counts;
	runs: BackgroundRow[];
}

/** A list is for choosing; the whole task is in the run's files. */
const TASK_CHARACTERS = 200;
const MOST_ROWS = 50;

export function backgroundStatusTool(deps: {
	store: Store;
	journal: Journal;
}): ToolDefinition<typeof parameters, StatusDetails> {
	const { store, journal } = deps;
	return defineTool({
		name: "background_agent_status",
		label: "Background status",
		description: "Counts and lists background_agent runs; with runId, tells what one is doing or what it found.",
		parameters,
		async execute(_callId, { runId, includeCompleted = false }) {
			const records = backgroundRecords(store, journal);
			const counts = countsOf(records);
			if (runId !== undefined) {
				const record = findRun(records, runId);
				return told(`${countsText(counts)}\n\n${await closeUp(record)}`, { counts, runs: [rowOf(record)] });
			}
			const listed = records.filter(({ status }) => includeCompleted || !isSettled(status));
			const shown = listed.slice(-MOST_ROWS);
			const more = listed.length > shown.length ? [`(${listed.length - shown.length} older ones left out)`] : [];
			return told([countsText(counts), ...more, ...shown.map(lineOf)].join("\n"), { counts, runs: shown.map(rowOf) });
		},
	});
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
	if (!outcome) return `${lineOf(record)}\nLast: ${sanitize(activity ?? "nothing yet")}`;
	return `${lineOf(record)}\n${reportFor(await wholeOutcome(record, outcome), record)}`;
}

function lineOf(record: AgentRecord): string {
	const { id: agentId, run, status, type, task, model, activity } = record;
	const time = formatDuration(durationOf(record));
	const doing = isSettled(status) || activity === undefined ? "" : `; ${sanitize(activity)}`;
	return `- ${runIdOf({ agentId, run })} ${status} ${time} ${sanitize(type)} (${model ?? "?"}): ${short(task)}${doing}`;
}

function rowOf(record: AgentRecord): BackgroundRow {
	const { id: agentId, run, status, type, task, cwd, model, requestedModel, queuedAt, completedAt, artifacts } = record;
	const structured = structuredDetails(record);
	return {
		runId: runIdOf({ agentId, run }),
		status: isSettled(status) ? status : "running",
		preset: type,
		task: short(task),
		cwd,
		...(requestedModel === undefined ? {} : { requestedModel }),
		...(model === undefined ? {} : { resolvedModel: model }),
		startedAt: queuedAt,
		...(completedAt === undefined ? {} : { completedAt }),
		...(artifacts === undefined ? {} : { artifacts }),
		...(structured === undefined ? {} : { structured }),
		...(record.attempts === undefined ? {} : { attempts: record.attempts }),
	};
}

function short(task: string): string {
	const line = sanitize(task);
	return line.length > TASK_CHARACTERS ? `${line.slice(0, TASK_CHARACTERS - 1)}…` : line;
}

function told(text: string, details: StatusDetails) {
	return { content: [{ type: "text" as const, text }], details };
}
