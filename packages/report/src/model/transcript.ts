/** The events of a run → what it said and did, for reading. Pure. */
import type { AgentEvent } from "@pi-subagents/core";
import { beginningOf, createDescriber } from "@pi-subagents/progress";
import type { TranscriptEntry } from "./types.ts";
import { describeCall, labelOf } from "./wording.ts";

interface TranscriptOptions {
	isFull: boolean;
	outputs?: ReadonlyMap<string, string>;
	/** The other machine that the log came from: what it says about people here is its word. */
	machine?: string;
}

/** Longer texts are cut: a report is for reading, the run's files have the rest. */
const MAX_CHARACTERS = 20_000;

type ToolEntry = TranscriptEntry & { type: "tool" };

export function transcriptOf(
	events: readonly AgentEvent[],
	{ isFull, outputs, machine }: TranscriptOptions,
): TranscriptEntry[] {
	const entries: TranscriptEntry[] = [];
	const open = new Map<string, ToolEntry>();
	const say = createDescriber();
	for (const event of events) {
		const { at } = event;
		if (event.type === "tool_call") {
			const entry: ToolEntry = { at, type: "tool", text: isFull ? describeCall(event) : labelOf(event) };
			if (isFull) entry.args = cut(JSON.stringify(event.args, undefined, 2));
			const output = isFull && event.callId !== undefined ? outputs?.get(event.callId) : undefined;
			if (output !== undefined) entry.output = cut(output);
			open.set(event.callId ?? event.tool, entry);
			entries.push(entry);
		} else if (event.type === "tool_result") {
			const entry = open.get(event.callId ?? event.tool);
			if (entry && event.isError) entry.isError = true;
		} else entries.push(...entriesOf(event, say, machine));
	}
	return entries;
}

function entriesOf(
	event: AgentEvent,
	say: ReturnType<typeof createDescriber>,
	machine: string | undefined,
): TranscriptEntry[] {
	const { at } = event;
	const entry = (type: "text" | "asked" | "answered" | "steered" | "note" | "error", text: string | undefined) =>
		text === undefined || text.trim() === "" ? [] : [{ at, type, text: cut(text) }];
	switch (event.type) {
		case "assistant_text":
			return [...entry("text", event.text), ...entry("error", event.error)];
		case "agent_asked":
			return entry("asked", event.question);
		case "agent_answered":
			return entry("answered", saidBy(machine, ANSWERS[event.by ?? "session"]));
		case "agent_steered":
			return entry("steered", saidBy(machine, event.message));
		case "notice":
			return entry("note", event.text);
		case "retrying":
		case "falling_back":
		case "verified":
		case "compacted":
			return entry("note", say(event));
		default:
			return [];
	}
}

const ANSWERS = {
	user: "The user answered.",
	session: "The session answered.",
	agent: "The agent above answered.",
	default: "No one answered; the default applied.",
	nobody: "No one answered.",
};

function saidBy(machine: string | undefined, text: string): string {
	return machine === undefined ? text : `${machine} says: ${text}`;
}

function cut(text: string): string {
	return text.length <= MAX_CHARACTERS ? text : `${beginningOf(text, MAX_CHARACTERS)}…`;
}
