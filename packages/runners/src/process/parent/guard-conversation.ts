/**
 * What guards find in the session file of a child's process: the entries of the user's session in which they keep their
 * state, and no others. The agent can write that file, so entries in it may be its own, which would switch a guard's
 * mode for its next run.
 */

import { isObject, parseJson } from "@pi-subagents/core/internal/base";
import type { GuardState } from "../../extensions/guards.ts";
import { sessionHeader } from "../../session/history/inherited.ts";
import { sessionText } from "../../session/history/session-text.ts";

interface Begun {
	cwd: string;
	/** Of the conversation, if it begins with these entries. */
	id: string;
	at: number;
}

type Conversation = string | Uint8Array | undefined;

/** The conversation with the user's entries in place of its own. Undefined if there is neither. */
export function withGuardEntries(
	conversation: Conversation,
	{ entries, isGuarded }: Pick<GuardState, "entries" | "isGuarded">,
	{ cwd, id, at }: Begun,
): Conversation {
	if (!isGuarded || (conversation === undefined && entries.length === 0)) return conversation;
	const header = sessionText([sessionHeader({ cwd, id, at })]);
	const lines = withoutCustom(linesOf(conversation ?? header));
	const last = parseJson(lines.at(-1) ?? "");
	let parentId = lines.length > 1 && isObject(last) && typeof last.id === "string" ? last.id : null;
	const added = entries.map(({ customType, data }) => {
		const entry = {
			type: "custom",
			id: crypto.randomUUID().slice(0, 8),
			parentId,
			timestamp: new Date(at).toISOString(),
			customType,
			data,
		};
		parentId = entry.id;
		return entry;
	});
	return `${lines.join("\n")}\n${sessionText(added)}`;
}

/** Without the entries of extensions: no guard reads them from a file of a run, here or on another machine. */
export function withoutExtensionEntries(conversation: Conversation): Conversation {
	return conversation === undefined ? undefined : `${withoutCustom(linesOf(conversation)).join("\n")}\n`;
}

function linesOf(conversation: string | Uint8Array): string[] {
	const text = typeof conversation === "string" ? conversation : Buffer.from(conversation).toString("utf8");
	return text.split("\n").filter((line) => line.trim() !== "");
}

/** What followed a removed entry follows the one before it: otherwise pi would lose the beginning of the conversation. */
function withoutCustom(lines: readonly string[]): string[] {
	const kept: { line: string; entry: Record<string, unknown> }[] = [];
	const removed = new Map<unknown, unknown>();
	for (const line of lines) {
		const entry = parseJson(line);
		if (!isObject(entry)) continue; // pi skips it, too
		if (entry.type === "custom") removed.set(entry.id, entry.parentId);
		else kept.push({ line, entry });
	}
	return kept.map(({ line, entry }) => {
		if (!removed.has(entry.parentId)) return line;
		return JSON.stringify({ ...entry, parentId: keptBefore(entry.parentId, removed) ?? null });
	});
}

function keptBefore(id: unknown, removed: ReadonlyMap<unknown, unknown>): unknown {
	const seen = new Set();
	let found = id;
	while (removed.has(found) && !seen.has(found)) {
		seen.add(found); // a forged file may lead in a circle
		found = removed.get(found);
	}
	return removed.has(found) ? null : found;
}
