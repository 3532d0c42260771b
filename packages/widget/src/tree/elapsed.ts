/** An agent's elapsed times, rounded as they are shown: while they are equal, so is its row. */
import { countsBelow, type TreeNode } from "./tree.ts";
import { ACTIVE } from "./view.ts";

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;

export interface Elapsed {
	/** How long it has been running. */
	readonly seconds: number;
	/** How long it has been silent, if that is worth showing. */
	readonly silentMinutes: number;
}

/** Zero unless the agent is active. */
export function elapsedOf(node: TreeNode, now: number): Elapsed {
	if (node.rank !== ACTIVE) return NO_TIME;
	const seconds = Math.round((now - (node.view.startedAt ?? now)) / SECOND_MS);
	return { seconds: seconds > 0 ? seconds : 0, silentMinutes: silentMinutes(node, now) };
}

const NO_TIME: Elapsed = { seconds: 0, silentMinutes: 0 };

/** An agent waiting for its sub-agents is silent but not stuck. */
function silentMinutes(node: TreeNode, now: number): number {
	const { status, lastEventAt } = node.view;
	if (status !== "running" || lastEventAt === undefined) return 0;
	const below = countsBelow(node);
	if (below.running + below.waiting + below.queued > 0) return 0;
	const minutes = Math.floor((now - lastEventAt) / MINUTE_MS);
	return minutes > 0 ? minutes : 0;
}
