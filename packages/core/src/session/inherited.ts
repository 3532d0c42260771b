/**
 * What a child takes over of the conversation of whoever launches it. Pure.
 *
 * The messages stay as they are wherever they can: a provider that has read them for the parent has them in its cache.
 * So nothing that differs from launch to launch, no id and no time, is put before them.
 */
import {
	CURRENT_SESSION_VERSION,
	convertToLlm,
	estimateTokens,
	type SessionHeader,
	type SessionMessageEntry,
} from "@earendil-works/pi-coding-agent";
import { INHERITED, type RunSpec } from "../runner.ts";

type Messages = Parameters<typeof convertToLlm>[0];
type Message = ReturnType<typeof convertToLlm>[number];
type AssistantMessage = Extract<Message, { role: "assistant" }>;
type SystemMessage = Extract<Message, { role: "system" }>;
type ToolResultMessage = Extract<Message, { role: "toolResult" }>;

/** How much of its context a child may begin with: the rest is for its own work. */
const SHARE = 0.5;

/** Pictures weigh megabytes on the disk and on the wire; the latest are those that are talked about. */
const MOST_IMAGES = 8;
const MOST_IMAGE_CHARACTERS = 12_000_000;

const LEFT_OUT = "[The beginning of this conversation was left out, because it is too long to hand over.]";
const NO_IMAGE = "[An image was left out.]";
const HAND_OVER = [
	"[What you have read so far is the conversation of whoever launched you, so that you know what they know.",
	"You are the agent that they launched: the next message is your task, and your answer to it goes to them.",
	"What was said before is not yours to go on with, unless the task says so.]",
].join(" ");

/**
 * `messages` are those of the parent's branch as pi has them, summaries and messages of extensions included.
 * `contextWindow` is that of the child's model, in tokens.
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

/** What a spec says that its run begins with, as a session file of pi's. */
export function inheritedEntries(
	spec: RunSpec,
	{ id, at }: { id: string; at: number },
): (SessionHeader | SessionMessageEntry)[] {
	const messages = spec[INHERITED] as readonly Message[] | undefined;
	if (!messages) throw new Error("The agent was to begin with a conversation that nobody gave to it. Launch it anew.");
	const header: SessionHeader = {
		type: "session",
		version: CURRENT_SESSION_VERSION,
		id,
		timestamp: new Date(at).toISOString(),
		cwd: spec.cwd,
	};
	return [header, ...messages.map((message, index) => entryOf(message, index, at))];
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

/** A call without a result, such as the very one that launches, and what was cut off by an error: no provider takes them. */
function withoutLooseEnds(messages: readonly Message[]): Message[] {
	const answered = new Set(messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : [])));
	const called = new Set<string>();
	return messages.flatMap((message): Message[] => {
		if (message.role === "system") return withoutWords(message);
		if (message.role === "toolResult") return called.has(message.toolCallId) ? [bare(message)] : [];
		if (message.role !== "assistant") return [message];
		const content = message.content.filter((block) => block.type !== "toolCall" || answered.has(block.id));
		// A thought belongs to what follows it; a provider that signed it refuses it alone.
		const end = content.findLastIndex(({ type }) => type !== "thinking") + 1;
		if (end === 0 || message.stopReason === "error" || message.stopReason === "aborted") return [];
		for (const block of content) if (block.type === "toolCall") called.add(block.id);
		return [unpaid(end === message.content.length ? message : { ...message, content: content.slice(0, end) })];
	});
}

/** The child has not spent it, and pi would take it for the size of a context that may have been shortened. */
function unpaid(message: AssistantMessage): AssistantMessage {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	return { ...message, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost } };
}

/** No model reads the details, which can be of any size, and what a tool has cost was paid by the parent. */
function bare({ details: _details, usage: _usage, ...message }: ToolResultMessage): ToolResultMessage {
	return message;
}

/**
 * pi replaces the sections of the parent's prompt and its tools by those of the child: in the place of the first, or,
 * for a model that takes it there, behind the conversation, which leaves all before it in the cache. Free text it keeps
 * for ever, and the parent's must not speak to the child.
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
				if (images === MOST_IMAGES || characters + block.data.length > MOST_IMAGE_CHARACTERS)
					return { type: "text" as const, text: NO_IMAGE };
				images++;
				characters += block.data.length;
				return block;
			});
			return { ...message, content };
		})
		.reverse();
}

/** Where a turn begins, if the last one fits; else within that turn, but never between a call and its result. */
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
	// What they say of prompt and tools counts on.
	const system = messages.slice(0, start).filter(({ role }) => role === "system");
	return [...system, note(LEFT_OUT, kept[0]), ...kept];
}

function note(text: string, beside: Message | undefined): Message {
	return { role: "user", content: [{ type: "text", text }], timestamp: beside?.timestamp ?? 0 };
}
