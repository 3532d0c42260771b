/** Token counts for replies that do not state them: about four characters per token, as pi estimates. */
import type { Reply, ReplyUsage } from "./reply.ts";
import type { RequestView } from "./request.ts";

export function usageOf(reply: Reply, request: RequestView): ReplyUsage {
	if (reply.usage) return reply.usage;
	const asked = request.systemPrompt.length + request.messages.reduce((sum, message) => sum + message.text.length, 0);
	const answered = [reply.thinking ?? "", reply.text ?? "", JSON.stringify(reply.toolCalls ?? "")].join("");
	return { input: Math.ceil(asked / 4), output: Math.ceil(answered.length / 4) };
}
