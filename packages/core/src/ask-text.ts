/** `ask_main_session` as a child's model knows it, wherever the child runs: its words and its JSON Schema. Pure. */
import type { Answer, Question } from "./asking.ts";

export const ASK_TOOL = {
	name: "ask_main_session",
	label: "Ask",
	description:
		"Ask whoever gave you this task, when a decision or a fact that only they have keeps you from going on. Waits for the answer. What you can find out or reasonably decide yourself, do not ask.",
	promptSnippet: "Ask whoever gave you the task instead of guessing",
	parameters: {
		type: "object",
		properties: {
			question: { type: "string", description: "One concrete question" },
			context: { type: "string", description: "What is needed to answer it" },
			default_answer: { type: "string", description: "What to assume when nobody answers" },
			timeout: { type: "number", description: "Seconds to wait before the default counts" },
		},
		required: ["question"],
	},
} as const;

/** What the schema lets through. */
export interface AskParameters {
	question: string;
	context?: string;
	default_answer?: string;
	timeout?: number;
}

/** Throws when there is nothing asked; the model reads why. */
export function questionOf({ question, context, default_answer, timeout }: AskParameters): Question {
	if (question.trim() === "") throw new Error("The question is empty.");
	return {
		question,
		...(context === undefined ? {} : { context }),
		...(default_answer === undefined ? {} : { defaultAnswer: default_answer }),
		...(timeout === undefined || !(timeout > 0) ? {} : { timeoutMs: timeout * 1_000 }),
	};
}

/** What the tool returns. */
export function replyOf(answer: Answer): string {
	switch (answer.by) {
		case "nobody":
			return "Nobody can answer now. Decide by yourself, and say in your result what you decided and why.";
		case "default":
			return `Nobody answered in time. Go on with your default: ${answer.text}`;
		case "user":
		case "session":
		case "agent":
			return `Answer from ${WHO[answer.by]}: ${answer.text}`;
	}
}

const WHO = { user: "the user", session: "the main session", agent: "the agent that launched you" };
