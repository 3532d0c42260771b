/** The person's side of a message that brings an agent's question to the session. */
import type { Theme } from "@earendil-works/pi-coding-agent";
import { type Component, Text } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";

/** The details come from a session file that may be old or edited. */
export function renderQuestion({ details }: { details?: unknown }, _options: object, theme: Theme): Component {
	const { agentId, question } = Object(details) as { agentId?: unknown; question?: unknown };
	const id = sanitize(String(agentId ?? "?"));
	const text = [
		`${theme.fg("warning", "?")} ${theme.fg("customMessageText", `Agent ${id} asks: ${sanitize(String(question ?? ""))}`)}`,
		theme.fg("dim", `/subagent reply ${id} <answer>`),
	].join("\n");
	return new Text(text, 1, 1, (line) => theme.bg("customMessageBg", line));
}
