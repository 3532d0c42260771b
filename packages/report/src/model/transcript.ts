/** The log of a run → what it said and did, for reading. Pure. */
import type { EventLine } from "@pi-subagents/core/runs";
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
	lines: readonly EventLine[],
	{ isFull, outputs, machine }: TranscriptOptions,
): TranscriptEntry[] {
	const entries: TranscriptEntry[] = [];
	const open = new Map<string, ToolEntry>();
	const say = createDescriber();
	for (const line of lines) {
		const { at } = line;
		if (line.type === "tool_call") {
			const entry: ToolEntry = { at, type: "tool", text: isFull ? describeCall(line) : labelOf(line) };
			if (isFull) entry.args = cut(JSON.stringify(line.args, undefined, 2));
			const output = isFull && line.callId !== undefined ? outputs?.get(line.callId) : undefined;
			if (output !== undefined) entry.output = cut(output);
			open.set(line.callId ?? line.tool, entry);
			entries.push(entry);
		} else if (line.type === "tool_result") {
			const entry = open.get(line.callId ?? line.tool);
			if (entry && line.isError) entry.isError = true;
		} else entries.push(...entriesOf(line, say, machine));
	}
	return entries;
}

function entriesOf(
	line: EventLine,
	say: ReturnType<typeof createDescriber>,
	machine: string | undefined,
): TranscriptEntry[] {
	const { at } = line;
	const entry = (type: "text" | "asked" | "answered" | "steered" | "note" | "error", text: string | undefined) =>
		text === undefined || text.trim() === "" ? [] : [{ at, type, text: cut(text) }];
	switch (line.type) {
		case "assistant_text":
			return [...entry("text", line.text), ...entry("error", line.error)];
		case "agent_asked":
		case "question":
			return entry("asked", line.question);
		case "agent_answered":
			return entry("answered", saidBy(machine, ANSWERS[line.by ?? "session"]));
		case "agent_steered":
			return entry("steered", saidBy(machine, line.message));
		case "notice":
			return entry("note", line.text);
		case "retrying":
		case "falling_back":
		case "verified":
		case "compacted":
			return entry("note", say(line));
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
