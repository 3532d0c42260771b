/** Who can answer a question that an agent asks. Pure. */
import type { AgentRecord } from "./record.ts";

export interface Question {
	question: string;
	/** What the one who answers has to know. */
	context?: string;
	/** Used when nobody answers in time. */
	defaultAnswer?: string;
	/** How long to wait before the default counts. Without one it waits for ever. */
	timeoutMs?: number;
}

/** `by` says whose answer it is; `nobody` means that the agent has to decide by itself. */
export type Answer = { by: "agent" | "session" | "user" | "default"; text: string } | { by: "nobody" };

/** What a question comes to when nobody answers it. */
export function unanswered({ defaultAnswer }: Question): Answer {
	return defaultAnswer === undefined ? { by: "nobody" } : { by: "default", text: defaultAnswer };
}

/** To whom a question goes. */
export type Addressee = { who: "agent"; agentId: string } | { who: "session" } | { who: "user" } | { who: "nobody" };

/** What an agent reads when one below it asks. */
export function questionMessage(agentId: string, { question, context }: Question): string {
	const about = context === undefined ? "" : `\nContext: ${context}`;
	return `Agent ${agentId}, which you launched, asks: ${question}${about}\nAnswer it with reply_subagent.`;
}

/** What the manager cannot know by itself. */
export interface Audience {
	/** Whether the session that launched the tree can take a turn: it exists, and is not blocked in a call that waits. */
	sessionCanAnswer: (root: AgentRecord) => boolean;
	/** Whether there is a person to ask. */
	userCanAnswer: () => boolean;
}

/**
 * The nearest who can take a turn: an agent above the asker that works and is not itself blocked, then the session,
 * then the user. `ancestors` are nearest first; `isBlocked` says who waits in a call.
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
