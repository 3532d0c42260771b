/** `get_subagent_result`: what an agent found, or what it is doing. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord, type Agents, findAgent, runIdOf, type Store } from "@pi-subagents/core";
import { cachedPercentOf, detailsOf, outcomeForModel, saidOf } from "@pi-subagents/core/outcome-text";
import { fence, formatTokens, sanitize } from "@pi-subagents/progress";
import { wholeOutcome } from "@pi-subagents/runs";
import { Type } from "typebox";
import { formatPeek, peek, peekParameter } from "./peek/peek.ts";
import type { ResultClaims } from "./ports.ts";
import { renderToldResult } from "./render/result.ts";
import { told } from "./result-text.ts";
import { bounded, RunFailure } from "./waiting/bounded.ts";
import type { KeepDetails } from "./waiting/failed-details.ts";
import type { UsageReport } from "./waiting/usage-report.ts";

const parameters = Type.Object({
	agent_id: Type.String({ description: "Id, start of an id, or name" }),
	wait: Type.Optional(Type.Boolean({ description: "Until it finishes" })),
	verbose: Type.Optional(Type.Boolean({ description: "Add task, usage, last steps" })),
	peek: Type.Optional(peekParameter),
});

export interface GetResultToolDeps {
	agents: Pick<Agents, "list" | "wait">;
	/** Resolves when the logs hold what has happened so far. */
	flushLogs: () => Promise<void>;
	/** Absent: results are announced nowhere else. */
	claims?: ResultClaims;
	/** Absent: the usage of agents is not added to that of the session. */
	usage?: UsageReport;
	/** Keeps the details of a call that fails, as `keepFailedDetails` does. Absent: pi drops them. */
	onFailed?: KeepDetails;
	/** Given where the caller is the one who answers the agents: a question then ends the wait. */
	store?: Pick<Store, "subscribe">;
	/** Ends a wait when the user types something. */
	untilSteered?: () => { signal: AbortSignal; stop: () => void };
}

export function createGetResultTool(deps: GetResultToolDeps): ToolDefinition<typeof parameters> {
	return bounded(
		defineTool({
			name: "get_subagent_result",
			label: "Agent result",
			description: "Read an agent's result, wait for it, or peek at its log. Not for polling.",
			parameters,
			async execute(callId, { agent_id, wait = false, verbose = false, peek: glance }, signal) {
				const { agents, claims, usage, flushLogs } = deps;
				const { id } = findAgent(agents.list(), agent_id);
				if (glance || verbose) await flushLogs();
				if (glance) return told(await glanceAt(findAgent(agents.list(), id), glance));
				if (wait) await untilThereIsNews(id, deps, signal);
				const record = findAgent(agents.list(), id);
				const { outcome } = record;
				if (!outcome) return told(progressOf(record));
				const { text: end, said } = outcomeForModel({ outcome: await wholeOutcome(record, outcome), record });
				const text = [end, ...(verbose ? [await closeUp(record)] : [])].join("\n\n");
				const details = detailsOf(record, { said: saidOf({ text, said }) });
				claims?.claim(record, callId);
				if (outcome.status !== "completed") throw new RunFailure(text, details);
				return { ...told(text), details, ...(usage ? { usage: usage.owed() } : {}) };
			},
			renderResult: renderToldResult,
		}),
		deps,
	);
}

/** Until it has settled, asks something, or the user does. Giving up the waiting leaves the agent alone. */
async function untilThereIsNews(
	id: string,
	{ agents, claims, store, untilSteered }: GetResultToolDeps,
	signal: AbortSignal | undefined,
): Promise<void> {
	const { run, outcome, question } = findAgent(agents.list(), id);
	if (outcome || (store && question !== undefined)) return;
	const release = claims?.expect(runIdOf({ agentId: id, run }));
	const steered = untilSteered?.();
	const asked = new AbortController();
	const leave = store?.subscribe(({ event }) => {
		// What an extension inside it asks, only the user can answer.
		if (event.agentId === id && event.type === "agent_asked" && !event.isDialog) asked.abort();
	});
	const signals = [signal, steered?.signal, asked.signal].filter((each) => each !== undefined);
	try {
		await agents.wait(id, { signal: AbortSignal.any(signals) });
	} catch (error) {
		// In these cases the model sees how far the agent is.
		if (!steered?.signal.aborted && !asked.signal.aborted) throw error;
	} finally {
		leave?.();
		steered?.stop();
		release?.();
	}
}

async function glanceAt({ id, artifacts }: AgentRecord, glance: { lines?: number; regex?: string; after?: number }) {
	if (artifacts === undefined) throw new AgentError("wrong_state", `Agent ${id} keeps no log.`);
	return formatPeek(await peek(`${artifacts}/transcript.log`, glance));
}

/** What an agent does or asks, between words of ours. */
const LINE = { isLine: true, most: 2_000 };

function progressOf(record: AgentRecord): string {
	const { id, type, status, activity, toolUses, turns, question } = record;
	const last = activity === undefined ? "nothing yet" : fence("activity", activity, LINE);
	const waits = status === "waiting" ? " An extension inside it asks the user, who alone can answer." : "";
	const asks =
		question === undefined ? waits : ` It asks: ${fence("question", question, LINE)} Answer with reply_subagent.`;
	return `Agent ${id} (${sanitize(type)}) is ${status}, ${turns} turns, ${toolUses} tool calls. Last: ${last}.${asks}`;
}

async function closeUp(record: AgentRecord): Promise<string> {
	const { task, model, turns, usage, artifacts } = record;
	const log =
		artifacts === undefined
			? ""
			: `\nLog (${artifacts}/transcript.log):\n${formatPeek(await peek(`${artifacts}/transcript.log`, { lines: 20 }))}`;
	const input = `${formatTokens(usage.input + usage.cacheRead + usage.cacheWrite)} in`;
	const tokens = `${input} (${cachedPercentOf(record)}% from the cache), ${formatTokens(usage.output)} out`;
	return `Task: ${sanitize(task).slice(0, 500)}\nModel: ${sanitize(model ?? "?")}, ${turns} turns, ${tokens}${log}`;
}
