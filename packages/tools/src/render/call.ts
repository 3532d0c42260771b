/** The head of a tool row: which agent, on what. Arguments may still be arriving, so any may be missing. */
import type { Theme } from "@earendil-works/pi-coding-agent";
import { type Component, Text } from "@earendil-works/pi-tui";
import { formatCount, sanitize } from "@pi-subagents/progress";

interface Args {
	preset?: string | undefined;
	task?: string | undefined;
	model?: string | undefined;
	tasks?: readonly Args[] | undefined;
}

/** More would push the rows below off the screen. */
const TASK_CHARACTERS = 160;

/** What pi says about the row; `executionStarted`: the body below it shows the agents. */
interface RowState {
	executionStarted?: boolean;
	isPartial?: boolean;
	expanded?: boolean;
}

export function renderAgentCall(tool: string, args: Args | undefined, theme: Theme, row: RowState = {}): Component {
	const title = theme.fg("toolTitle", theme.bold(tool));
	if (!Array.isArray(args?.tasks)) return new Text(`${title} ${assignment(args, theme)}`, 0, 0);
	const isShownBelow = row.executionStarted === true || row.isPartial === false;
	if (isShownBelow && !row.expanded) return new Text(`${title} ${formatCount(args.tasks.length, "agent")}`, 0, 0);
	const lines = args.tasks.map((each, index) => `${theme.fg("muted", `${index + 1}.`)} ${assignment(each, theme)}`);
	return new Text([title, ...lines].join("\n"), 0, 0);
}

function assignment(args: Args | undefined, theme: Theme): string {
	const preset = theme.fg("accent", sanitize(String(args?.preset ?? "…")));
	const task = sanitize(String(args?.task ?? ""));
	const model = args?.model ? theme.fg("muted", ` ${sanitize(String(args.model))}`) : "";
	const shortTask = task.length > TASK_CHARACTERS ? `${task.slice(0, TASK_CHARACTERS - 1)}…` : task;
	return shortTask === "" ? `${preset}${model}` : `${preset}${model} ${theme.fg("muted", shortTask)}`;
}
