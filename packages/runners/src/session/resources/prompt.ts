/** Where the preset's prompt and our own additions go in a child's system prompt. */
import type { RunSpec } from "@pi-subagents/core";

export interface PromptParts {
	/** Replaces pi's own system prompt. */
	replacement?: string;
	/** Follows what the user appends to every system prompt. */
	additions: string[];
}

/** `memory` is the text of its notes. It comes last: a provider's cache ends at the first change. */
export function promptParts({ type, systemPrompt }: RunSpec, memory?: string): PromptParts {
	// Permission extensions look for this tag.
	const tag = `<active_agent name="${escapeAttribute(type)}"/>`;
	const last = memory === undefined ? [tag] : [tag, memory];
	if (!systemPrompt || systemPrompt.text.trim() === "") return { additions: last };
	if (systemPrompt.mode === "replace") return { replacement: systemPrompt.text, additions: last };
	return { additions: [systemPrompt.text, ...last] };
}

function escapeAttribute(text: string): string {
	return text.replace(/[&<>"'\p{Cc}]/gu, (char) => `&#${char.codePointAt(0)};`);
}
