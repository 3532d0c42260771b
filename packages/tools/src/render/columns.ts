/**
 * Several agents of one call: one line each, with status, activity and figures in columns, as wide as the screen. Where
 * there is little room, the status word goes first, then tools and tokens: icon, activity and time stay.
 */
import type { Theme, ThemeColor } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";
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
import { clip, place, share, widest, within } from "@pi-subagents/widget/cells";

/** An agent, and why its run ended if that is known. */
export interface AgentLine {
	agent: AgentDetails;
	why?: string | undefined;
}

const GAP = "  ";
const MIN_NAME = 12;
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
	const words = width >= WITH_WORD ? aligned(agents.map(({ agent }) => lookOf(agent).word)) : undefined;
	const states = agents.map(({ agent }, index) => [lookOf(agent).icon, ...(words ? [words[index]] : [])].join(" "));
	const presets = agents.map(({ agent }) => sanitize(agent.preset));
	const figures = figuresOf(
		agents.map(({ agent }) => agent),
		width,
	);
	const [state = 0, name = 0, room = 0, took = 0] = share(
		[
			{ columns: widest(states), gap: 0 },
			{ columns: widest(presets), gap: 1, max: Math.max(MIN_NAME, Math.floor(width / 5)) },
			{ columns: Number.POSITIVE_INFINITY, gap: GAP.length, min: 1 },
			{ columns: widest(figures), gap: GAP.length },
		],
		width,
	);
	const texts = textsOf(agents, room, words !== undefined);
	const after = (columns: number, gap: string, text: string) => (columns > 0 ? gap + text : "");
	return agents.map(({ agent }, index) => {
		const paint = (colour: ThemeColor) => ({ paint: (text: string) => theme.fg(colour, text) });
		const tone = agent.status === "failed" ? "error" : "toolOutput";
		return [
			place(states[index] ?? "", state, paint(lookOf(agent).color)),
			after(name, " ", place(presets[index] ?? "", name, paint("accent"))),
			after(room, GAP, place(texts[index] ?? "", room, paint(tone))),
			after(took, GAP, place(figures[index] ?? "", took, paint("muted"))),
		].join("");
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
	const columns = aligned(topics.map((topic) => clip(topic, Math.floor(room / 2))));
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
	].map((column) => aligned(column, "end"));
	return agents.map((_, index) => columns.map((column) => column[index]).join(GAP));
}

function aligned(texts: readonly string[], align: "start" | "end" = "start"): string[] {
	const columns = widest(texts);
	return texts.map((text) => place(text, columns, { align }));
}
