/**
 * What is in an entry, as the parts that are drawn. Entries come from files that others write, so every field is
 * checked, text is cleaned and bounded here, and nothing throws. Pure.
 */
import { describe, formatCount, type Memory, sanitize, sanitizeBlock } from "@pi-subagents/progress";
import type { ConversationEntry } from "./source.ts";

/** Clean text of several lines. */
export interface Passage {
	text: string;
	/** How many characters more there were than anybody should read here. */
	cut: number;
}

export type Part =
	/** What the agent was told: its task, and what it was told later. */
	| { kind: "told"; passage: Passage }
	| { kind: "said"; passage: Passage }
	| { kind: "thinking"; passage: Passage }
	/** `line` says what it does, `args` what with. */
	| { kind: "call"; line: string; args: readonly Argument[] }
	/** `line` says whose result it is, where that is not plain. */
	| { kind: "result"; line: string; passage: Passage; isError: boolean; endMatters: boolean }
	/** What stands beside the talk: the system prompt, a summary, a message of an extension. */
	| { kind: "aside"; label: string; passage: Passage }
	| { kind: "error"; line: string }
	| { kind: "note"; line: string }
	| { kind: "progress"; line: string };

export interface Argument {
	name: string;
	passage: Passage;
}

/** An entry, and what the next one has to know of it. */
export interface Parsed {
	parts: readonly Part[];
	/** The calls whose results may follow. */
	calls?: { count: number; memory: Memory };
}

/** Tools of pi give less. */
const MOST_CHARACTERS = 64 * 1024;
const MOST_PARTS = 200;
const MOST_ARGUMENTS = 50;
const LABEL_CHARACTERS = 200;
const LINE_CHARACTERS = 2_000;

/** Never empty: an entry that says nothing is still an entry. `before` is the one before it, if it is known. */
export function parse(entry: ConversationEntry, before?: Parsed): Parsed {
	try {
		return parseEntry(entry, before);
	} catch {
		return note("An entry cannot be shown"); // nested deeper than the stack is
	}
}

function parseEntry(entry: ConversationEntry, before: Parsed | undefined): Parsed {
	switch (entry?.type) {
		case "message":
			return parseMessage(record(entry.message), before);
		case "compaction":
			return { parts: [{ kind: "aside", label: "Context compacted", passage: passage(entry.summary) }] };
		case "progress":
			return { parts: [{ kind: "progress", line: sanitize(string(entry.text).slice(0, LINE_CHARACTERS)) }] };
		case "unreadable":
			return note(`An entry of ${formatCount(entry.bytes, "byte")} cannot be shown`);
		default:
			return note("An entry cannot be shown");
	}
}

function parseMessage(message: Readonly<Record<string, unknown>>, before: Parsed | undefined): Parsed {
	switch (message.role) {
		case "user":
			return { parts: [{ kind: "told", passage: passage(textOf(message.content)) }] };
		case "assistant":
			return parseAssistant(message);
		case "toolResult":
			return parseResult(message, before?.calls);
		case "system":
			return { parts: [{ kind: "aside", label: "System prompt", passage: passage(systemText(message)) }] };
		default:
			return { parts: [aside(message)] };
	}
}

function parseAssistant(message: Readonly<Record<string, unknown>>): Parsed {
	const parts: Part[] = [];
	let memory: Memory | undefined;
	let count = 0;
	for (const part of list(message.content).slice(0, MOST_PARTS)) {
		if (part.type === "toolCall") {
			const call = { callId: string(part.id), tool: string(part.name), args: record(part.arguments) };
			const said = describe(memory, { type: "tool_call", ...call });
			memory = said.memory;
			count++;
			parts.push({ kind: "call", line: said.line ?? (label(call.tool) || "tool"), args: argumentsOf(call.args) });
		} else if (part.type === "thinking") parts.push({ kind: "thinking", passage: passage(string(part.thinking)) });
		else if (string(part.text).trim() !== "") parts.push({ kind: "said", passage: passage(string(part.text)) });
	}
	if (typeof message.content === "string") parts.push({ kind: "said", passage: passage(message.content) });
	const isCutOff = message.stopReason === "error" || message.stopReason === "aborted";
	if (isCutOff) parts.push({ kind: "error", line: errorLine(message) });
	if (parts.length === 0) return note("An empty answer");
	return memory === undefined ? { parts } : { parts, calls: { count, memory } };
}

function parseResult(message: Readonly<Record<string, unknown>>, calls: Parsed["calls"]): Parsed {
	const tool = string(message.toolName);
	const isError = message.isError === true;
	const said = describe(calls?.memory, { type: "tool_result", callId: string(message.toolCallId), tool, isError });
	const part: Part = {
		kind: "result",
		line: calls?.count === 1 ? "" : (said.line ?? label(tool)), // below its only call it needs no name
		passage: passage(textOf(message.content)),
		isError,
		endMatters: tool === "bash" || tool === "powershell", // what a command says last is how it went
	};
	return calls ? { parts: [part], calls } : { parts: [part] };
}

function aside(message: Readonly<Record<string, unknown>>): Part {
	const told = message.content ?? message.summary ?? message.output;
	const name = label(message.customType) || label(message.role) || "message";
	return { kind: "aside", label: name, passage: passage(textOf(told)) };
}

/** pi keeps the prompt in named sections, of which later messages may replace some. */
function systemText(message: Readonly<Record<string, unknown>>): string {
	const sections = Object.values(record(message.sections)).map(string);
	return [textOf(message.content), ...sections].filter((text) => text.trim() !== "").join("\n\n");
}

function errorLine(message: Readonly<Record<string, unknown>>): string {
	const stopReason = string(message.stopReason);
	const event = { type: "assistant_text", text: "", stopReason, error: string(message.errorMessage) } as const;
	return describe(undefined, event).line ?? "Model error";
}

function argumentsOf(args: Readonly<Record<string, unknown>>): Argument[] {
	return Object.entries(args)
		.slice(0, MOST_ARGUMENTS)
		.map(([name, value]) => ({ name: label(name), passage: passage(argumentText(value)) }));
}

function argumentText(value: unknown): string {
	return typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "");
}

function textOf(content: unknown): string {
	if (typeof content === "string") return content;
	const texts = list(content).map((part) =>
		part.type === "image" ? `[image ${label(part.mimeType)}]`.replace(" ]", "]") : string(part.text),
	);
	return texts.filter((text) => text !== "").join("\n");
}

/** Cut before it is cleaned: cleaning megabytes for a screenful would be felt. */
function passage(text: string): Passage {
	const whole = string(text);
	const kept = whole.length > MOST_CHARACTERS ? whole.slice(0, MOST_CHARACTERS) : whole;
	const clean = sanitizeBlock(kept).replace(BLANK_START, "").trimEnd();
	return { text: clean, cut: whole.length - kept.length };
}

/** The indentation of the first line that says something is kept: it belongs to those below. */
const BLANK_START = /^(?: *\n)+/;

function note(line: string): Parsed {
	return { parts: [{ kind: "note", line }] };
}

function label(value: unknown): string {
	return sanitize(string(value).slice(0, LABEL_CHARACTERS));
}

function string(value: unknown): string {
	return typeof value === "string" ? value : "";
}

function record(value: unknown): Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function list(value: unknown): Readonly<Record<string, unknown>>[] {
	return Array.isArray(value) ? value.map(record) : [];
}
