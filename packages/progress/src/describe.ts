/**
 * Says what a child is doing, one line per event at most. Live text and transcripts both come from here.
 * Pure: what must be remembered between a tool's call and its result is in the memory that goes in and comes out.
 * Total: no event, however malformed, makes it throw.
 */
import { clip } from "./clip.ts";
import type { AssistantText, ChildEvent, Retrying, ToolCall, ToolResult } from "./events.ts";
import { formatDuration } from "./format.ts";
import type { Notices, Phrase } from "./phrases.ts";
import { sanitizeClipped } from "./sanitize.ts";
import { fillTemplate, type Lookup } from "./template.ts";
import { type DescribeOptions, type Wording, wordingFor } from "./wording.ts";

/** What one description leaves for the next: the calls still without a result. Plain JSON, bounded in size. */
export interface Memory {
	/** Oldest first. */
	readonly pending: readonly PendingCall[];
}

/** A tool call that has not ended, and what to say when it does. */
export interface PendingCall {
	readonly callId?: string;
	readonly tool: string;
	readonly done: string;
	readonly failed: string;
}

/** What {@link describe} gives back. */
export interface Description {
	/** Pass it on with the next event. The same object when nothing changed. */
	memory: Memory;
	/** A clean line for people; absent when the event says nothing worth showing. */
	line?: string;
}

/**
 * Describes one event, given what was remembered from the ones before it.
 *
 * @example
 * ```ts
 * const call = describe(undefined, { type: "tool_call", callId: "1", tool: "read", args: { path: "a.ts" } });
 * call.line; // "Reading a.ts"
 * describe(call.memory, { type: "tool_result", callId: "1", tool: "read", isError: false }).line; // "Finished reading a.ts"
 * ```
 */
export function describe(memory: Memory | undefined, event: ChildEvent, options?: DescribeOptions): Description {
	const wording = wordingFor(options);
	const known = isMemory(memory) ? memory : NOTHING;
	switch (event?.type) {
		case "assistant_text":
			return saying(known, assistantLine(event, wording));
		case "tool_call":
			return describeCall(known, event, wording);
		case "tool_result":
			return describeResult(known, event, wording);
		case "compacting":
			return saying(known, notice(wording, "compacting"));
		case "compacted":
			return saying(known, notice(wording, event.ok ? "compacted" : "compactionFailed"));
		case "retrying":
			return saying(known, retryingLine(event, wording));
		case "falling_back":
			return saying(known, notice(wording, "fallingBack", { from: event.from, to: event.to, error: event.error }));
		case "idle":
			// Calls that were cut off never end; later results must not be taken for theirs.
			return { memory: known.pending.length === 0 ? known : NOTHING };
		case "usage":
		case "turn":
			return { memory: known };
		default:
			event satisfies never;
			return { memory: known }; // written by a newer version, or not by us: nothing to say
	}
}

/**
 * {@link describe} with the memory kept inside, for one child.
 *
 * @example
 * ```ts
 * const line = createDescriber({ phrases: { deploy: { call: "Deploying to {target}" } } });
 * line({ type: "tool_call", tool: "deploy", args: { target: "staging" } }); // "Deploying to staging"
 * ```
 */
export function createDescriber(options?: DescribeOptions): (event: ChildEvent) => string | undefined {
	let memory: Memory | undefined;
	return (event) => {
		const description = describe(memory, event, options);
		memory = description.memory;
		return description.line;
	};
}

/**
 * The lines for a whole run of one child.
 *
 * @example
 * ```ts
 * describeAll([{ type: "assistant_text", text: "Looking at the auth flow." }]); // ["Looking at the auth flow."]
 * ```
 */
export function describeAll(events: Iterable<ChildEvent>, options?: DescribeOptions): string[] {
	const describeNext = createDescriber(options);
	const lines: string[] = [];
	for (const event of events) {
		const line = describeNext(event);
		if (line !== undefined) lines.push(line);
	}
	return lines;
}

const NOTHING: Memory = /* @__PURE__ */ Object.freeze({ pending: /* @__PURE__ */ Object.freeze([]) });
const MAX_PENDING = 64;

/** It may come back from a file that was damaged; what is in it is cleaned again when it is said. */
function isMemory(memory: Memory | undefined): memory is Memory {
	return Array.isArray(memory?.pending) && memory.pending.every((call) => typeof call === "object" && call !== null);
}

function saying(memory: Memory, line: string): Description {
	return line === "" ? { memory } : { memory, line };
}

function assistantLine(event: AssistantText, wording: Wording): string {
	const text = sanitizeClipped(event.text, wording.maxLength);
	if (text !== "") return text;
	const error = event.error;
	if (event.stopReason === "aborted") return notice(wording, "modelStopped", { error });
	return event.stopReason === "error" || error ? notice(wording, "modelError", { error }) : "";
}

function describeCall(memory: Memory, event: ToolCall, wording: Wording): Description {
	const tool = toolName(event, wording);
	const args: Record<string, unknown> = Object(event.args);
	const lookup: Lookup = (name) => (name === "tool" ? tool : Object.hasOwn(args, name) ? args[name] : undefined);
	const say = (moment: keyof Phrase) => phrase(wording, event.tool, moment, lookup);
	const callId = callKey(event.callId);
	const call = { tool, done: say("done"), failed: say("failed") };
	const others = memory.pending.filter((other) => callId === undefined || other.callId !== callId);
	const pending = [...others.slice(-(MAX_PENDING - 1)), callId === undefined ? call : { callId, ...call }];
	return saying({ pending }, say("call"));
}

function describeResult(memory: Memory, event: ToolResult, wording: Wording): Description {
	const tool = toolName(event, wording);
	const moment = event.isError ? "failed" : "done";
	const index = indexOfCall(memory, tool, callKey(event.callId));
	const call = memory.pending[index];
	if (!call) {
		// All that is known without the call is that the tool ended.
		const toolOnly: Lookup = (name) => (name === "tool" ? tool : undefined);
		return saying(memory, phrase(wording, undefined, moment, toolOnly));
	}
	return saying({ pending: memory.pending.toSpliced(index, 1) }, sanitizeClipped(call[moment], wording.maxLength));
}

/** By id where both sides have one; otherwise the oldest call of that tool. */
function indexOfCall(memory: Memory, tool: string, callId: string | undefined): number {
	if (callId === undefined) return memory.pending.findIndex((call) => call.tool === tool);
	const index = memory.pending.findIndex((call) => call.callId === callId);
	if (index >= 0) return index;
	return memory.pending.findIndex((call) => call.callId === undefined && call.tool === tool);
}

function phrase(wording: Wording, tool: string | undefined, moment: keyof Phrase, lookup: Lookup): string {
	const choices = tool === undefined ? undefined : wording.phrases.get(tool);
	for (const choice of choices ?? wording.anyTool) {
		const template = choice[moment];
		const text = template && fillTemplate(template, lookup);
		if (text !== undefined) return clip(text, wording.maxLength);
	}
	return "";
}

function notice(wording: Wording, key: keyof Notices, values: Record<string, unknown> = {}): string {
	const lookup: Lookup = (name) => {
		if (!Object.hasOwn(values, name)) return undefined;
		return name === "error"
			? sanitizeClipped(values.error, wording.maxLength) || notice(wording, "noReason")
			: values[name];
	};
	for (const template of wording.notices[key]) {
		const text = fillTemplate(template, lookup);
		if (text !== undefined) return clip(text, wording.maxLength);
	}
	return "";
}

function retryingLine({ attempt, maxAttempts, delayMs, error }: Retrying, wording: Wording): string {
	const seconds = typeof delayMs === "number" ? Math.round(delayMs / 1_000) : 0;
	return notice(wording, "retrying", { attempt, maxAttempts, delay: formatDuration(delayMs), seconds, error });
}

function toolName(event: ToolCall | ToolResult, wording: Wording): string {
	return sanitizeClipped(event.tool, 80) || notice(wording, "unnamedTool");
}

/** Ids come from providers and may be of any length; the memory keeps enough of one to tell it from the others. */
function callKey(callId: string | undefined): string | undefined {
	if (typeof callId !== "string" || callId === "") return undefined;
	return callId.length <= 256 ? callId : `${callId.slice(0, 120)}…${callId.length}…${callId.slice(-120)}`;
}
