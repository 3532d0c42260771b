/** `/subagent reply`: answers an agent's question. An answer must never reach a question that it was not meant for. */
import { AgentError, type AgentRecord } from "@pi-subagents/core";
import { sanitize } from "@pi-subagents/progress";
import { allAgents } from "../agents.ts";
import { agentOffers } from "./offers.ts";
import type { CommandDeps, Subcommand } from "./subcommand.ts";
import { called, firstWord } from "./words.ts";

/** Ids look like short words: less of one is taken for the beginning of the answer. */
const LEAST_PREFIX = 4;

export function replyCommand({ manager }: CommandDeps): Subcommand {
	const agents = allAgents(manager, "user");
	return {
		name: "reply",
		args: "[id] <text>",
		about: "answer an agent's question; without an id that of the only one that waits",
		offers: () => agentOffers(agents.list().filter(isWaiting)),
		run(rest) {
			const { agent, text } = parseReply(rest, agents.list());
			agents.answer(agent.id, text);
			return [{ text: `${called(agent)} has your answer.`, tone: "strong" }];
		},
	};
}

export function parseReply(rest: string, agents: readonly AgentRecord[]): { agent: AgentRecord; text: string } {
	const [word, afterWord] = firstWord(rest);
	const addressed = addressee(word, agents);
	const agent = addressed ?? theOnlyOne(agents.filter(isWaiting));
	const text = addressed ? afterWord : rest.trim();
	if (!isWaiting(agent))
		throw new AgentError("wrong_state", `${called(agent)} is ${agent.status}; it does not wait for an answer.`);
	if (text === "")
		throw new AgentError("bad_request", `What is the answer? /subagent reply ${agent.id} <text>\n${asked(agent)}`);
	return { agent, text };
}

/** One that does not wait counts by its id only: its name could be the first word of an answer. */
function addressee(word: string, agents: readonly AgentRecord[]): AgentRecord | undefined {
	const key = word.toLowerCase();
	const waiting = agents.filter(isWaiting);
	const exact =
		agents.find(({ id }) => id.toLowerCase() === key) ?? waiting.findLast(({ name }) => name?.toLowerCase() === key);
	if (exact || key.length < LEAST_PREFIX) return exact;
	const beginsWithIt = ({ id }: AgentRecord) => id.toLowerCase().startsWith(key);
	const [only, ...others] = waiting.filter(beginsWithIt);
	if (others.length > 0) return undefined;
	return only ?? agents.find(beginsWithIt);
}

function theOnlyOne(waiting: readonly AgentRecord[]): AgentRecord {
	const [only, ...others] = waiting;
	if (!only) throw new AgentError("unknown_agent", "No agent waits for an answer.");
	if (others.length === 0) return only;
	const list = waiting.map((agent) => `- ${asked(agent)}`).join("\n");
	throw new AgentError(
		"unknown_agent",
		`Several agents wait for an answer; say which: /subagent reply <id> <text>\n${list}`,
	);
}

function asked(agent: AgentRecord): string {
	return `${called(agent)} asks: ${sanitize(agent.question ?? "")}`;
}

function isWaiting({ status }: AgentRecord): boolean {
	return status === "waiting";
}
