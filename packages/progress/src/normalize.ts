/**
 * Translates pi's session events, live or as parsed JSON lines, into our vocabulary.
 * Input is untrusted: unknown values give no event, and it never throws.
 */
import type { AssistantText, ChildEvent, Compacted, ToolCall, ToolResult } from "./schema/events.ts";
import type { Usage } from "./schema/outcome.ts";

/**
 * Translates one pi session event (or one parsed line of `pi --mode json`) into child events.
 * Streaming deltas and everything unknown give `[]`. Tool arguments are passed on as they are, not copied.
 *
 * @example
 * ```ts
 * normalize({ type: "tool_execution_start", toolCallId: "1", toolName: "read", args: { path: "src/auth.ts" } });
 * // [{ type: "tool_call", callId: "1", tool: "read", args: { path: "src/auth.ts" } }]
 * ```
 */
export function normalize(raw: unknown): ChildEvent[] {
	if (!isRecord(raw)) return [];
	try {
		return translate(raw);
	} catch {
		return []; // a getter or proxy of the caller threw
	}
}

/**
 * The new text in a `message_update` event of pi. Empty for every other event.
 *
 * @example
 * ```ts
 * textDelta({ type: "message_update", assistantMessageEvent: { type: "text_delta", delta: "The launch co" } }); // "The launch co"
 * ```
 */
export function textDelta(raw: unknown): string {
	try {
		const update = isRecord(raw) && raw.type === "message_update" ? raw.assistantMessageEvent : undefined;
		return isRecord(update) && update.type === "text_delta" ? string(update.delta) : "";
	} catch {
		return ""; // as in `normalize`
	}
}

/** A step of a text or thinking block that the model is writing. */
export interface BlockDelta {
	kind: "text" | "thinking";
	/** The place of the block in its message. */
	index: number;
	/** What was added. */
	text: string;
	/** The block begins. */
	isStart?: true;
	/** The block is complete: all of it. */
	whole?: string;
}

/**
 * What a `message_update` event of pi says about the text or the thinking that is being written. Undefined for every
 * other event.
 *
 * @example
 * ```ts
 * const assistantMessageEvent = { type: "thinking_delta", contentIndex: 0, delta: "First, " };
 * blockDelta({ type: "message_update", assistantMessageEvent }); // { kind: "thinking", index: 0, text: "First, " }
 * ```
 */
export function blockDelta(raw: unknown): BlockDelta | undefined {
	try {
		const update = isRecord(raw) && raw.type === "message_update" ? raw.assistantMessageEvent : undefined;
		return isRecord(update) ? fromUpdate(update) : undefined;
	} catch {
		return undefined; // as in `normalize`
	}
}

function fromUpdate(update: Record<string, unknown>): BlockDelta | undefined {
	const [, kind, moment] = /^(text|thinking)_(start|delta|end)$/.exec(string(update.type)) ?? [];
	if (kind !== "text" && kind !== "thinking") return undefined;
	const index = amount(update.contentIndex);
	// Not from `partial`: it may already contain what later events add.
	if (moment === "delta") return { kind, index, text: string(update.delta) };
	return moment === "start"
		? { kind, index, text: "", isStart: true }
		: { kind, index, text: "", whole: string(update.content) };
}

function translate(raw: Record<string, unknown>): ChildEvent[] {
	switch (raw.type) {
		case "message_end":
			return fromMessage(raw.message);
		case "tool_execution_start":
			return [toolCall(raw)];
		case "tool_execution_end":
			return [toolResult(raw)];
		case "turn_end":
			return [{ type: "turn" }];
		case "compaction_start":
			return [{ type: "compacting" }];
		case "compaction_end":
			return [compacted(raw)];
		case "auto_retry_start":
			return [
				{
					type: "retrying",
					attempt: amount(raw.attempt),
					maxAttempts: amount(raw.maxAttempts),
					delayMs: amount(raw.delayMs),
					error: string(raw.errorMessage),
				},
			];
		case "agent_settled":
			return [{ type: "idle" }];
		default:
			return []; // pi has many events that do not concern progress, and adds more
	}
}

function fromMessage(message: unknown): ChildEvent[] {
	if (!isRecord(message) || message.role !== "assistant") return [];
	const said = assistantText(message);
	return isRecord(message.usage) ? [said, { type: "usage", usage: usageFrom(message.usage) }] : [said];
}

function assistantText(message: Record<string, unknown>): AssistantText {
	const { text, callsTool } = readContent(message.content);
	const event: AssistantText = { type: "assistant_text", text };
	const failed = message.stopReason === "error" || message.stopReason === "aborted";
	// Some providers report `stop` for a message that calls tools; the run would then look finished.
	const stopReason = callsTool && !failed ? "toolUse" : string(message.stopReason);
	if (stopReason) event.stopReason = stopReason;
	const model = string(message.responseModel) || string(message.model);
	const provider = string(message.provider);
	if (model) event.model = provider ? `${provider}/${model}` : model;
	const error = string(message.errorMessage);
	if (failed && error) event.error = error;
	return event;
}

function readContent(content: unknown): { text: string; callsTool: boolean } {
	if (!Array.isArray(content)) return { text: string(content), callsTool: false };
	let text = "";
	let callsTool = false;
	for (const block of content) {
		if (!isRecord(block)) continue;
		if (block.type === "text") text += string(block.text);
		else if (block.type === "toolCall") callsTool = true;
	}
	return { text, callsTool };
}

function usageFrom(usage: Record<string, unknown>): Usage {
	return {
		input: amount(usage.input),
		output: amount(usage.output),
		cacheRead: amount(usage.cacheRead),
		cacheWrite: amount(usage.cacheWrite),
		cost: amount(isRecord(usage.cost) ? usage.cost.total : usage.cost),
		...(isRecord(usage.cost) && usage.cost.totalFromProvider === true && { costFromProvider: true }),
	};
}

function toolCall(raw: Record<string, unknown>): ToolCall {
	const tool = string(raw.toolName);
	const args = isRecord(raw.args) ? raw.args : {};
	const callId = string(raw.toolCallId);
	return callId ? { type: "tool_call", callId, tool, args } : { type: "tool_call", tool, args };
}

function toolResult(raw: Record<string, unknown>): ToolResult {
	const tool = string(raw.toolName);
	const isError = raw.isError === true;
	const callId = string(raw.toolCallId);
	const terminates = isRecord(raw.result) && raw.result.terminate === true;
	return {
		type: "tool_result",
		...(callId ? { callId } : {}),
		tool,
		isError,
		...(terminates ? { terminates } : {}),
	};
}

function compacted({ result, aborted, reason }: Record<string, unknown>): Compacted {
	const event: Compacted = { type: "compacted", ok: isRecord(result) && aborted !== true };
	if (reason === "manual" || reason === "threshold" || reason === "overflow") event.reason = reason;
	if (isRecord(result) && typeof result.tokensBefore === "number") event.tokensBefore = amount(result.tokensBefore);
	return event;
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function string(value: unknown): string {
	return typeof value === "string" ? value : "";
}

/** A finite number that is not negative. */
function amount(value: unknown): number {
	return typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY ? value : 0;
}
