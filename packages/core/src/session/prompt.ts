/** Our own words to a child's model, and where the preset's go. */
import type { RunSpec } from "../runner.ts";

export interface PromptParts {
	/** Takes the place of pi's own system prompt. */
	replacement?: string;
	/** Follows what the user appends to every system prompt. */
	additions: string[];
}

/** `memory` is what it reads of its notes. It stands last: a provider's cache ends where something has changed. */
export function promptParts({ type, systemPrompt }: RunSpec, memory?: string): PromptParts {
	// Permission systems look for this tag to know whose rules apply.
	const tag = `<active_agent name="${escapeAttribute(type)}"/>`;
	const last = memory === undefined ? [tag] : [tag, memory];
	if (!systemPrompt || systemPrompt.text.trim() === "") return { additions: last };
	if (systemPrompt.mode === "replace") return { replacement: systemPrompt.text, additions: last };
	return { additions: [systemPrompt.text, ...last] };
}

/** Asks for the answer, when the tools have just been taken away. */
export function wrapUpMessage(reason: string): string {
	return [
		`Finish now: ${reason.trim().replace(/[.\s]+$/, "")}.`,
		"Your tools are gone, and your next message is taken as your final answer.",
		"Give the result you have, say plainly what is missing or unchecked, and do not announce further work.",
	].join(" ");
}

function escapeAttribute(text: string): string {
	return text.replace(/[&<>"'\p{Cc}]/gu, (char) => `&#${char.codePointAt(0)};`);
}
