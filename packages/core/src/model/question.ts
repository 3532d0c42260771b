/** Agents' questions and who can answer them. Pure. */
import { fence } from "@pi-subagents/progress";
import type { AgentRecord } from "./record.ts";
import type { Answer, Question, WhyUnanswered } from "./schema/question.ts";

/** The answer to a question that no one answers. */
export function unanswered({ defaultAnswer }: Question, why: WhyUnanswered): Answer {
	return defaultAnswer === undefined ? { by: "nobody", why } : { by: "default", text: defaultAnswer, why };
}

/** Who gets the question. */
export type Addressee = { who: "agent"; agentId: string } | { who: "session" } | { who: "user" } | { who: "nobody" };

/** Longer material belongs in a file that the question names. */
const QUESTION_CHARACTERS = 2_000;
const CONTEXT_CHARACTERS = 4_000;

/** The question as the answering model reads it. */
export function fencedQuestion({ question, context }: Question): string {
	const about = context === undefined ? [] : [fence("context", context, { maxLength: CONTEXT_CHARACTERS })];
	return [fence("question", question, { maxLength: QUESTION_CHARACTERS }), ...about].join("\n");
}

/** The message to an agent whose descendant asks. */
export function questionMessage(agentId: string, question: Question): string {
	return `Agent ${agentId}, which you launched, asks:\n${fencedQuestion(question)}\nAnswer it with reply_subagent.`;
}

/** What only the host knows. */
export interface Audience {
	/** Whether the session can take a turn: it exists and is not blocked in a waiting call. */
	sessionCanAnswer: (root: AgentRecord) => boolean;
	/** Whether there is a person to ask. */
	userCanAnswer: () => boolean;
}

/**
 * The nearest who can take a turn: a running ancestor that is not blocked, then the session, then the user.
 * `ancestors` are nearest first; `isBlocked` tells which wait in a call.
 */
export function addresseeOf(
	asker: AgentRecord,
	ancestors: readonly AgentRecord[],
	isBlocked: (agentId: string) => boolean,
	audience: Audience | undefined,
): Addressee {
	const able = ancestors.find(({ id, status }) => status === "running" && !isBlocked(id));
	if (able) return { who: "agent", agentId: able.id };
	if (audience?.sessionCanAnswer(ancestors.at(-1) ?? asker)) return { who: "session" };
	return audience?.userCanAnswer() ? { who: "user" } : { who: "nobody" };
}
