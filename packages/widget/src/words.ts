/** What is said of an agent, piece by piece, the important first. Pure; time is an argument. */
import { formatCount, formatDuration, formatTokens, outcomeText } from "@pi-subagents/progress";
import type { Icon, Joint, Tone } from "./layout.ts";
import type { Piece } from "./line.ts";
import { MINUTE_MS, type Moment, SECOND_MS } from "./moment.ts";
import type { TreeNode } from "./node.ts";
import { cleanText, ownText, type Text, textOf } from "./text.ts";
import { ACTIVE, type AgentView, rankOf, SETTLED } from "./view.ts";

/** Where there is room for what an agent does and for its figures. */
const WIDE = 100;
const LEAST_NAME = 12;
const LONGEST_MODEL = 24;
const LONGEST_TOOL = 16;
const STUCK_MINUTES = 5;
const FILLING_PERCENT = 70;
const FULL_PERCENT = 85;

export interface Look {
	readonly width: number;
	/** Agents at work have a second line for what they do. */
	readonly withDetails: boolean;
	readonly focusId?: string | undefined;
}

export function iconOf(view: AgentView): Icon {
	if (rankOf(view) !== SETTLED) return view.status;
	if (view.status === "completed" || view.status === "failed") return view.status;
	if (view.status !== "aborted") return "done"; // a status that a newer version invented
	const by = view.outcome?.status === "aborted" ? view.outcome.by : "user";
	return by === "user" || by === "parent" ? "stopped" : "aborted";
}

/**
 * `Plan opus split task`, and on one line also what it does or how it ended. The model is told where it is not the one
 * of the agent above.
 */
export function agentPieces(node: TreeNode, aboveModel: string | undefined, look: Look, moment: Moment): Piece[] {
	const { view } = node;
	const type = textOf(view, "type", view.type || view.id);
	const isAtWork = node.rank === ACTIVE;
	const tone = view.id === look.focusId ? "focus" : isAtWork ? "type" : "quiet";
	const pieces: Piece[] = [{ tone, text: type, joint: " ", most: Math.max(LEAST_NAME, Math.floor(look.width / 4)) }];
	if (look.withDetails && view.model !== aboveModel) {
		pieces.push({ tone: "model", text: modelOf(view), joint: " ", most: LONGEST_MODEL, spare: 4 });
	}
	const description = textOf(view, "description", view.description);
	pieces.push({ tone: isAtWork ? "description" : "quiet", text: description, joint: " ", least: 10 });
	if (node.rank === SETTLED) pieces.push(...endPieces(view));
	else if (isAtWork && !look.withDetails) pieces.push(...workPieces(node, look, moment));
	return pieces;
}

/** `reading agent-widget.ts · 14s`, or what it has done so far. A line of its own is never empty. */
export function workPieces({ view }: TreeNode, { width, withDetails }: Look, moment: Moment): Piece[] {
	const doing = doingPieces(view);
	const figures =
		doing.length === 0 || width >= WIDE ? figurePieces(view, { isShort: !withDetails && width < WIDE }) : [];
	const pieces = [...doing, ...silencePieces(view, moment), ...figures];
	if (pieces.length === 0 && withDetails) pieces.push({ tone: "activity", text: ownText("working…"), joint: " · " });
	if (moment.seconds > 0) pieces.push(timePiece(moment.seconds * SECOND_MS));
	return pieces;
}

function doingPieces(view: AgentView): Piece[] {
	if (view.status === "waiting") {
		const text = textOf(view, "question", view.question);
		if (text.width === 0) return [{ tone: "attention", text: ownText("waits for an answer"), joint: " · " }];
		return [
			{ tone: "attention", text: ownText("asks:"), joint: " · " },
			{ tone: "question", text, joint: " ", least: 8 },
		];
	}
	const text = textOf(view, "activity", view.activity);
	return text.width > 0 ? [{ tone: "activity", text, joint: " · ", least: 12, spare: 1 }] : [];
}

/** `↻3≤20 · 4 tools · 22.8k token (38%)`, or `↻3 · 4 tools`. */
function figurePieces(view: AgentView, { isShort }: { isShort: boolean }): Piece[] {
	const { turns = 0, maxTurns, toolUses = 0, usage, contextPercent, compactions = 0 } = view;
	const pieces: Piece[] = [];
	const add = (text: string, tone: Tone = "figures", joint: Joint = " · ") => {
		pieces.push({ tone, text: ownText(text), joint, spare: 5 + pieces.length });
	};
	if (turns > 0) add(maxTurns && !isShort ? `↻${turns}≤${maxTurns}` : `↻${turns}`);
	if (toolUses > 0) add(formatCount(toolUses, "tool"));
	// What was read from the cache is billed, but is not new work.
	const tokens = usage && !isShort ? usage.input + usage.output + usage.cacheWrite : 0;
	if (!(tokens > 0)) return pieces;
	add(`${formatTokens(tokens)} token`);
	const notes: string[] = [];
	if (contextPercent !== undefined) notes.push(`${Math.round(contextPercent)}%`);
	if (compactions > 0) notes.push(`⇊${compactions}`);
	if (notes.length > 0) add(`(${notes.join(" · ")})`, fillTone(contextPercent), " ");
	return pieces;
}

function fillTone(percent = 0): Tone {
	return percent >= FULL_PERCENT ? "alarm" : percent >= FILLING_PERCENT ? "attention" : "figures";
}

/** `bash 3m`. */
function silencePieces(view: AgentView, { silentMinutes }: Moment): Piece[] {
	if (silentMinutes === 0) return [];
	const tool = cleanText(view.memory?.pending?.at(-1)?.tool).cut(LONGEST_TOOL) || "silent";
	const text = cleanText(`${tool} ${formatDuration(silentMinutes * MINUTE_MS)}`);
	return [{ tone: silentMinutes >= STUCK_MINUTES ? "alarm" : "attention", text, joint: " · " }];
}

/** How it ended, as far as its icon does not say it, and how long it took. */
function endPieces(view: AgentView): Piece[] {
	const { startedAt, completedAt } = view;
	const pieces = reasonPieces(view);
	if (startedAt !== undefined && completedAt !== undefined && completedAt >= startedAt)
		pieces.push(timePiece(completedAt - startedAt));
	return pieces;
}

function reasonPieces(view: AgentView): Piece[] {
	const { status, outcome } = view;
	if (status === "failed") {
		const error = outcome?.status === "failed" ? outcome.error : view.error;
		const text = textOf(view, "error", error && `error: ${error}`);
		return [{ tone: "failed", text: text.width > 0 ? text : ownText("failed"), joint: " ", least: 12 }];
	}
	const isPlain =
		outcome === undefined || outcome.status !== status || (status === "completed" && !("wrappedUp" in outcome));
	if (isPlain) return status === "aborted" ? [{ tone: "quiet", text: ownText("Stopped"), joint: " · " }] : [];
	const text = textOf(view, "error", outcomeText(outcome));
	return [{ tone: "quiet", text, joint: " · ", least: 16 }];
}

function timePiece(ms: number): Piece {
	return { tone: "figures", text: ownText(formatDuration(ms)), joint: " · ", spare: 3 };
}

/** `anthropic/claude-opus-4-5-20251101` is `opus-4-5` to its friends. */
function modelOf(view: AgentView): Text {
	const { model } = view;
	if (typeof model !== "string") return ownText("");
	const name = model.slice(model.lastIndexOf("/") + 1);
	return textOf(view, "model", name.replace(/^claude-/, "").replace(/-\d{8}$/, ""));
}
