/** Between the script's vocabulary and pi-ai's messages. */
import {
	type AssistantMessage,
	calculateCost,
	contentText,
	fauxAssistantMessage,
	fauxText,
	fauxThinking,
	fauxToolCall,
	getCurrentSystemPrompt,
	getCurrentTools,
	type JsonObject,
	type Message,
	type Model,
	type TranscriptContext,
	type Usage,
} from "@earendil-works/pi-ai";
import type { Fault, Reply, ReplyUsage } from "../script/reply.ts";
import { type MessageView, type RequestParts, type RequestView, toolCallId } from "../script/request.ts";

export function partsOfContext(model: string, context: TranscriptContext): RequestParts {
	return {
		model,
		systemPrompt: getCurrentSystemPrompt(context.messages),
		messages: context.messages.flatMap(messageViewOf),
		tools: getCurrentTools(context.messages).map(({ name, description, parameters }) => ({
			name,
			description,
			parameters,
		})),
	};
}

function messageViewOf(message: Message): MessageView[] {
	switch (message.role) {
		case "system":
			return [];
		case "user":
			return [{ role: "user", text: contentText(message.content) }];
		case "toolResult":
			return [{ role: "tool", id: message.toolCallId, name: message.toolName, text: contentText(message.content) }];
		case "assistant": {
			const calls = message.content.filter((block) => block.type === "toolCall");
			const toolCalls = calls.map((call) => ({ id: call.id, name: call.name, args: call.arguments }));
			return [{ role: "assistant", text: contentText(message.content), toolCalls }];
		}
	}
}

/** The reply as a message, once its gate is open. An abort ends the waiting; the faux core then reports it. */
export async function messageOf(reply: Reply, request: RequestView, signal?: AbortSignal): Promise<AssistantMessage> {
	if (reply.gate) await untilAborted(reply.gate, signal);
	if (reply.fault?.kind === "hang") await untilAborted(new Promise(() => {}), signal);
	const error = reply.error ?? (reply.fault && messageOfFault(reply.fault));
	if (error !== undefined) return fauxAssistantMessage([], { stopReason: "error", errorMessage: error });

	const toolCalls = (reply.toolCalls ?? []).map((call, index) =>
		fauxToolCall(call.name, call.args as JsonObject, { id: call.id ?? toolCallId(request, index) }),
	);
	const thinking = reply.thinking === undefined ? [] : [fauxThinking(reply.thinking)];
	const text = reply.text === undefined ? [] : [fauxText(reply.text)];
	return fauxAssistantMessage([...thinking, ...text, ...toolCalls], {
		stopReason: reply.stopReason ?? (toolCalls.length > 0 ? "toolUse" : "stop"),
	});
}

function untilAborted(promise: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
	return new Promise((resolve) => {
		const done = () => resolve();
		promise.then(done, done);
		if (signal?.aborted) done();
		else signal?.addEventListener("abort", done, { once: true });
	});
}

/** As pi words them when they happen on a wire, so that its decision to retry is the same. */
function messageOfFault(fault: Fault): string | undefined {
	switch (fault.kind) {
		case "http":
			return typeof fault.body === "string"
				? `${fault.status} ${fault.body}`
				: `${fault.status}: ${errorIn(fault.body)}`;
		case "cut":
			return "terminated";
		case "garbage":
			return "Unexpected end of JSON input";
		case "hang":
			return undefined;
	}
}

/** Of `{ error: … }` pi shows what is inside. */
function errorIn(body: unknown): string {
	const isWrapped = typeof body === "object" && body !== null && "error" in body;
	return JSON.stringify((isWrapped ? body.error : body) ?? {});
}

export function wireUsage(usage: ReplyUsage, model: Model<string>): Usage {
	const { input, output, cacheRead = 0, cacheWrite = 0 } = usage;
	const totalTokens = input + output + cacheRead + cacheWrite;
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	const whole: Usage = { input, output, cacheRead, cacheWrite, totalTokens, cost };
	calculateCost(model, whole); // fills in `cost`
	return whole;
}
