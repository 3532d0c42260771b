/** The rows of a frame, from what was chosen for it. */
import type { Shown } from "./choose.ts";
import { keptSegments } from "./kept.ts";
import type { Row, Segment } from "./layout.ts";
import { fill, type Piece } from "./line.ts";
import { momentOf } from "./moment.ts";
import type { TreeNode } from "./node.ts";
import { type Counts, minus } from "./summary.ts";
import { hiddenPieces } from "./tally.ts";
import { ownText } from "./text.ts";
import { agentPieces, iconOf, type Look, workPieces } from "./words.ts";

/** The columns of a connector, an icon, and the sign before details. */
const LEVEL = 3;
const ICON = 2;
const FRAME_MS = 100;

export interface FrameLook extends Look {
	readonly now: number;
}

/** What is shown below something. With `isFollowed`, more rows of the same level come after these. */
export function rowsBelow(shown: Shown, rails: readonly boolean[], look: FrameLook, isFollowed = false): Row[] {
	const rows: Row[] = [];
	const hasHidden = shown.hidden > 0;
	for (const [at, kid] of shown.kids.entries()) {
		const isLast = at === shown.kids.length - 1 && !hasHidden && !isFollowed;
		const inner = [...rails, !isLast];
		const position = { rails, isLast };
		rows.push(kid.node ? agentRow(kid.node, shown.node?.view.model, position, look) : groupRow(position, look));
		if (kid.node && kid.hasDetail) rows.push(detailRow(kid.node, inner, look));
		for (const row of rowsBelow(kid, inner, look)) rows.push(row);
	}
	if (hasHidden) rows.push(hiddenRow(hiddenBelow(shown), "descendant", { rails, isLast: !isFollowed }, look));
	return rows;
}

/** A line that stands for agents that have none. */
export function hiddenRow(counts: Counts, noun: string, position: Position, look: FrameLook): Row {
	return { ...row("hidden", position, (left) => fill(hiddenPieces(counts, noun, left), left), look), counts };
}

export function headerRow(pieces: readonly Piece[], isActive: boolean, width: number): Row {
	const icon = isActive ? "session" : "done";
	return { role: "header", icon, rails: [], isLast: true, segments: fill(pieces, width - ICON) };
}

interface Position {
	readonly rails: readonly boolean[];
	readonly isLast: boolean;
}

function agentRow(node: TreeNode, aboveModel: string | undefined, position: Position, look: FrameLook): Row {
	// The spinners of a branch turn one after the other, from the top down.
	const frame = Math.floor(look.now / FRAME_MS) + Math.floor(look.now / 1_000) + 2 * position.rails.length;
	return {
		...row("agent", position, wordsOf(node, aboveModel, look), look),
		id: node.view.id,
		icon: iconOf(node.view),
		frame,
	};
}

function detailRow(node: TreeNode, rails: readonly boolean[], look: FrameLook): Row {
	return {
		...row("detail", { rails, isLast: true }, wordsOf(node, undefined, look, "detail"), look),
		id: node.view.id,
	};
}

function wordsOf(node: TreeNode, aboveModel: string | undefined, look: FrameLook, role: "agent" | "detail" = "agent") {
	const { width, withDetails, focusId } = look;
	const moment = momentOf(node, look.now);
	return (left: number): readonly Segment[] => {
		const isFocus = node.view.id === focusId;
		return keptSegments(role, node.view, { ...moment, left, width, withDetails, isFocus, aboveModel }, () =>
			fill(role === "agent" ? agentPieces(node, aboveModel, look, moment) : workPieces(node, look, moment), left),
		);
	};
}

function groupRow(position: Position, look: FrameLook): Row {
	const title: Piece = { tone: "note", text: ownText("Other agents"), joint: "", least: 1 };
	return { ...row("group", position, (left) => fill([title], left), look), icon: "lost" };
}

function hiddenBelow({ counts, kids }: Shown): Counts {
	return kids.reduce((left, kid) => minus(left, kid.node?.sum ?? kid.counts), counts);
}

/** A deep row shows only the levels next to it, so that half of the width is left for words. */
function row(
	role: Row["role"],
	{ rails, isLast }: Position,
	segmentsFor: (left: number) => readonly Segment[],
	{ width }: Look,
): Row {
	const levels = Math.max(1, Math.floor(width / 2 / LEVEL)) - 1;
	const isCropped = rails.length > levels;
	const inner = isCropped ? rails.slice(rails.length - levels) : rails;
	const before = inner.length * LEVEL + (role === "detail" ? 0 : LEVEL) + (role === "hidden" ? 0 : ICON);
	return { role, rails: inner, isCropped, isLast, segments: segmentsFor(width - before) };
}
