/** The entries of a session log, of which we read our own and the messages that delivered results. Nothing in them is checked here. Pure. */
import { isObject } from "@pi-subagents/core/internal/base";
import { NOTIFICATION, runIdsIn } from "./notification.ts";

/** An entry of a session, as far as it matters here. */
export interface SessionEntry {
	id: string;
	/**
	 * `custom` for what `SessionLog.append` wrote, `custom_message` for what `Messenger.send` sent, `message` for what was
	 * said, of which only the tool calls of a model and their results matter; others are skipped.
	 */
	type: string;
	customType?: unknown;
	/** Of a `custom` entry. */
	data?: unknown;
	/** Of a `custom_message`. */
	details?: unknown;
	/** Of a `message`. */
	message?: unknown;
}

/** The entries in a file that holds one as JSON on each line. A line that is not complete is still being written, and skipped. */
export function parseSessionLines(text: string): SessionEntry[] {
	return text.split("\n").flatMap((line) => {
		try {
			const entry: unknown = JSON.parse(line);
			return isEntry(entry) ? [entry] : [];
		} catch (error) {
			if (error instanceof SyntaxError) return [];
			throw error;
		}
	});
}

function isEntry(value: unknown): value is SessionEntry {
	if (typeof value !== "object" || value === null || !("id" in value) || !("type" in value)) return false;
	return typeof value.id === "string" && typeof value.type === "string";
}

/** The runs whose results the entry delivers, if it is a message of ours. */
export function deliveredIn(entry: SessionEntry): string[] {
	return entry.type === "custom_message" && entry.customType === NOTIFICATION ? runIdsIn(entry.details) : [];
}

/**
 * The tool calls that have no result in the log, however they ended. pi writes the results of a message together, after
 * the last of its calls has ended; a process that was killed before has written none of them.
 */
export function unansweredCalls(entries: Iterable<SessionEntry>): Set<string> {
	const calls = new Set<string>();
	for (const { type, message } of entries) {
		if (type !== "message" || !isObject(message)) continue;
		if (message.role === "toolResult") calls.delete(String(message.toolCallId));
		else if (message.role === "assistant" && Array.isArray(message.content))
			for (const part of message.content)
				if (isObject(part) && part.type === "toolCall" && typeof part.id === "string") calls.add(part.id);
	}
	return calls;
}
