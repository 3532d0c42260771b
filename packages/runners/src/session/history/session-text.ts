/** Conversations in pi's session file format. */
import { parseJson } from "@pi-subagents/core/internal/base";

export function sessionText(entries: readonly object[]): string {
	return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

const LF = 0x0a;

/**
 * A saved conversation for a run in this directory: otherwise pi would work in that of the earlier run. A truncated
 * last line would merge with the next. Undefined if it is no conversation.
 */
export function withCwd(conversation: Buffer, cwd: string): Buffer | undefined {
	const headerEnd = conversation.indexOf(LF);
	const header = parseJson(conversation.toString("utf8", 0, Math.max(0, headerEnd)));
	if (typeof header !== "object" || header === null) return undefined;
	const rest = conversation.subarray(headerEnd, conversation.lastIndexOf(LF) + 1);
	return Buffer.concat([Buffer.from(JSON.stringify({ ...header, cwd })), rest]);
}
