/** `get_subagent_result`: what an agent found, or what it is doing. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord, runIdOf, type Store } from "@pi-subagents/core";
import { formatTokens, sanitize } from "@pi-subagents/progress";
import { Type } from "typebox";
import { type Agents, findAgent } from "../agents.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { Ledger } from "../ledger.ts";
import { formatPeek, peek, peekParameter } from "../peek.ts";
import { cachedPercentOf, detailsOf } from "./details.ts";
import { reportFor } from "./report.ts";
import { told } from "./told.ts";
import { wholeOutcome } from "./whole-outcome.ts";

const parameters = Type.Object({
	agent_id: Type.String({ description: "Id, start of an id, or name" }),
	wait: Type.Optional(Type.Boolean({ description: "Until it has settled" })),
	verbose: Type.Optional(Type.Boolean({ description: "With task, usage, last steps" })),
	peek: Type.Optional(peekParameter),
});

export interface ResultDeps {
	agents: Agents;
	/** Resolves when the logs hold what has happened so far. */
	flushLogs: () => Promise<void>;
	delivery?: Delivery;
	ledger?: Ledger;
	/** Where questions of agents come to who waits here: a wait ends with one, since nobody else would answer it. */
	store?: Store;
	/** Ends a wait when the user has something to say. */
	untilSteered?: () => { signal: AbortSignal; stop: () => void };
}

export function getResultTool(deps: ResultDeps): ToolDefinition<typeof parameters> {
	return defineTool({
		name: "get_subagent_result",
		label: "Agent result",
		description: "Read an agent's result, wait for it, or peek at its log. Not for polling.",
		parameters,
		async execute(_callId, { agent_id, wait = false, verbose = false, peek: glance }, signal) {
			const { agents, delivery, ledger, flushLogs } = deps;
			const { id } = findAgent(agents.list(), agent_id);
			if (glance || verbose) await flushLogs();
			if (glance) return told(await glanceAt(findAgent(agents.list(), id), glance));
			if (wait) await untilThereIsNews(id, deps, signal);
			const record = findAgent(agents.list(), id);
			const { outcome } = record;
			if (!outcome) return told(progressOf(record));
			const text = [
				reportFor(await wholeOutcome(record, outcome), record),
				...(verbose ? [await closeUp(record)] : []),
			].join("\n\n");
			delivery?.claim(record);
			if (outcome.status !== "completed") throw new Error(text);
			return { ...told(text), details: detailsOf(record), ...(ledger ? { usage: ledger.owed() } : {}) };
		},
	});
}

/** Until it has settled, asks something, or the user does. Giving up the waiting leaves the agent alone. */
async function untilThereIsNews(
	id: string,
	{ agents, delivery, store, untilSteered }: ResultDeps,
	signal: AbortSignal | undefined,
): Promise<void> {
	const { run, outcome, status } = findAgent(agents.list(), id);
	if (outcome || (store && status === "waiting")) return;
	const release = delivery?.expect(runIdOf({ agentId: id, run }));
	const steered = untilSteered?.();
	const asked = new AbortController();
	const leave = store?.subscribe((event) => {
		if (event.agentId === id && event.type === "agent_asked") asked.abort();
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

function progressOf(record: AgentRecord): string {
	const { id, type, status, activity, toolUses, turns, question } = record;
	const asks = question === undefined ? "" : ` It asks: ${sanitize(question)} Answer with reply_subagent.`;
	return `Agent ${id} (${sanitize(type)}) is ${status}, ${turns} turns, ${toolUses} tool calls. Last: ${sanitize(activity ?? "nothing yet")}.${asks}`;
}

async function closeUp(record: AgentRecord): Promise<string> {
	const { task, model, turns, usage, artifacts } = record;
	const log =
		artifacts === undefined
			? ""
			: `\nLog (${artifacts}/transcript.log):\n${formatPeek(await peek(`${artifacts}/transcript.log`, { lines: 20 }))}`;
	const input = `${formatTokens(usage.input + usage.cacheRead + usage.cacheWrite)} in`;
	const tokens = `${input} (${cachedPercentOf(record)}% from the cache), ${formatTokens(usage.output)} out`;
	return `Task: ${sanitize(task).slice(0, 500)}\nModel: ${model ?? "?"}, ${turns} turns, ${tokens}${log}`;
}
