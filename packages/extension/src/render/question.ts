/** The person's side of a message that brings questions of agents to the session. */
import type { Theme } from "@earendil-works/pi-coding-agent";
import { type Component, Text } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";

/** The details come from a session file that may be old or edited. */
export function renderQuestion({ details }: { details?: unknown }, _options: object, theme: Theme): Component {
	const { questions } = Object(details) as { questions?: unknown };
	const lines = (Array.isArray(questions) ? questions : []).flatMap((asked) => {
		const { agentId, question } = Object(asked) as { agentId?: unknown; question?: unknown };
		const id = sanitize(String(agentId ?? "?"));
		return [
			`${theme.fg("warning", "?")} ${theme.fg("customMessageText", `Agent ${id} asks: ${sanitize(String(question ?? ""))}`)}`,
			theme.fg("dim", `/subagent reply ${id} <answer>`),
		];
	});
	return new Text(lines.join("\n") || "An agent asks.", 1, 1, (line) => theme.bg("customMessageBg", line));
}
