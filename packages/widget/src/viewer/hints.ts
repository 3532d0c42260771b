/** The last line of the viewer: which keys do what now, as many as fit. Pure. */
import { visibleWidth } from "@earendil-works/pi-tui";
import { clip } from "./row.ts";
import type { ViewerTheme } from "./theme.ts";

export interface Hint {
	key: string;
	label: string;
	/** Those with the smallest stay longest where there is little room. */
	rank: number;
}

const GAP = "  ";

/** In the order given; the least important ones give way. */
export function hintLine(hints: readonly Hint[], width: number, theme: ViewerTheme): string {
	const known = hints.filter(({ key }) => key !== "");
	const kept = new Set<Hint>();
	let room = width + GAP.length;
	for (const hint of known.toSorted((one, other) => one.rank - other.rank)) {
		const columns = widthOf(hint) + GAP.length;
		if (columns > room) break;
		room -= columns;
		kept.add(hint);
	}
	const [first] = known.toSorted((one, other) => one.rank - other.rank);
	if (kept.size === 0) return first ? theme.muted(clip(`${first.key} ${first.label}`, width)) : "";
	return known
		.filter((hint) => kept.has(hint))
		.map(({ key, label }) => `${theme.accent(key)} ${theme.muted(label)}`)
		.join(GAP);
}

function widthOf({ key, label }: Hint): number {
	return visibleWidth(key) + 1 + visibleWidth(label);
}
