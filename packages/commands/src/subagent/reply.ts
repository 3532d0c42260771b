/** `/subagent reply`: answers an agent's question. An answer must never reach another question. */
import { AgentError, type AgentRecord, allAgents } from "@pi-subagents/core";
import { nameKey } from "@pi-subagents/core/internal/base";
import { lookOf, sanitize } from "@pi-subagents/progress";
import type { CommandDeps, Subcommand } from "../subcommand.ts";
import { agentLabel, firstWord } from "../text/agent-text.ts";
import { agentCompletions } from "./completions.ts";

/** A shorter prefix could be the first word of the answer. */
const MIN_PREFIX = 4;

export function replyCommand({ manager }: CommandDeps): Subcommand {
	const agents = allAgents(manager, "user");
	return {
		name: "reply",
		args: "[id] <text>",
		about: "answer an agent's question; the id is optional if only one is waiting",
		completions: () => agentCompletions(agents.list().filter(isWaiting)),
		run(rest) {
			const { agent, text } = parseReply(rest, agents.list());
			agents.answer(agent.id, text);
			return [{ text: `${agentLabel(agent)} has your answer.`, tone: "strong" }];
		},
	};
}

export function parseReply(rest: string, agents: readonly AgentRecord[]): { agent: AgentRecord; text: string } {
	const [word, afterWord] = firstWord(rest);
	const addressed = addressee(word, agents);
	const agent = addressed ?? onlyWaiting(agents.filter(isWaiting));
	const text = addressed ? afterWord : rest.trim();
	if (!isWaiting(agent))
		throw new AgentError(
			"wrong_state",
			`${agentLabel(agent)} is ${lookOf(agent).word}; it is not waiting for an answer.`,
		);
	if (text === "")
		throw new AgentError(
			"bad_request",
			`What is the answer? /subagent reply ${agent.id} <text>\n${questionText(agent)}`,
		);
	return { agent, text };
}

/** Agents that are not waiting match by id only: their name could be the first word of an answer. */
function addressee(word: string, agents: readonly AgentRecord[]): AgentRecord | undefined {
	const key = nameKey(word);
	const waiting = agents.filter(isWaiting);
	const exact =
		agents.find(({ id }) => id.toLowerCase() === key) ??
		waiting.findLast(({ name }) => name !== undefined && nameKey(name) === key);
	if (exact || key.length < MIN_PREFIX) return exact;
	const beginsWithIt = ({ id }: AgentRecord) => id.toLowerCase().startsWith(key);
	const [only, ...others] = waiting.filter(beginsWithIt);
	if (others.length > 0) return undefined;
	return only ?? agents.find(beginsWithIt);
}

function onlyWaiting(waiting: readonly AgentRecord[]): AgentRecord {
	const [only, ...others] = waiting;
	if (!only) throw new AgentError("unknown_agent", "No agent is waiting for an answer.");
	if (others.length === 0) return only;
	const list = waiting.map((agent) => `- ${questionText(agent)}`).join("\n");
	throw new AgentError(
		"unknown_agent",
		`Several agents are waiting for an answer; name one: /subagent reply <id> <text>\n${list}`,
	);
}

function questionText(agent: AgentRecord): string {
	return `${agentLabel(agent)} asks: ${sanitize(agent.question ?? "")}`;
}

function isWaiting({ status }: AgentRecord): boolean {
	return status === "waiting";
}
