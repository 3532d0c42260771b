/**
 * How a person sees a message about settled agents. Its details come from a session file that may be old or edited, so
 * every field is checked; what is drawn is cleaned and fits any width.
 */
import { getMarkdownTheme, keyHint, type Theme, type ThemeColor } from "@earendil-works/pi-coding-agent";
import { type Component, Markdown, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { isObject } from "@pi-subagents/core/internal/base";
import { factsIn, pausedText, worktreeLabel } from "@pi-subagents/core/outcome-text";
import { runIdsIn } from "@pi-subagents/delivery";
import {
	endText,
	formatCost,
	formatCount,
	formatDuration,
	formatTokens,
	isPlainSuccess,
	lookOf,
	sanitize,
	sanitizeBlock,
	verificationText,
} from "@pi-subagents/progress";
import { clip, fill, lineOf, within } from "@pi-subagents/widget/cells";
import { firstLines } from "./fold.ts";
import { endInSummary } from "./upgrade/summary.ts";

interface Message {
	content?: unknown;
	details?: unknown;
}

/** What could be read of a `NotifiedAgent`. */
interface Told {
	preset: string;
	description: string;
	status: string;
	/** Why it did not complete. */
	reason: string;
	/** What there is to know of one that did: whether it was verified, and the branch of its changes. */
	note: string;
	said: string;
	/** The end of what the command printed that did not accept its work. */
	output: string;
	/** The most important first. */
	figures: readonly string[];
	resultPath: string;
}

/** No message of ours holds more. */
const MAX_AGENTS = 100;
const MAX_CHARACTERS = 20_000;

/** Of one agent as much as in the row of a call; several share the box. */
const [LINES_ALONE, LINES_COLLAPSED] = [6, 3];
/** With more agents than this, their heads alone are enough to fill a screen. */
const MAX_PREVIEWED = 4;

/** A description has this much room before figures do. */
const GOOD_DESCRIPTION = 24;

export function renderNotification(message: Message, { expanded }: { expanded: boolean }, theme: Theme): Component {
	const agents = agentsIn(message.details);
	const untold = runIdsIn(message.details).length - agents.length;
	let drawn: { width: number; lines: string[] } | undefined;
	const draw = (width: number): string[] => {
		const room = Math.max(1, width - 2);
		const body = agents.length > 0 ? told(agents, room, expanded, theme) : bare(message.content, room, theme);
		const more = agents.length > 0 && untold > 0 ? [theme.fg("muted", clip(`and ${untold} more`, room))] : [];
		return within(
			width,
			["", ...body, ...more, ""].map((line) => ` ${line}`),
		).map((line) => theme.bg("customMessageBg", fill(line, width)));
	};
	return {
		invalidate() {
			drawn = undefined;
		},
		render(width) {
			if (drawn?.width !== width) drawn = { width, lines: width > 0 ? draw(width) : [] };
			return drawn.lines;
		},
	};
}

function told(agents: readonly Told[], width: number, expanded: boolean, theme: Theme): string[] {
	if (expanded) return agents.flatMap((agent, index) => [...(index > 0 ? [""] : []), ...whole(agent, width, theme)]);
	const most = agents.length > MAX_PREVIEWED ? 0 : agents.length > 1 ? LINES_COLLAPSED : LINES_ALONE;
	const lines = agents.flatMap((agent) => beginning(agent, most, width, theme));
	return agents.some((agent) => isCut(agent, most, width))
		? [...lines, `${theme.fg("muted", "… ")}${keyHint("app.tools.expand", "to expand")}`]
		: lines;
}

/** Who it was, what it was about, and what it took: at least the first figure, and as many as leave room for the rest. */
function head({ status, preset, description, figures }: Told, width: number, theme: Theme): string {
	const { icon, color } = lookOf(status);
	const paint = (colour: ThemeColor) => (text: string) => theme.fg(colour, text);
	const took = figures.map((text, at) => ({
		text,
		paint: paint("muted"),
		...(at === 0 ? {} : { separator: " · ", dropOrder: at }),
	}));
	return lineOf(
		[
			{ text: `${icon} ${preset}`, paint: paint(color) },
			{ text: description, paint: paint("customMessageText"), separator: " ", min: GOOD_DESCRIPTION },
			...took,
		],
		width,
	);
}

function beginning(agent: Told, most: number, width: number, theme: Theme): string[] {
	const indented = (text: string) => (text === "" ? [] : [clip(`  ${text}`, width)]);
	const said = saidRows(agent, most, width).slice(0, most);
	return [
		head(agent, width, theme),
		...indented(agent.reason).map((line) => theme.fg("warning", line)),
		...indented(agent.note).map((line) => theme.fg("muted", line)),
		...said.map((line) => theme.fg("customMessageText", clip(`  ${line}`, width))),
	];
}

/** The beginning of what it said, in rows of the screen: a paragraph is no line. More than `most` if there is more. */
function saidRows({ said }: Told, most: number, width: number): string[] {
	return firstLines(linesOf(said).join("\n"), Math.max(1, width - 2), most);
}

function isCut(agent: Told, most: number, width: number): boolean {
	const { reason, note, output } = agent;
	if (output !== "" || saidRows(agent, most, width).length > most) return true;
	return [reason, note].some((line) => visibleWidth(line) + 2 > width);
}

function whole(agent: Told, width: number, theme: Theme): string[] {
	const { reason, note, said, output, resultPath } = agent;
	const style = { color: (text: string) => theme.fg("customMessageText", text) };
	return [
		head(agent, width, theme),
		...wrapped(reason, width).map((line) => theme.fg("warning", line)),
		...wrapped(note, width).map((line) => theme.fg("muted", line)),
		...wrapped(output, Math.max(1, width - 2)).map((line) => theme.fg("muted", `  ${line}`)),
		...(said === "" ? [] : ["", ...new Markdown(said, 0, 0, getMarkdownTheme(), style).render(width)]),
		...(resultPath === ""
			? []
			: ["", ...wrapped(`All of it: ${resultPath}`, width).map((line) => theme.fg("muted", line))]),
	];
}

/** A message without details that could be read still says something. */
function bare(content: unknown, width: number, theme: Theme): string[] {
	const parts: unknown[] = Array.isArray(content) ? content : [{ text: content }];
	const text = parts.map((part) => (isObject(part) ? block(part.text) : "")).join("\n");
	return wrapped(text.trim() || "An agent has settled.", width).map((line) => theme.fg("customMessageText", line));
}

function agentsIn(details: unknown): Told[] {
	const agents: unknown = isObject(details) ? details.agents : undefined;
	return Array.isArray(agents) ? agents.slice(0, MAX_AGENTS).filter(isObject).map(toldAgent) : [];
}

function toldAgent(agent: Record<string, unknown>): Told {
	const [status, cost] = [line(agent.status), number(agent.cost)];
	return {
		status,
		preset: line(agent.preset) || "agent",
		description: line(agent.description),
		...endOf(agent),
		said: block(agent.preview).trim(),
		output: block(agent.checkOutput).trimEnd(),
		figures: [
			formatDuration(number(agent.durationMs)),
			...(cost > 0 ? [formatCost(cost)] : []),
			formatCount(number(agent.toolUses), "tool"),
			`${formatTokens(number(agent.tokens))} tokens`,
		],
		resultPath: line(agent.resultPath),
	};
}

/** Why it did not complete, or what there is to know of one that did. */
function endOf(agent: Record<string, unknown>): Pick<Told, "reason" | "note"> {
	const outcome = factsIn(agent.outcome);
	if (!outcome) return endInSummary(line(agent.status), line(agent.summary));
	const label = worktreeLabel(outcome.worktree);
	const more = [label && line(label), ...(agent.isPaused === true ? [pausedText(line(agent.id))] : [])];
	const after = (first: string | undefined) => [first, ...more].filter((each) => each !== undefined).join("; ");
	if (!isPlainSuccess(outcome))
		return { reason: after(endText(outcome, { durationMs: number(agent.durationMs) })), note: "" };
	const verification = outcome.status === "completed" ? outcome.verification : undefined;
	return { reason: "", note: after(verification && verificationText(verification)) };
}

/** Blank ones would waste the little room of a folded box. */
function linesOf(text: string): string[] {
	return text.split("\n").filter((each) => each.trim() !== "");
}

function wrapped(text: string, width: number): string[] {
	return text === "" ? [] : wrapTextWithAnsi(text, width);
}

function line(value: unknown): string {
	return typeof value === "string" ? sanitize(value.slice(0, MAX_CHARACTERS)) : "";
}

function block(value: unknown): string {
	return typeof value === "string" ? sanitizeBlock(value.slice(0, MAX_CHARACTERS)) : "";
}

function number(value: unknown): number {
	return typeof value === "number" ? value : 0;
}
