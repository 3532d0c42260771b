/** `ask_main_session`, the one tool every child has: ask instead of guess. It waits until somebody answers. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import type { Answer } from "../asking.ts";
import type { Manager } from "../manager.ts";

const parameters = Type.Object({
	question: Type.String({ description: "One concrete question" }),
	context: Type.Optional(Type.String({ description: "What is needed to answer it" })),
	default_answer: Type.Optional(Type.String({ description: "What to assume when nobody answers" })),
	timeout: Type.Optional(Type.Number({ description: "Seconds to wait before the default counts" })),
});

/** `manager` may be any that knows the agent. */
export function askTool(manager: Pick<Manager, "ask">, agentId: string): ToolDefinition {
	return defineTool({
		name: "ask_main_session",
		label: "Ask",
		description:
			"Ask whoever gave you this task, when a decision or a fact that only they have keeps you from going on. Waits for the answer. What you can find out or reasonably decide yourself, do not ask.",
		promptSnippet: "Ask whoever gave you the task instead of guessing",
		parameters,
		async execute(_callId, { question, context, default_answer, timeout }, signal) {
			if (question.trim() === "") throw new Error("The question is empty.");
			const asked = {
				question,
				...(context === undefined ? {} : { context }),
				...(default_answer === undefined ? {} : { defaultAnswer: default_answer }),
				...(timeout === undefined || !(timeout > 0) ? {} : { timeoutMs: timeout * 1_000 }),
			};
			const answer = await manager.ask(agentId, asked, signal);
			return { content: [{ type: "text", text: replyOf(answer) }], details: { by: answer.by } };
		},
	});
}

function replyOf(answer: Answer): string {
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
