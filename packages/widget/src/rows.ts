/** The rows of a frame, from what was chosen for it. */
import type { Shown } from "./choose.ts";
import type { Row } from "./layout.ts";
import { fill, type Piece } from "./line.ts";
import type { TreeNode } from "./node.ts";
import { type Counts, minus } from "./summary.ts";
import { hiddenPieces } from "./tally.ts";
import { ownText } from "./text.ts";
import type { AgentView } from "./view.ts";
import { agentPieces, iconOf, type Look, workPieces } from "./words.ts";

/** The columns of a connector, an icon, and the sign before details. */
const LEVEL = 3;
const ICON = 2;
const FRAME_MS = 100;

/** What is shown below something. With `isFollowed`, more rows of the same level come after these. */
export function rowsBelow(shown: Shown, rails: readonly boolean[], look: Look, isFollowed = false): Row[] {
	const rows: Row[] = [];
	const hasHidden = shown.hidden > 0;
	for (const [at, kid] of shown.kids.entries()) {
		const isLast = at === shown.kids.length - 1 && !hasHidden && !isFollowed;
		const inner = [...rails, !isLast];
		const position = { rails, isLast };
		rows.push(kid.node ? agentRow(kid.node, shown.node?.view, position, look) : groupRow(position, look));
		if (kid.node && kid.hasDetail) rows.push(detailRow(kid.node, inner, look));
		for (const row of rowsBelow(kid, inner, look)) rows.push(row);
	}
	if (hasHidden) rows.push(hiddenRow(hiddenBelow(shown), "descendant", { rails, isLast: !isFollowed }, look));
	return rows;
}

/** A line that stands for agents that have none. */
export function hiddenRow(counts: Counts, noun: string, position: Position, look: Look): Row {
	return { ...row("hidden", position, (width) => hiddenPieces(counts, noun, width), look), counts };
}

export function headerRow(pieces: readonly Piece[], isActive: boolean, width: number): Row {
	const icon = isActive ? "session" : "done";
	return { role: "header", icon, rails: [], isLast: true, segments: fill(pieces, width - ICON) };
}

interface Position {
	readonly rails: readonly boolean[];
	readonly isLast: boolean;
}

function agentRow(node: TreeNode, above: AgentView | undefined, position: Position, look: Look): Row {
	const { view } = node;
	// The spinners of a branch turn one after the other, from the top down.
	const frame = Math.floor(look.now / FRAME_MS) + Math.floor(look.now / 1_000) + 2 * position.rails.length;
	return {
		...row("agent", position, () => agentPieces(node, above, look), look),
		id: view.id,
		icon: iconOf(view),
		frame,
	};
}

function detailRow(node: TreeNode, rails: readonly boolean[], look: Look): Row {
	return { ...row("detail", { rails, isLast: true }, () => workPieces(node, look), look), id: node.view.id };
}

function groupRow(position: Position, look: Look): Row {
	const title: Piece = { tone: "note", text: ownText("Other agents"), joint: "", least: 1 };
	return { ...row("group", position, () => [title], look), icon: "lost" };
}

function hiddenBelow({ counts, kids }: Shown): Counts {
	return kids.reduce((left, kid) => minus(left, kid.node?.sum ?? kid.counts), counts);
}

/** A deep row shows only the levels next to it, so that half of the width is left for words. */
function row(
	role: Row["role"],
	{ rails, isLast }: Position,
	piecesFor: (width: number) => readonly Piece[],
	{ width }: Look,
): Row {
	const levels = Math.max(1, Math.floor(width / 2 / LEVEL)) - 1;
	const isCropped = rails.length > levels;
	const inner = isCropped ? rails.slice(rails.length - levels) : rails;
	const before = inner.length * LEVEL + (role === "detail" ? 0 : LEVEL) + (role === "hidden" ? 0 : ICON);
	const left = width - before;
	return { role, rails: inner, isCropped, isLast, segments: fill(piecesFor(left), left) };
}
