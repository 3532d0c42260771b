/**
 * What a child inherits of the launching agent's conversation. Pure.
 *
 * Messages stay unchanged where possible, so that the provider's cache of the parent's messages is used. So nothing
 * that differs between launches, such as an id or a time, is put before them.
 */
import {
	CURRENT_SESSION_VERSION,
	convertToLlm,
	estimateTokens,
	type SessionHeader,
	type SessionMessageEntry,
} from "@earendil-works/pi-coding-agent";
import { INHERITED, type RunSpec } from "@pi-subagents/core";

type Messages = Parameters<typeof convertToLlm>[0];
type Message = ReturnType<typeof convertToLlm>[number];
type AssistantMessage = Extract<Message, { role: "assistant" }>;
type SystemMessage = Extract<Message, { role: "system" }>;
type ToolResultMessage = Extract<Message, { role: "toolResult" }>;

/** The share of its context that a child may inherit: the rest is for its own work. */
const SHARE = 0.5;

/** Images take megabytes on disk and on the wire; the latest are the relevant ones. */
const MAX_IMAGES = 8;
const MAX_IMAGE_CHARACTERS = 12_000_000;

const LEFT_OUT = "[The beginning of this conversation was left out, because it is too long to hand over.]";
const NO_IMAGE = "[An image was left out.]";
const HAND_OVER = [
	"[So far you have read the conversation of the one who launched you, so that you know what they know.",
	"You are the agent they launched: the next message is your task, and your answer goes to them.",
	"Do not continue the earlier work unless the task says so.]",
].join(" ");

/**
 * `messages`: the parent's branch as pi has it, including summaries and extension messages. `contextWindow`: that of
 * the child's model, in tokens.
 *
 * @example
 * ```ts
 * const { messages } = ctx.sessionManager.buildSessionProjection();
 * const inherited = inheritConversation(messages, { contextWindow: model.contextWindow });
 * manager.spawn({ ...spec, inheritsContext: true, [INHERITED]: inherited });
 * ```
 */
export function inheritConversation(
	messages: Messages,
	{ contextWindow }: { contextWindow: number },
): readonly Message[] {
	const said = withFewImages(withoutLooseEnds(convertToLlm(messages)));
	const kept = withoutBeginning(said, contextWindow * SHARE);
	return [...kept, note(HAND_OVER, kept.at(-1))];
}

/** The inherited conversation of a spec as entries of a pi session file. */
export function inheritedEntries(
	spec: RunSpec,
	{ id, at }: { id: string; at: number },
): (SessionHeader | SessionMessageEntry)[] {
	const messages = spec[INHERITED] as readonly Message[] | undefined;
	if (!messages) throw new Error("The agent should start with a conversation, but none was given. Launch it again.");
	return [sessionHeader({ id, at, cwd: spec.cwd }), ...messages.map((message, index) => entryOf(message, index, at))];
}

/** The first line of a pi session file. */
export function sessionHeader({ id, at, cwd }: { id: string; at: number; cwd: string }): SessionHeader {
	return { type: "session", version: CURRENT_SESSION_VERSION, id, timestamp: new Date(at).toISOString(), cwd };
}

function entryOf(message: Message, index: number, at: number): SessionMessageEntry {
	return {
		type: "message",
		id: entryId(index),
		parentId: index === 0 ? null : entryId(index - 1),
		timestamp: new Date(at).toISOString(),
		message,
	};
}

function entryId(index: number): string {
	return index.toString(16).padStart(8, "0");
}

/** Calls without a result, such as the launching one, and messages cut off by an error: no provider accepts them. */
function withoutLooseEnds(messages: readonly Message[]): Message[] {
	const answered = new Set(messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : [])));
	const called = new Set<string>();
	return messages.flatMap((message): Message[] => {
		if (message.role === "system") return withoutWords(message);
		if (message.role === "toolResult") return called.has(message.toolCallId) ? [bare(message)] : [];
		if (message.role !== "assistant") return [message];
		const content = message.content.filter((block) => block.type !== "toolCall" || answered.has(block.id));
		// Thinking belongs to what follows; a provider that signed it refuses it alone.
		const end = content.findLastIndex(({ type }) => type !== "thinking") + 1;
		if (end === 0 || message.stopReason === "error" || message.stopReason === "aborted") return [];
		for (const block of content) if (block.type === "toolCall") called.add(block.id);
		return [unpaid(end === message.content.length ? message : { ...message, content: content.slice(0, end) })];
	});
}

/** The child did not spend it, and pi would take it for the size of the possibly shortened context. */
function unpaid(message: AssistantMessage): AssistantMessage {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	return { ...message, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost } };
}

/** Models do not read details, which can be of any size, and the parent paid for the tools. */
function bare({ details: _details, usage: _usage, ...message }: ToolResultMessage): ToolResultMessage {
	return message;
}

/**
 * pi replaces the parent's prompt sections and tools with the child's: in the first one's position, or after the
 * conversation for models that accept it there, which preserves the cache. It keeps free text forever, and the
 * parent's must not address the child.
 */
function withoutWords(message: SystemMessage): SystemMessage[] {
	const { sections, toolsAdded, toolsRemoved } = message;
	return sections || toolsAdded || toolsRemoved ? [{ ...message, content: "" }] : [];
}

function withFewImages(messages: readonly Message[]): Message[] {
	let images = 0;
	let characters = 0;
	return messages
		.toReversed()
		.map((message): Message => {
			if ((message.role !== "user" && message.role !== "toolResult") || typeof message.content === "string")
				return message;
			if (!message.content.some(({ type }) => type === "image")) return message;
			const content = message.content.map((block) => {
				if (block.type !== "image") return block;
				if (images === MAX_IMAGES || characters + block.data.length > MAX_IMAGE_CHARACTERS)
					return { type: "text" as const, text: NO_IMAGE };
				images++;
				characters += block.data.length;
				return block;
			});
			return { ...message, content };
		})
		.reverse();
}

/** Cut at the start of a turn if the last turn fits; else within that turn, but never between a call and its result. */
function withoutBeginning(messages: readonly Message[], maxTokens: number): Message[] {
	const sizes = messages.map((message) => (message.role === "system" ? 0 : estimateTokens(message)));
	let rest = sizes.reduce((sum, size) => sum + size, 0);
	if (rest <= maxTokens) return [...messages];
	const fitting = messages.flatMap(({ role }, index) => {
		const fits = rest <= maxTokens;
		rest -= sizes[index] ?? 0;
		return fits ? [{ role, index }] : [];
	});
	const start = (fitting.find(({ role }) => role === "user") ?? fitting.find(({ role }) => role === "assistant"))
		?.index;
	const kept = start === undefined ? [] : messages.slice(start);
	// Their prompt sections and tools still apply.
	const system = messages.slice(0, start).filter(({ role }) => role === "system");
	return [...system, note(LEFT_OUT, kept[0]), ...kept];
}

function note(text: string, beside: Message | undefined): Message {
	return { role: "user", content: [{ type: "text", text }], timestamp: beside?.timestamp ?? 0 };
}
