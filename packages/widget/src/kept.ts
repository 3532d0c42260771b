/** Keeps the words of a row from frame to frame: most rows say in the next one what they said in the last. */
import type { Segment } from "./layout.ts";
import type { AgentView } from "./view.ts";

/** All that the words of a row depend on, beside the view. */
export interface Circumstances {
	/** Columns for the words. */
	readonly left: number;
	/** Columns of the frame. */
	readonly width: number;
	readonly withDetails: boolean;
	readonly isFocus: boolean;
	readonly aboveModel: string | undefined;
	readonly seconds: number;
	readonly silentMinutes: number;
}

interface Kept {
	readonly circumstances: Circumstances;
	readonly segments: readonly Segment[];
}

/** An agent has at most two rows. A view that has changed is another object, so the old words go with the old one. */
const kept = { agent: new WeakMap<AgentView, Kept>(), detail: new WeakMap<AgentView, Kept>() };

export function keptSegments(
	role: keyof typeof kept,
	view: AgentView,
	circumstances: Circumstances,
	make: () => readonly Segment[],
): readonly Segment[] {
	const before = kept[role].get(view);
	if (before && isSame(before.circumstances, circumstances)) return before.segments;
	const segments = make();
	kept[role].set(view, { circumstances, segments });
	return segments;
}

function isSame(one: Circumstances, other: Circumstances): boolean {
	return (
		one.seconds === other.seconds &&
		one.silentMinutes === other.silentMinutes &&
		one.left === other.left &&
		one.width === other.width &&
		one.withDetails === other.withDetails &&
		one.isFocus === other.isFocus &&
		one.aboveModel === other.aboveModel
	);
}
