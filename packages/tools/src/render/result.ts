/** The body of a tool row: what the agent is doing, then what it answered. */
import { getMarkdownTheme, keyHint, type Theme, type ToolRenderResultOptions } from "@earendil-works/pi-coding-agent";
import { type Component, Container, Markdown, Text } from "@earendil-works/pi-tui";
import type { AgentDetails } from "@pi-subagents/core/outcome-text";
import { forPeople } from "@pi-subagents/core/outcome-text";
import {
	formatCost,
	formatCount,
	formatDuration,
	formatTokens,
	isSettled,
	lookOf,
	readableError,
	sanitize,
	sanitizeBlock,
	unfenced,
} from "@pi-subagents/progress";
import { agentLines, summaryOf } from "./columns.ts";
import { folded } from "./fold.ts";
import { readReport } from "./read-report.ts";

interface Shown {
	content: readonly { type: string; text?: string }[];
	details?: { agents: readonly AgentDetails[] } | undefined;
}

export function renderAgentResult(
	result: Shown,
	{ expanded, isPartial }: ToolRenderResultOptions,
	theme: Theme,
	context: { isError: boolean },
): Component {
	const text = forPeople(textOf(result));
	const agents = result.details?.agents ?? [];
	if (!isPartial && !context.isError && agents.length > 0 && agents.every(({ status }) => !isSettled(status)))
		return new Text(agents.map((agent) => launched(agent, theme)).join("\n"), 0, 0);
	if (agents.length > 1 && !context.isError) return several(agents, textOf(result), { expanded, isPartial }, theme);
	const row = new Container();
	if (isPartial) row.addChild(new Text(activity(text, theme), 0, 0));
	else if (context.isError) row.addChild(new Text(failure(textOf(result), theme), 0, 0));
	else if (expanded) row.addChild(new Markdown(text, 0, 0, getMarkdownTheme()));
	else row.addChild(folded(text, theme));
	if (!context.isError) for (const agent of agents) row.addChild(new Text(stats(agent, theme), 0, 0));
	return row;
}

/** What a tool says beside launching agents: the same words that the model reads, without our tags around them. */
export function renderToldResult(
	result: Pick<Shown, "content">,
	{ expanded }: ToolRenderResultOptions,
	theme: Theme,
	context: { isError: boolean },
): Component {
	const text = unfenced(textOf(result));
	if (context.isError) return new Text(theme.fg("error", text), 0, 0);
	return expanded ? new Text(theme.fg("toolOutput", text), 0, 0) : folded(text, theme);
}

function textOf({ content }: Pick<Shown, "content">): string {
	return sanitizeBlock(content.map((part) => part.text ?? "").join("\n")).trim();
}

/** The text is for the model. The row stays as it is while the agent continues, so it says only what remains true. */
function launched({ agentId, status }: AgentDetails, theme: Theme): string {
	const how = status === "queued" ? "queued" : "started";
	return `${theme.fg("accent", `→ ${how} in the background`)} ${theme.fg("muted", `· ${sanitize(agentId)}`)}`;
}

/** A summary and one line for each; expanded, also what each of them said. */
function several(
	agents: readonly AgentDetails[],
	report: string,
	{ expanded, isPartial }: ToolRenderResultOptions,
	theme: Theme,
): Component {
	const parts = isPartial ? [] : readReport(report);
	const withEnd = agents.map((agent) => ({ agent, part: parts.find(({ agentId }) => agentId === agent.agentId) }));
	const lines = withEnd.map(({ agent, part }) => ({ agent, how: part?.how }));
	const row = new Container();
	if (!isPartial) row.addChild(new Text(theme.fg("muted", summaryOf(agents)), 0, 0));
	if (!expanded || isPartial) row.addChild(agentLines(lines, theme));
	else
		for (const { agent, part } of withEnd) {
			row.addChild(agentLines([{ agent, how: part?.how }], theme));
			if (part !== undefined && part.said !== "") row.addChild(new Markdown(part.said, 2, 0, getMarkdownTheme()));
		}
	if (!expanded && parts.some(({ said }) => said !== ""))
		row.addChild(new Text(keyHint("app.tools.expand", "to read the answers"), 0, 0));
	return row;
}

/** Which agents did not complete, and why, in words; what they said until then below. */
function failure(report: string, theme: Theme): string {
	const parts = readReport(report);
	if (parts.length === 0) return theme.fg("error", forPeople(report));
	return parts
		.map(({ agentId, status, how, said }) => {
			const { icon, color } = lookOf(status);
			const head = `${theme.fg(color, `${icon} ${readableError(how)}`)} ${theme.fg("muted", `· ${agentId}`)}`;
			return said === "" ? head : `${head}\n${theme.fg("toolOutput", said)}`;
		})
		.join("\n");
}

/** The last line is what happens now. */
function activity(text: string, theme: Theme): string {
	const lines = text.split("\n");
	const last = lines.pop() ?? "";
	return [...lines.map((line) => theme.fg("muted", line)), theme.fg("toolOutput", last)].join("\n");
}

function stats(agent: AgentDetails, theme: Theme): string {
	const { agentId, toolUses, tokens, cost = 0, treeCost = 0, durationMs, verified } = agent;
	const figures = [
		formatCount(toolUses, "tool"),
		`${formatTokens(tokens)} ${tokens === 1 ? "token" : "tokens"}`,
		...(cost > 0 ? [formatCost(cost)] : []),
		...(treeCost > cost ? [`${formatCost(treeCost)} with its sub-agents`] : []),
		formatDuration(durationMs),
		...(verified === undefined ? [] : [sanitize(verified)]),
	];
	const { icon, color } = lookOf(agent);
	return theme.fg(color, `${icon} `) + theme.fg("muted", [...figures, sanitize(agentId)].join(" · "));
}
