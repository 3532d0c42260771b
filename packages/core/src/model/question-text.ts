/** The `ask_main_session` tool as a child's model sees it, wherever the child runs. Pure. */
import { fence } from "@pi-subagents/progress";
import { defined } from "../base/values.ts";
import type { Answer, Question, WhyUnanswered } from "./schema/question.ts";

export const ASK_TOOL = {
	name: "ask_main_session",
	label: "Ask",
	description:
		"Ask the one who gave you this task when you need a decision or a fact that only they have. Waits for the answer. Do not ask what you can find out or reasonably decide yourself.",
	promptSnippet: "Ask whoever gave you the task instead of guessing",
	parameters: {
		type: "object",
		properties: {
			question: { type: "string", description: "One concrete question" },
			context: { type: "string", description: "What is needed to answer it" },
			default_answer: { type: "string", description: "What to assume without an answer" },
			timeout: { type: "number", description: "Seconds to wait before the default counts" },
		},
		required: ["question"],
	},
} as const;

/** The tool's parameters. */
export interface AskParameters {
	question: string;
	context?: string;
	default_answer?: string;
	timeout?: number;
}

/** Throws if the question is empty; the model reads the error. */
export function questionOf({ question, context, default_answer, timeout }: AskParameters): Question {
	if (question.trim() === "") throw new Error("The question is empty.");
	return {
		question,
		...defined({ context, defaultAnswer: default_answer }),
		...(timeout === undefined || !(timeout > 0) ? {} : { timeoutMs: timeout * 1_000 }),
	};
}

/** What the tool returns. */
export function replyOf(answer: Answer): string {
	switch (answer.by) {
		case "nobody":
			return `${UNANSWERED[answer.why ?? "absent"]} Decide yourself, and say in your result what you decided and why.`;
		case "default":
			return `${UNANSWERED[answer.why ?? "timeout"]} Continue with your default: ${answer.text}`;
		case "user":
			return `Answer from the user: ${answer.text}`;
		case "session":
		case "agent":
			// A model's words must not pass for the user's answer.
			return `Answer from ${WHO[answer.by]}:\n${fence("reply", answer.text, { maxLength: REPLY_CHARACTERS })}`;
	}
}

const UNANSWERED: Record<WhyUnanswered, string> = {
	dismissed: "The user read your question and dismissed it without an answer.",
	timeout: "No answer in time.",
	absent: "No one can answer now.",
};

const WHO = { session: "the main session", agent: "the agent that launched you" };
const REPLY_CHARACTERS = 50_000;
