/** The body of a tool row: what the agent is doing, then what it answered. */
import { getMarkdownTheme, keyHint, type Theme, type ToolRenderResultOptions } from "@earendil-works/pi-coding-agent";
import { type Component, Container, Markdown, Text } from "@earendil-works/pi-tui";
import { type AgentDetails, leftText } from "@pi-subagents/core/outcome-text";
import {
	formatCost,
	formatCount,
	formatDuration,
	formatTokens,
	isSettled,
	lookOf,
	sanitize,
	sanitizeBlock,
	unfenced,
} from "@pi-subagents/progress";
import { agentLines, summaryOf } from "./columns.ts";
import { endsOf, type ShownEnd } from "./ends.ts";
import { folded } from "./fold.ts";
import { endsInText } from "./upgrade/result-text.ts";

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
	const { isError } = context;
	const agents = result.details?.agents ?? [];
	if (!isPartial && !isError && agents.length > 0 && agents.every(({ status }) => !isSettled(status)))
		return new Text(agents.map((agent) => launched(agent, theme)).join("\n"), 0, 0);
	const ends = endsIn(result);
	if (agents.length > 1 && !isError) return several(agents, ends, { expanded, isPartial }, theme);
	const row = new Container();
	if (isPartial) row.addChild(new Text(activity(textOf(result), theme), 0, 0));
	else if (isError) row.addChild(new Text(failure(result, ends, theme), 0, 0));
	else row.addChild(words(ends[0]?.said ?? unfenced(textOf(result)), expanded, theme));
	if (!isError) for (const agent of agents) row.addChild(new Text(stats(agent, theme), 0, 0));
	return row;
}

/** Only what older versions stored is read from the text. */
function endsIn(result: Shown): ShownEnd[] {
	const agents = result.details?.agents;
	const ends = endsOf(agents ?? [], storedTextOf(result));
	return ends.length > 0 || agents?.length === 0 ? ends : endsInText(textOf(result));
}

function words(text: string, expanded: boolean, theme: Theme): Component {
	return expanded ? new Markdown(text, 0, 0, getMarkdownTheme()) : folded(text, theme);
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

function textOf(result: Pick<Shown, "content">): string {
	return sanitizeBlock(storedTextOf(result)).trim();
}

function storedTextOf({ content }: Pick<Shown, "content">): string {
	return content.map((part) => part.text ?? "").join("\n");
}

/** The text is for the model. The row stays as it is while the agent continues, so it says only what remains true. */
function launched({ agentId, status }: AgentDetails, theme: Theme): string {
	const how = status === "queued" ? "queued" : "started";
	return `${theme.fg("accent", `→ ${how} in the background`)} ${theme.fg("muted", `· ${sanitize(agentId)}`)}`;
}

/** A summary and one line for each; expanded, also what each of them said. */
function several(
	agents: readonly AgentDetails[],
	ends: readonly ShownEnd[],
	{ expanded, isPartial }: ToolRenderResultOptions,
	theme: Theme,
): Component {
	const withEnd = agents.map((agent) => ({ agent, end: ends.find(({ agentId }) => agentId === agent.agentId) }));
	const lines = withEnd.map(({ agent, end }) => ({ agent, why: end?.why }));
	const row = new Container();
	if (!isPartial) row.addChild(new Text(theme.fg("muted", summaryOf(agents)), 0, 0));
	if (!expanded || isPartial) row.addChild(agentLines(lines, theme));
	else
		for (const { agent, end } of withEnd) {
			row.addChild(agentLines([{ agent, why: end?.why }], theme));
			if (end !== undefined && end.said !== "") row.addChild(new Markdown(end.said, 2, 0, getMarkdownTheme()));
		}
	if (!expanded && !isPartial && ends.some(({ said }) => said !== ""))
		row.addChild(new Text(keyHint("app.tools.expand", "to read the answers"), 0, 0));
	return row;
}

/** Which agents did not complete, and why, in words; what they said until then below. */
function failure(result: Shown, ends: readonly ShownEnd[], theme: Theme): string {
	const left = (result.details?.agents ?? []).filter(({ status }) => !isSettled(status));
	if (ends.length === 0 && left.length === 0) return theme.fg("error", unfenced(textOf(result)));
	const goOn = left.length > 0 ? [theme.fg("error", leftText(left.map(({ agentId }) => sanitize(agentId))))] : [];
	const ended = ends.map(({ agentId, status, how, said }) => {
		const { icon, color } = lookOf(status);
		const head = `${theme.fg(color, `${icon} ${how}`)} ${theme.fg("muted", `· ${sanitize(agentId)}`)}`;
		return said === "" ? head : `${head}\n${theme.fg("toolOutput", said)}`;
	});
	return [...goOn, ...ended].join("\n");
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
