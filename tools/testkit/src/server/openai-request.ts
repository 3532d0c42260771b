/** Reads a chat-completions request body. Lenient: a test must see odd requests too, not crash on them. */
import type { MessageView, RequestParts, ToolCallView, ToolView } from "../script/request.ts";

type Json = Readonly<Record<string, unknown>>;

export function partsOfBody(body: unknown): RequestParts {
	const request = asObject(body);
	const messages = asArray(request.messages).map(asObject);
	const isSystem = (message: Json) => message.role === "system" || message.role === "developer";
	return {
		model: asString(request.model),
		systemPrompt: messages
			.filter(isSystem)
			.map((message) => contentText(message.content))
			.join("\n\n"),
		messages: messagesOf(messages.filter((message) => !isSystem(message))),
		tools: asArray(request.tools).map(toolOf),
	};
}

function messagesOf(messages: readonly Json[]): MessageView[] {
	const nameOfCall = new Map<string, string>();
	return messages.map((message): MessageView => {
		const text = contentText(message.content);
		if (message.role === "tool") {
			const id = asString(message.tool_call_id);
			return { role: "tool", id, name: nameOfCall.get(id) ?? asString(message.name), text };
		}
		if (message.role !== "assistant") return { role: "user", text };
		const toolCalls = asArray(message.tool_calls).map(toolCallOf);
		for (const call of toolCalls) nameOfCall.set(call.id, call.name);
		return { role: "assistant", text, toolCalls };
	});
}

function toolCallOf(value: unknown): ToolCallView {
	const call = asObject(value);
	const fn = asObject(call.function);
	return { id: asString(call.id), name: asString(fn.name), args: parseJson(asString(fn.arguments)) };
}

function toolOf(value: unknown): ToolView {
	const fn = asObject(asObject(value).function);
	return { name: asString(fn.name), description: asString(fn.description), parameters: fn.parameters };
}

function contentText(content: unknown): string {
	if (typeof content === "string") return content;
	return asArray(content)
		.map((part) => asString(asObject(part).text))
		.join("\n");
}

/** The value, or the text itself if it is not JSON. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

function asObject(value: unknown): Json {
	return typeof value === "object" && value !== null ? (value as Json) : {};
}

function asArray(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

function asString(value: unknown): string {
	return typeof value === "string" ? value : "";
}
