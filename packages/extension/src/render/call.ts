/** The head of a tool row: which agent, on what. Arguments may still be arriving, so any may be missing. */
import type { Theme } from "@earendil-works/pi-coding-agent";
import { type Component, Text } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";

const TASK_CHARACTERS = 160;

export function renderAgentCall(args: { preset?: string; task?: string; model?: string }, theme: Theme): Component {
	const preset = sanitize(String(args?.preset ?? "…"));
	const task = sanitize(String(args?.task ?? ""));
	const model = args?.model ? theme.fg("dim", ` ${sanitize(String(args.model))}`) : "";
	const shortTask = task.length > TASK_CHARACTERS ? `${task.slice(0, TASK_CHARACTERS - 1)}…` : task;
	const head = `${theme.fg("toolTitle", theme.bold("subagent"))} ${theme.fg("accent", preset)}${model}`;
	return new Text(shortTask === "" ? head : `${head} ${theme.fg("muted", shortTask)}`, 0, 0);
}
