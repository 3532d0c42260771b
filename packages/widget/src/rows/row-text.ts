/** The text of an agent's row, in pieces, most important first. Pure; time is an argument. */
import {
	endText,
	formatCount,
	formatDuration,
	formatTokens,
	isElsewhere,
	lookOf,
	readableError,
	STATUS_LOOKS,
	verificationText,
} from "@pi-subagents/progress";
import { plainText, type Text } from "../cells/text.ts";
import { type Elapsed, MINUTE_MS, SECOND_MS } from "../tree/elapsed.ts";
import type { TreeNode } from "../tree/tree.ts";
import { ACTIVE, type AgentView, QUEUED, rankOf, SETTLED } from "../tree/view.ts";
import type { Icon, Separator, Tone } from "./layout.ts";
import type { Piece } from "./pieces.ts";
import { cleanText, textOf } from "./text.ts";

/** Wide enough for both activity and figures. */
const WIDE = 100;
const MAX_NAME = 12;
/** Beside an activity a description may be shorter: on 50 columns these leave room for the age, three levels deep. */
const [MIN_NAME, MIN_DESCRIPTION, MIN_BESIDE, MIN_ACTIVITY] = [8, 10, 6, 8];
const MAX_MODEL = 24;
const MAX_TOOL = 16;
const MAX_WORD = 28;
const STUCK_MINUTES = 5;
const FILLING_PERCENT = 70;
const FULL_PERCENT = 85;

export interface RowOptions {
	readonly width: number;
	/** Active agents have a second line for their activity. */
	readonly withDetails: boolean;
	readonly focusId?: string | undefined;
	/** What the agent does now, where that is fresher than its view. */
	readonly doing?: string | undefined;
}

export function iconOf(view: AgentView): Icon {
	if (isElsewhere(view)) return "running";
	if (rankOf(view) !== SETTLED) return view.status;
	if (Object.hasOwn(STATUS_LOOKS, view.status)) return view.status;
	return "done"; // an unknown status from a newer version
}

/**
 * `Plan @box opus split task`, and in one-line mode also its activity or outcome. The model is shown if it differs from the
 * parent's.
 */
export function agentPieces(
	node: TreeNode,
	aboveModel: string | undefined,
	options: RowOptions,
	elapsed: Elapsed,
): Piece[] {
	const { view } = node;
	const type = textOf(view, "type", view.type || view.id);
	const isActive = node.rank === ACTIVE;
	const tone = view.id === options.focusId ? "focus" : isActive ? "type" : "quiet";
	const max = Math.max(MAX_NAME, Math.floor(options.width / 4));
	const name = { tone, text: type, separator: " ", max } as const;
	const pieces: Piece[] = [type.width > MIN_NAME ? { ...name, min: MIN_NAME } : name];
	if (view.machine !== undefined) {
		const machine = textOf(view, "machine", `@${view.machine}`);
		pieces.push({ tone: "model", text: machine, separator: " ", max: MAX_MODEL, dropOrder: 3 });
	}
	if (options.withDetails && view.model !== aboveModel) {
		pieces.push({ tone: "model", text: modelOf(view), separator: " ", max: MAX_MODEL, dropOrder: 4 });
	}
	const state = statePieces(node, options, elapsed);
	const description = textOf(view, "description", view.description);
	const min = state.some((piece) => piece.tone === "activity") ? MIN_BESIDE : MIN_DESCRIPTION;
	pieces.push({ tone: isActive ? "description" : "quiet", text: description, separator: " ", min });
	return [...pieces, ...state];
}

function statePieces(node: TreeNode, options: RowOptions, elapsed: Elapsed): Piece[] {
	if (node.rank === SETTLED) return endPieces(node.view);
	if (node.rank === QUEUED)
		return [{ tone: "quiet", text: cleanText(options.doing), separator: " · ", min: 16, dropOrder: 1 }];
	return options.withDetails || node.isPhase ? [] : workPieces(node, options, elapsed);
}

/** `reading agent-widget.ts · 14s`, or its figures so far. A detail line is never empty. */
export function workPieces({ view }: TreeNode, options: RowOptions, elapsed: Elapsed): Piece[] {
	const { width, withDetails } = options;
	const activity = activityPieces(view, options.doing);
	const figures =
		activity.length === 0 || width >= WIDE ? figurePieces(view, { isShort: !withDetails && width < WIDE }) : [];
	const pieces = [...activity, ...silencePieces(view, elapsed), ...figures];
	if (pieces.length === 0 && withDetails)
		pieces.push({ tone: "activity", text: plainText("working…"), separator: " · " });
	if (elapsed.seconds > 0) pieces.push(timePiece(elapsed.seconds * SECOND_MS));
	return pieces;
}

function activityPieces(view: AgentView, doing: string | undefined): Piece[] {
	if (view.status === "waiting") {
		const question = textOf(view, "question", view.question);
		const tone = isElsewhere(view) ? "activity" : "attention";
		const { word } = lookOf(view);
		const text = question.width === 0 ? word : `${word.replace("waiting for", "asks")}:`;
		return [
			{ tone, text: cleanText(text), separator: " · ", max: MAX_WORD },
			{ tone: "question", text: question, separator: " ", min: 8 },
		];
	}
	const text = doing === undefined ? textOf(view, "activity", view.activity) : cleanText(doing);
	return text.width > 0 ? [{ tone: "activity", text, separator: " · ", min: MIN_ACTIVITY, dropOrder: 1 }] : [];
}

/** `↻3≤20 · 4 tools · 22.8k tokens (38%)`, or `↻3 · 4 tools`. */
function figurePieces(view: AgentView, { isShort }: { isShort: boolean }): Piece[] {
	const { turns = 0, maxTurns, toolUses = 0, usage, contextPercent, compactions = 0 } = view;
	const pieces: Piece[] = [];
	const add = (text: string, tone: Tone = "figures", separator: Separator = " · ") => {
		pieces.push({ tone, text: plainText(text), separator, dropOrder: 5 + pieces.length });
	};
	if (turns > 0) add(maxTurns && !isShort ? `↻${turns}≤${maxTurns}` : `↻${turns}`);
	if (toolUses > 0) add(formatCount(toolUses, "tool"));
	// Cache reads are billed, but are not new work.
	const tokens = usage && !isShort ? usage.input + usage.output + usage.cacheWrite : 0;
	if (!(tokens > 0)) return pieces;
	add(`${formatTokens(tokens)} tokens`);
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
function silencePieces(view: AgentView, { silentMinutes }: Elapsed): Piece[] {
	if (silentMinutes === 0) return [];
	const tool = cleanText(view.memory?.pending?.at(-1)?.tool).cut(MAX_TOOL) || "silent";
	const text = cleanText(`${tool} ${formatDuration(silentMinutes * MINUTE_MS)}`);
	return [{ tone: silentMinutes >= STUCK_MINUTES ? "alarm" : "attention", text, separator: " · " }];
}

/** How it ended, unless the icon says it, and how long it took. */
function endPieces(view: AgentView): Piece[] {
	const { startedAt, completedAt, durationMs } = view;
	const pieces = reasonPieces(view);
	if (durationMs !== undefined) pieces.push(timePiece(durationMs));
	else if (startedAt !== undefined && completedAt !== undefined && completedAt >= startedAt)
		pieces.push(timePiece(completedAt - startedAt));
	return pieces;
}

function reasonPieces(view: AgentView): Piece[] {
	const { status, outcome } = view;
	if (status === "failed") {
		const error = outcome?.status === "failed" ? outcome.error : view.error;
		const text = textOf(view, "error", error && `error: ${readableError(error)}`);
		return [
			{ tone: "failed", text: text.width > 0 ? text : plainText(STATUS_LOOKS.failed.word), separator: " ", min: 12 },
		];
	}
	const isPlain =
		outcome === undefined ||
		outcome.status !== status ||
		(status === "completed" && !("wrappedUp" in outcome) && !("verification" in outcome));
	if (isPlain)
		return status === "aborted"
			? [{ tone: "quiet", text: plainText(STATUS_LOOKS.aborted.word), separator: " · " }]
			: [];
	// The icon says that it is done.
	const isDone = outcome.status === "completed" && !outcome.wrappedUp && outcome.verification;
	const text = textOf(view, "error", isDone ? verificationText(isDone) : endText(outcome));
	return [{ tone: "quiet", text, separator: " · ", min: 16 }];
}

function timePiece(ms: number): Piece {
	return { tone: "figures", text: plainText(formatDuration(ms)), separator: " · ", dropOrder: 3 };
}

/** Shortens `anthropic/claude-opus-4-5-20251101` to `opus-4-5`. */
function modelOf(view: AgentView): Text {
	const { model } = view;
	if (typeof model !== "string") return plainText("");
	const name = model.slice(model.lastIndexOf("/") + 1);
	return textOf(view, "model", name.replace(/^claude-/, "").replace(/-\d{8}$/, ""));
}
