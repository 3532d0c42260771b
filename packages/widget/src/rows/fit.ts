/** Selects what a frame shows and in which form: mode, width and lines in, rows out. Pure. */

import { type Counts, minus, total } from "../tree/counts.ts";
import type { Tree } from "../tree/tree.ts";
import { focusOn } from "./focus.ts";
import type { Layout, Mode, Row } from "./layout.ts";
import { type FrameOptions, headerRow, hiddenRow, rowsBelow } from "./rows.ts";
import { selectRows } from "./select-rows.ts";
import { focusHeaderPieces, headerPieces } from "./tally.ts";

/** Below this, two lines per agent say less than one. */
const READABLE_COLUMNS = 60;
/** Above this, there are too many agents for details. */
const DENSE_AGENTS = 12;

export interface FitOptions {
	/** `auto` is rich if that is readable and shows every agent, otherwise compact. */
	readonly mode: Mode;
	readonly width: number;
	readonly maxLines: number;
	/** Milliseconds since the epoch. */
	readonly now: number;
	/** The agent of a focused frame; by default an active one. */
	readonly focusId?: string | undefined;
	/** The maximum nesting depth, if known. */
	readonly maxDepth?: number | undefined;
	/** What an active or queued agent does now, where that is fresher than its view. Asked for visible agents only. */
	readonly activityOf?: FrameOptions["activityOf"];
}

/** At most `maxLines` rows, none wider than `width`. */
export function fit(tree: Tree, options: FitOptions): Layout {
	const width = whole(options.width);
	const maxLines = whole(options.maxLines);
	const mode = options.mode === "auto" ? readableMode(tree, width, maxLines) : options.mode;
	const isEmpty = maxLines === 0 || total(tree.counts) === 0;
	const rows = isEmpty ? [] : rowsOf(tree, { ...options, mode, width, maxLines });
	const shown = countRows(rows);
	return { mode, width, rows, shown: total(shown), hidden: minus(tree.counts, shown) };
}

function rowsOf(tree: Tree, options: FitOptions): Row[] {
	if (options.mode === "focused") return focusedRows(tree, options);
	const { width, now, maxLines, maxDepth, activityOf } = options;
	const header = headerRow(headerPieces(tree.counts, tree.depth, maxDepth), isActive(tree.counts), width);
	if (maxLines === 1) return [header];
	const withDetails = options.mode === "rich";
	return [
		header,
		...rowsBelow(selectRows(tree, { lines: maxLines - 1, withDetails }), [], { width, now, withDetails, activityOf }),
	];
}

function focusedRows(tree: Tree, { width, now, maxLines, focusId, activityOf }: FitOptions): Row[] {
	const header = headerRow(focusHeaderPieces(tree.counts), isActive(tree.counts), width);
	const focus = maxLines === 1 ? undefined : focusOn(tree, focusId, maxLines - 1);
	if (!focus) return [header];
	const rowOptions = { width, now, withDetails: false, focusId: focus.id, activityOf };
	const isFollowed = total(focus.beside) > 0 && maxLines > 2;
	const rows = [header, ...rowsBelow(focus.top, [], rowOptions, isFollowed)];
	if (!isFollowed) return rows;
	return [...rows, hiddenRow(focus.beside, focus.isCut ? "other" : "sibling", { rails: [], isLast: true }, rowOptions)];
}

function readableMode(tree: Tree, width: number, maxLines: number): "rich" | "compact" {
	const agents = total(tree.counts);
	const rich = 1 + agents + tree.counts.running + tree.counts.waiting + (tree.orphans.length > 0 ? 1 : 0);
	return width < READABLE_COLUMNS || agents > DENSE_AGENTS || rich > maxLines ? "compact" : "rich";
}

function isActive(counts: Counts): boolean {
	return total(counts) > counts.finished;
}

function countRows(rows: readonly Row[]): Counts {
	const counts = { running: 0, waiting: 0, queued: 0, finished: 0 };
	for (const { role, icon } of rows) {
		if (role !== "agent") continue;
		if (icon === "running" || icon === "waiting" || icon === "queued") counts[icon]++;
		else counts.finished++;
	}
	return counts;
}

/** Tolerates NaN and negative numbers. */
function whole(value: number): number {
	return value > 0 ? Math.floor(value) : 0;
}
