/** Builds the rows of a frame from the selected nodes. Most rows do not change between frames, so their text is cached. */

import { plainText } from "../cells/text.ts";
import { type Counts, minus } from "../tree/counts.ts";
import { elapsedOf } from "../tree/elapsed.ts";
import type { TreeNode } from "../tree/tree.ts";
import { type AgentView, SETTLED } from "../tree/view.ts";
import type { Row, Segment } from "./layout.ts";
import { fitPieces, type Piece } from "./pieces.ts";
import { agentPieces, iconOf, type RowOptions, workPieces } from "./row-text.ts";
import type { VisibleNode } from "./select-rows.ts";
import { hiddenPieces } from "./tally.ts";

/** Columns of a connector, and of an icon or the detail mark. */
const LEVEL = 3;
const ICON = 2;
const FRAME_MS = 100;

export interface FrameOptions extends RowOptions {
	readonly now: number;
	/** What an active or queued agent does now, where that is fresher than its view. Asked for visible agents only. */
	readonly activityOf?: ((id: string) => string | undefined) | undefined;
}

/** The rows below a node. With `isFollowed`, more rows of the same level follow. */
export function rowsBelow(
	visible: VisibleNode,
	rails: readonly boolean[],
	options: FrameOptions,
	isFollowed = false,
): Row[] {
	const rows: Row[] = [];
	const hasHidden = visible.hidden > 0;
	for (const [at, child] of visible.children.entries()) {
		const isLast = at === visible.children.length - 1 && !hasHidden && !isFollowed;
		const inner = [...rails, !isLast];
		const position = { rails, isLast };
		rows.push(
			child.node ? agentRow(child.node, visible.node?.view.model, position, options) : groupRow(position, options),
		);
		if (child.node && child.hasDetail) rows.push(detailRow(child.node, inner, options));
		for (const row of rowsBelow(child, inner, options)) rows.push(row);
	}
	if (hasHidden) rows.push(hiddenRow(hiddenBelow(visible), "descendant", { rails, isLast: !isFollowed }, options));
	return rows;
}

/** A line that counts agents without a row. */
export function hiddenRow(counts: Counts, noun: string, position: Position, options: FrameOptions): Row {
	return { ...row("hidden", position, (left) => fitPieces(hiddenPieces(counts, noun, left), left), options), counts };
}

export function headerRow(pieces: readonly Piece[], isActive: boolean, width: number): Row {
	const icon = isActive ? "session" : "done";
	return { role: "header", icon, rails: [], isLast: true, segments: fitPieces(pieces, width - ICON) };
}

interface Position {
	readonly rails: readonly boolean[];
	readonly isLast: boolean;
}

function agentRow(node: TreeNode, aboveModel: string | undefined, position: Position, options: FrameOptions): Row {
	// The spinners of a branch are offset by level.
	const frame = Math.floor(options.now / FRAME_MS) + Math.floor(options.now / 1_000) + 2 * position.rails.length;
	const { view, isPhase } = node;
	return {
		...row(isPhase ? "group" : "agent", position, segmentsOf(node, aboveModel, options), options),
		...(isPhase ? {} : { id: view.id }),
		icon: iconOf(view),
		frame,
	};
}

function detailRow(node: TreeNode, rails: readonly boolean[], options: FrameOptions): Row {
	return {
		...row("detail", { rails, isLast: true }, segmentsOf(node, undefined, options, "detail"), options),
		id: node.view.id,
	};
}

function segmentsOf(
	node: TreeNode,
	aboveModel: string | undefined,
	options: FrameOptions,
	role: "agent" | "detail" = "agent",
) {
	const { width, withDetails, focusId } = options;
	const elapsed = elapsedOf(node, options.now);
	const doing = node.rank === SETTLED ? undefined : options.activityOf?.(node.view.id);
	return (left: number): readonly Segment[] => {
		const isFocus = node.view.id === focusId;
		return cachedSegments(role, node.view, { ...elapsed, left, width, withDetails, isFocus, aboveModel, doing }, () =>
			fitPieces(
				role === "agent"
					? agentPieces(node, aboveModel, { ...options, doing }, elapsed)
					: workPieces(node, { ...options, doing }, elapsed),
				left,
			),
		);
	};
}

function groupRow(position: Position, options: FrameOptions): Row {
	const title: Piece = { tone: "note", text: plainText("Other agents"), separator: "", min: 1 };
	return { ...row("group", position, (left) => fitPieces([title], left), options), icon: "lost" };
}

function hiddenBelow({ counts, children }: VisibleNode): Counts {
	return children.reduce((left, child) => minus(left, child.node?.counts ?? child.counts), counts);
}

/** A deep row shows only its nearest levels, so that half of the width is left for text. */
function row(
	role: Row["role"],
	{ rails, isLast }: Position,
	segmentsFor: (left: number) => readonly Segment[],
	{ width }: RowOptions,
): Row {
	const levels = Math.max(1, Math.floor(width / 2 / LEVEL)) - 1;
	const isCropped = rails.length > levels;
	const inner = isCropped ? rails.slice(rails.length - levels) : rails;
	const before = inner.length * LEVEL + (role === "detail" ? 0 : LEVEL) + (role === "hidden" ? 0 : ICON);
	return { role, rails: inner, isCropped, isLast, segments: segmentsFor(width - before) };
}

/** Everything a row's text depends on besides the view. */
interface CacheKey {
	/** Columns for the text. */
	readonly left: number;
	/** Columns of the frame. */
	readonly width: number;
	readonly withDetails: boolean;
	readonly isFocus: boolean;
	readonly aboveModel: string | undefined;
	readonly seconds: number;
	readonly silentMinutes: number;
	/** What it does now. */
	readonly doing: string | undefined;
}

interface Kept {
	readonly circumstances: CacheKey;
	readonly segments: readonly Segment[];
}

/** An agent has at most two rows. A changed view is a new object, so stale entries are collected with the old one. */
const kept = { agent: new WeakMap<AgentView, Kept>(), detail: new WeakMap<AgentView, Kept>() };

function cachedSegments(
	role: keyof typeof kept,
	view: AgentView,
	circumstances: CacheKey,
	make: () => readonly Segment[],
): readonly Segment[] {
	const before = kept[role].get(view);
	if (before && isSame(before.circumstances, circumstances)) return before.segments;
	const segments = make();
	kept[role].set(view, { circumstances, segments });
	return segments;
}

function isSame(one: CacheKey, other: CacheKey): boolean {
	return (
		one.seconds === other.seconds &&
		one.silentMinutes === other.silentMinutes &&
		one.left === other.left &&
		one.width === other.width &&
		one.withDetails === other.withDetails &&
		one.isFocus === other.isFocus &&
		one.doing === other.doing &&
		one.aboveModel === other.aboveModel
	);
}
