/**
 * Several agents of one call: one line each, with status, activity and figures in columns, as wide as the screen. Where
 * there is little room, the status word goes first, then tools and tokens: icon, activity and time stay.
 */
import type { Theme } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";
import { visibleWidth } from "@earendil-works/pi-tui";
import type { AgentDetails } from "@pi-subagents/core/outcome-text";
import {
	formatCost,
	formatCount,
	formatDuration,
	formatTokens,
	isSettled,
	lookOf,
	sanitize,
	tallyText,
} from "@pi-subagents/progress";
import { clip, within } from "@pi-subagents/widget/dialogs";

/** An agent, and why its run ended if that is known. */
export interface AgentLine {
	agent: AgentDetails;
	why?: string | undefined;
}

const GAP = "  ";
/** Below these widths, columns are left out. */
const WITH_WORD = 100;
const WITH_TOKENS = 70;
const WITH_TOOLS = 60;
/** With this much room for text, what each agent is about has a column beside what it does. */
const WITH_ABOUT = 60;

export function agentLines(agents: readonly AgentLine[], theme: Theme): Component {
	let drawn: { width: number; lines: string[] } | undefined;
	return {
		invalidate() {
			drawn = undefined;
		},
		render(width) {
			if (drawn?.width !== width) drawn = { width, lines: within(width, draw(agents, width, theme)) };
			return drawn.lines;
		},
	};
}

/** `3 agents: 2 done, 1 failed · 9 tools · 22.8k tokens · $0.12 · 1m 12s`; the time is that of the longest. */
export function summaryOf(agents: readonly AgentDetails[]): string {
	const sum = (of: (agent: AgentDetails) => number) => agents.reduce((total, agent) => total + of(agent), 0);
	const cost = sum((agent) => agent.treeCost ?? agent.cost ?? 0);
	return [
		`${formatCount(agents.length, "agent")}: ${tallyText(agents)}`,
		formatCount(
			sum(({ toolUses }) => toolUses),
			"tool",
		),
		`${formatTokens(sum(({ tokens }) => tokens))} tokens`,
		...(cost > 0 ? [formatCost(cost)] : []),
		formatDuration(Math.max(0, ...agents.map(({ durationMs }) => durationMs))),
	].join(" · ");
}

function draw(agents: readonly AgentLine[], width: number, theme: Theme): string[] {
	const words = width >= WITH_WORD ? padded(agents.map(({ agent }) => lookOf(agent).word)) : undefined;
	const names = padded(agents.map(({ agent }) => clip(sanitize(agent.preset), Math.max(12, Math.floor(width / 5)))));
	const figures = figuresOf(
		agents.map(({ agent }) => agent),
		width,
	);
	const states = agents.map(({ agent }, index) => [lookOf(agent).icon, ...(words ? [words[index]] : [])].join(" "));
	const beside = [states, names, figures].map(([first = ""]) => visibleWidth(first)); // all are as wide as the first
	const room = Math.max(0, beside.reduce((rest, each) => rest - each, width) - 1 - 2 * GAP.length);
	const texts = textsOf(agents, room, words !== undefined);
	return agents.map(({ agent }, index) => {
		const [state = "", name = "", text = "", took = ""] = [states, names, texts, figures].map(
			(column) => column[index],
		);
		const space = " ".repeat(Math.max(0, room - visibleWidth(text)));
		const tone = agent.status === "failed" ? "error" : "toolOutput";
		return `${theme.fg(lookOf(agent).color, state)} ${theme.fg("accent", name)}${GAP}${theme.fg(tone, text)}${space}${GAP}${theme.fg("muted", took)}`;
	});
}

/** What each agent does or, if nothing more is known, is about; both where there is room: several may do the same. */
function textsOf(agents: readonly AgentLine[], room: number, hasWord: boolean): string[] {
	const doing = agents.map((line) => doingOf(line, hasWord));
	const topics = agents.map(({ agent: { description = "", verified } }) =>
		[sanitize(description), ...(verified === undefined ? [] : [sanitize(verified)])].join(" · "),
	);
	if (room < WITH_ABOUT || doing.every((text) => text === ""))
		return agents.map((_, index) => clip(doing[index] || (topics[index] ?? ""), room));
	const columns = padded(topics.map((topic) => clip(topic, Math.floor(room / 2))));
	return agents.map((_, index) => clip(`${columns[index]}${GAP}${doing[index]}`.trimEnd(), room));
}

/** What it asks or does or why it ended; empty if that is said by its status. */
function doingOf({ agent, why }: AgentLine, hasWord: boolean): string {
	const { status, question, activity = "", description, agentId } = agent;
	if (status === "waiting")
		return [hasWord ? "" : lookOf(agent).word, sanitize(question ?? "")].filter(Boolean).join(": ");
	if (status === "completed") return "";
	if (isSettled(status)) return [why ?? sanitize(activity), sanitize(agentId)].filter(Boolean).join(" · ");
	return activity === description ? "" : sanitize(activity);
}

function figuresOf(agents: readonly AgentDetails[], width: number): string[] {
	const columns = [
		...(width >= WITH_TOOLS ? [agents.map(({ toolUses }) => formatCount(toolUses, "tool"))] : []),
		...(width >= WITH_TOKENS ? [agents.map(({ tokens }) => formatTokens(tokens))] : []),
		...(agents.some(({ cost = 0 }) => cost > 0) ? [agents.map(({ cost = 0 }) => formatCost(cost))] : []),
		agents.map(({ durationMs }) => formatDuration(durationMs)),
	].map((column) => padded(column, "start"));
	return agents.map((_, index) => columns.map((column) => column[index]).join(GAP));
}

function padded(texts: readonly string[], side: "start" | "end" = "end"): string[] {
	const widest = Math.max(0, ...texts.map((text) => visibleWidth(text)));
	return texts.map((text) => {
		const space = " ".repeat(widest - visibleWidth(text));
		return side === "end" ? text + space : space + text;
	});
}
