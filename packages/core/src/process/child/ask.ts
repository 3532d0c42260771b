/** `ask_main_session` in a child's own process: the question goes through the wrapper to whoever watches. */
import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { ASK_TOOL, type AskParameters, questionOf, replyOf } from "../../ask-text.ts";
import { answerIn, titleOf } from "./tunnel.ts";

export function offerAsking(pi: ExtensionAPI): void {
	const tool: Omit<ToolDefinition, "execute" | "parameters"> & { execute: Execute } = {
		...ASK_TOOL,
		async execute(_callId, parameters, signal, _onUpdate, ctx) {
			const request = { ask: "question", question: questionOf(parameters) } as const;
			const value = await ctx.ui.input(titleOf(request), undefined, signal ? { signal } : {});
			const answer = answerIn(value);
			return { content: [{ type: "text", text: replyOf(answer) }], details: { by: answer.by } };
		},
	};
	// pi takes any JSON Schema; its types know only those made with a library that must not be loaded here.
	pi.registerTool(tool as unknown as ToolDefinition);
}

type Execute = (
	...call: [string, AskParameters, ...Tail<Parameters<ToolDefinition["execute"]>>]
) => ReturnType<ToolDefinition["execute"]>;

type Tail<T extends unknown[]> = T extends [unknown, unknown, ...infer Rest] ? Rest : never;
