/**
 * Describes what a child is doing, at most one line per event. Both live text and transcripts come from here.
 * Pure: what must be remembered between a tool call and its result is passed in and returned as memory.
 * Never throws, however malformed an event is.
 */
import { checkArguments } from "./arguments/check-arguments.ts";
import { clip } from "./clip.ts";
import { formatDuration } from "./format.ts";
import type { Notices, Phrase } from "./phrases.ts";
import { sanitizeClipped } from "./sanitize.ts";
import type { AssistantText, ChildEvent, Retrying, ToolCall, ToolResult, Verified } from "./schema/events.ts";
import type { Verification } from "./schema/outcome.ts";
import { fillTemplate, type Lookup } from "./template.ts";
import { type DescribeOptions, type Wording, wordingFor } from "./wording.ts";

/** What is passed from one description to the next: the calls without a result. Plain JSON of bounded size. */
export interface Memory {
	/** Oldest first. */
	readonly pending: readonly PendingCall[];
}

/** A tool call that has not ended, and the lines for it and its end. */
export interface PendingCall {
	readonly callId?: string;
	readonly tool: string;
	readonly call: string;
	readonly done: string;
	readonly failed: string;
}

/** The result of {@link describe}. */
export interface Description {
	/** Pass it with the next event. The same object when nothing changed. */
	memory: Memory;
	/** A sanitized line for people; absent when there is nothing worth showing. */
	line?: string;
	/** What the child still does after an event that ended something else: one of several calls of a turn ended. */
	now?: string;
}

/**
 * Describes one event, given the memory of the previous ones.
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
	const known = isMemory(memory) ? memory : EMPTY;
	switch (event?.type) {
		case "assistant_text":
			return withLine(known, assistantLine(event, wording));
		case "tool_call":
			return describeCall(known, event, wording);
		case "tool_result":
			return describeResult(known, event, wording);
		case "compacting":
			return withLine(known, notice(wording, "compacting"));
		case "compacted":
			return withLine(known, notice(wording, event.ok ? "compacted" : "compactionFailed"));
		case "retrying":
			return withLine(known, retryingLine(event, wording));
		case "falling_back":
			return withLine(known, notice(wording, "fallingBack", { from: event.from, to: event.to, error: event.error }));
		case "verifying":
			return withLine(known, notice(wording, "verifying", { command: event.command }));
		case "verified":
			return withLine(known, verifiedLine(event, wording));
		case "idle":
			// Interrupted calls never end; later results must not be matched with them.
			return { memory: known.pending.length === 0 ? known : EMPTY };
		case "usage":
		case "turn":
			return { memory: known };
		default:
			event satisfies never;
			return { memory: known }; // written by a newer version, or not by us
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
	checkArguments({ events: [events, "iterable"] });
	const describeNext = createDescriber(options);
	const lines: string[] = [];
	for (const event of events) {
		const line = describeNext(event);
		if (line !== undefined) lines.push(line);
	}
	return lines;
}

const EMPTY: Memory = /* @__PURE__ */ Object.freeze({ pending: /* @__PURE__ */ Object.freeze([]) });
const MAX_PENDING = 64;
/** Items of a list that a line may name; more would not fit. */
const MAX_ITEMS = 20;

/** It may come from a damaged file. Its texts are sanitized again when they are used. */
function isMemory(memory: Memory | undefined): memory is Memory {
	return Array.isArray(memory?.pending) && memory.pending.every((call) => typeof call === "object" && call !== null);
}

function withLine(memory: Memory, line: string): Description {
	return line === "" ? { memory } : { memory, line };
}

function assistantLine(event: AssistantText, wording: Wording): string {
	const failure = failureLine(event, wording);
	// Both are shown: neither the text nor the failure takes more than half of the line from the other.
	const room = wording.maxLength - SEPARATOR.length - failure.length;
	const least = Math.floor(wording.maxLength / 2);
	const text = sanitizeClipped(event.text, failure === "" ? wording.maxLength : Math.max(least, room));
	if (text === "" || failure === "") return text || failure;
	return clip(`${text}${SEPARATOR}${failure}`, wording.maxLength);
}

const SEPARATOR = " · ";

/** Why a message is incomplete; an empty string if it is complete. */
function failureLine({ stopReason, error }: AssistantText, wording: Wording): string {
	if (stopReason === "aborted") return notice(wording, "modelStopped", { error });
	return stopReason === "error" || error ? notice(wording, "modelError", { error }) : "";
}

function describeCall(memory: Memory, event: ToolCall, wording: Wording): Description {
	const tool = toolName(event, wording);
	const args: Record<string, unknown> = Object(event.args);
	const lookup: Lookup = (name) => (name === "tool" ? tool : argument(args, name));
	const say = (moment: keyof Phrase) => phrase(wording, event.tool, moment, lookup);
	const callId = callKey(event.callId);
	const call = { tool, call: say("call"), done: say("done"), failed: say("failed") };
	const others = memory.pending.filter((other) => callId === undefined || other.callId !== callId);
	const pending = [...others.slice(-(MAX_PENDING - 1)), callId === undefined ? call : { callId, ...call }];
	return withLine({ pending }, call.call);
}

/** An argument by its name, or `tasks.preset`: what the items of a list have there, each value once. */
function argument(args: Record<string, unknown>, name: string): unknown {
	if (Object.hasOwn(args, name)) return args[name];
	const [list, ...rest] = name.split(".");
	const items = rest.length === 1 && list !== undefined && Object.hasOwn(args, list) ? args[list] : undefined;
	if (!Array.isArray(items)) return undefined;
	const values = items.slice(0, MAX_ITEMS).map((item) => argument(Object(item), rest[0] ?? ""));
	return [...new Set(values)].filter((value) => typeof value === "string").join(", ");
}

function describeResult(memory: Memory, event: ToolResult, wording: Wording): Description {
	const tool = toolName(event, wording);
	const moment = event.isError ? "failed" : "done";
	const index = indexOfCall(memory, tool, callKey(event.callId));
	const call = memory.pending[index];
	// Without the call, only the name of the tool is known.
	const toolOnly: Lookup = (name) => (name === "tool" ? tool : undefined);
	const line = call ? sanitizeClipped(call[moment], wording.maxLength) : phrase(wording, undefined, moment, toolOnly);
	const left = call ? { pending: memory.pending.toSpliced(index, 1) } : memory;
	const now = sanitizeClipped(left.pending.at(-1)?.call, wording.maxLength);
	return { ...withLine(left, line), ...(now === "" ? {} : { now }) };
}

/** By id if both have one; otherwise the oldest call of that tool. */
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

function retryingLine({ attempt, maxAttempts, delayMs, retryAfterMs, error }: Retrying, wording: Wording): string {
	const waitMs = Math.max(0, ...[delayMs, retryAfterMs].filter((ms) => typeof ms === "number"));
	const seconds = Math.round(waitMs / 1_000);
	return notice(wording, "retrying", { attempt, maxAttempts, delay: formatDuration(waitMs), seconds, error });
}

function verifiedLine({ verification }: Verified, wording: Wording): string {
	const { ok = false, command, durationMs = 0, problem } = Object(verification) as Partial<Verification>;
	if (!ok) return notice(wording, "notVerified", { error: problem });
	return notice(wording, "verified", { command, duration: formatDuration(durationMs) });
}

function toolName(event: ToolCall | ToolResult, wording: Wording): string {
	return sanitizeClipped(event.tool, 80) || notice(wording, "unnamedTool");
}

/** Ids come from providers and can have any length; the memory keeps enough to distinguish them. */
function callKey(callId: string | undefined): string | undefined {
	if (typeof callId !== "string" || callId === "") return undefined;
	return callId.length <= 256 ? callId : `${callId.slice(0, 120)}…${callId.length}…${callId.slice(-120)}`;
}
