/**
 * Parses an entry into the parts that are drawn. Entries come from files written by other programs, so every field is
 * checked, text is sanitized and bounded, and nothing throws. Pure.
 */
import { describe, formatCount, type Memory, sanitize, sanitizeBlock, unfenced } from "@pi-subagents/progress";
import type { ConversationEntry } from "./source.ts";

/** Sanitized multi-line text. */
export interface Passage {
	text: string;
	/** How many characters were cut off. */
	cut: number;
}

export type Part =
	/** Messages to the agent: its task and later instructions. */
	| { kind: "user"; passage: Passage }
	| { kind: "assistant"; passage: Passage }
	| { kind: "thinking"; passage: Passage }
	/** `line` describes the call, `args` are its arguments. */
	| { kind: "call"; line: string; args: readonly Argument[] }
	/** `line` names the tool call if that is not obvious. */
	| { kind: "result"; line: string; passage: Passage; isError: boolean; showsEnd: boolean }
	/** Not part of the dialogue: the system prompt, a summary, a message of an extension. */
	| { kind: "aside"; label: string; passage: Passage }
	| { kind: "error"; line: string }
	| { kind: "note"; line: string }
	| { kind: "progress"; line: string };

export interface Argument {
	name: string;
	passage: Passage;
}

/** A parsed entry, and the context for parsing the next one. */
export interface Parsed {
	parts: readonly Part[];
	/** The calls whose results may follow. */
	calls?: { count: number; memory: Memory };
}

/** More than pi's tools return. */
const MAX_CHARACTERS = 64 * 1024;
const MAX_PARTS = 200;
const MAX_ARGUMENTS = 50;
const LABEL_CHARACTERS = 200;
const LINE_CHARACTERS = 2_000;

/** Always at least one part. `before` is the previous entry, if known. */
export function parse(entry: ConversationEntry, before?: Parsed): Parsed {
	try {
		return parseEntry(entry, before);
	} catch {
		return note("An entry cannot be shown"); // nested too deeply for the stack
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
		case "check":
			return checkParts(entry);
		case "unreadable":
			return note(`An entry of ${formatCount(entry.bytes, "byte")} cannot be shown`);
		default:
			return note("An entry cannot be shown");
	}
}

function parseMessage(message: Readonly<Record<string, unknown>>, before: Parsed | undefined): Parsed {
	switch (message.role) {
		case "user":
			return { parts: [{ kind: "user", passage: passage(textOf(message.content), unfenced) }] };
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
	for (const part of list(message.content).slice(0, MAX_PARTS)) {
		if (part.type === "toolCall") {
			const call = { callId: string(part.id), tool: string(part.name), args: record(part.arguments) };
			const said = describe(memory, { type: "tool_call", ...call });
			memory = said.memory;
			count++;
			parts.push({ kind: "call", line: said.line ?? (label(call.tool) || "tool"), args: argumentsOf(call.args) });
		} else if (part.type === "thinking") parts.push({ kind: "thinking", passage: passage(string(part.thinking)) });
		else if (string(part.text).trim() !== "") parts.push({ kind: "assistant", passage: passage(string(part.text)) });
	}
	if (typeof message.content === "string") parts.push({ kind: "assistant", passage: passage(message.content) });
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
		line: calls?.count === 1 ? "" : (said.line ?? label(tool)), // a single call needs no label
		passage: passage(textOf(message.content), unfenced), // it may contain output of its sub-agents
		isError,
		showsEnd: tool === "bash" || tool === "powershell", // the end of a command's output shows the result
	};
	return calls ? { parts: [part], calls } : { parts: [part] };
}

function checkParts({ line, output }: { line: string; output: string }): Parsed {
	const printed = passage(output);
	const result: Part = { kind: "result", line: "", passage: printed, isError: true, showsEnd: true };
	const head: Part = { kind: "error", line: sanitize(string(line).slice(0, LINE_CHARACTERS)) };
	return { parts: [head, ...(printed.text === "" ? [] : [result])] };
}

function aside(message: Readonly<Record<string, unknown>>): Part {
	const content = message.content ?? message.summary ?? message.output;
	const name = label(message.customType) || label(message.role) || "message";
	return { kind: "aside", label: name, passage: passage(textOf(content)) };
}

/** pi stores the prompt in named sections, some of which later messages may replace. */
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
		.slice(0, MAX_ARGUMENTS)
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

/** Cut before sanitizing, because sanitizing megabytes for one screen is slow. */
function passage(text: string, forPeople = (clean: string) => clean): Passage {
	const whole = string(text);
	const kept = whole.length > MAX_CHARACTERS ? whole.slice(0, MAX_CHARACTERS) : whole;
	const clean = forPeople(sanitizeBlock(kept)).replace(BLANK_START, "").trimEnd();
	return { text: clean, cut: whole.length - kept.length };
}

/** Leading blank lines only: the first line's indentation must match the lines below. */
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
