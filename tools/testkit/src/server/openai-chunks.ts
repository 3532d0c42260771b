/** Writes a reply as the data of chat-completions events. Pure: the sending is in `send.ts`. */
import { type Reply, type ReplyUsage, type ToolCallReply, usageOf } from "../script/reply.ts";
import { type RequestView, toolCallId } from "../script/request.ts";

const DEFAULT_CHUNK_SIZE = 32;
/** pi reads the arguments of a call again with every chunk, and in JSON mode prints all that was written so far. */
const MOST_CHUNKS = 100;
const FINISH_REASONS = { stop: "stop", length: "length", toolUse: "tool_calls" } as const;

/** The events of a whole answer, without the `data: ` framing. */
export function chunksOf(reply: Reply, request: RequestView): string[] {
	const size = reply.chunkSize;
	const deltas = [
		...slices(reply.thinking ?? "", size).map((text) => ({ reasoning_content: text })),
		...slices(reply.text ?? "", size).map((text) => ({ content: text })),
		...(reply.toolCalls ?? []).flatMap((call, index) => toolCallDeltas(call, index, { size, request })),
	];
	const finish = FINISH_REASONS[reply.stopReason ?? (reply.toolCalls?.length ? "toolUse" : "stop")];
	const head = { id: `chatcmpl-${request.number}`, object: "chat.completion.chunk", created: 0, model: request.model };
	return [
		...deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })),
		{ ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
		{ ...head, choices: [], usage: wireUsage(usageOf(reply, request)) },
	]
		.map((event) => JSON.stringify(event))
		.concat("[DONE]");
}

function toolCallDeltas(
	call: ToolCallReply,
	index: number,
	from: { size: number | undefined; request: RequestView },
): object[] {
	const id = call.id ?? toolCallId(from.request, index);
	const opening = { tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }] };
	const rest = slices(JSON.stringify(call.args), from.size);
	return [opening, ...rest.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] }))];
}

/** By code points, so that no chunk ends inside a surrogate pair. */
function slices(text: string, given: number | undefined): string[] {
	const points = Array.from(text);
	const size = given ?? Math.max(DEFAULT_CHUNK_SIZE, Math.ceil(points.length / MOST_CHUNKS));
	const count = Math.ceil(points.length / size);
	return Array.from({ length: count }, (_, index) => points.slice(index * size, (index + 1) * size).join(""));
}

function wireUsage(usage: ReplyUsage): object {
	const { input, output, cacheRead = 0, cacheWrite = 0, cost } = usage;
	const prompt = input + cacheRead + cacheWrite;
	return {
		prompt_tokens: prompt,
		completion_tokens: output,
		total_tokens: prompt + output,
		prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
		...(cost === undefined ? {} : { cost, is_byok: false }),
	};
}
