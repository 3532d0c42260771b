/** The words that tmux and its user get to see. Pure. */
import { sanitize } from "@pi-subagents/progress";

const MAX_NAME_LENGTH = 32;

/**
 * What a window is called. tmux expands `#{…}` in names, and where it expands `#(…)` it runs a command; so only words
 * stay.
 */
export function windowName(title: string): string {
	const words = sanitize(title)
		.replace(/[^\p{L}\p{M}\p{N} .,:_-]+/gu, " ")
		.replace(/ +/g, " ")
		.trim();
	return [...words].slice(0, MAX_NAME_LENGTH).join("").trim() || "agent";
}

/** An argument as it is: a semicolon at its end would begin another command of tmux. */
export function literal(argument: string): string {
	return argument.replace(/;$/, "\\;");
}

/** In the user's own tmux, or in ours, where nobody is by chance. */
export type Whereabouts = { index: string; session: string } | { id: string };

export function hintFor(title: string, where: Whereabouts): string {
	const who = sanitize(title);
	if ("session" in where) {
		return `${who} runs in window ${where.index} of your tmux session ${sanitize(where.session)}.`;
	}
	return `To watch ${who}, run \`tmux -L pi-subagents attach -t ${where.id}\`. Ctrl+B and d leaves it again.`;
}
