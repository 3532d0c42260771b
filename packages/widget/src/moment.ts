/** All that time says of an agent, in the steps in which it is told: as long as they are the same, so is its row. */
import type { TreeNode } from "./node.ts";
import { ACTIVE } from "./view.ts";

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;

export interface Moment {
	/** For how long it has been at work. */
	readonly seconds: number;
	/** For how long it has said nothing, once that is worth a word. */
	readonly silentMinutes: number;
}

/** Time passes only for who is at work. */
export function momentOf(node: TreeNode, now: number): Moment {
	if (node.rank !== ACTIVE) return TIMELESS;
	const seconds = Math.round((now - (node.view.startedAt ?? now)) / SECOND_MS);
	return { seconds: seconds > 0 ? seconds : 0, silentMinutes: silentMinutes(node, now) };
}

const TIMELESS: Moment = { seconds: 0, silentMinutes: 0 };

/** An agent that waits for others is silent without being stuck. */
function silentMinutes({ view, children }: TreeNode, now: number): number {
	if (view.status !== "running" || view.lastEventAt === undefined) return 0;
	if (children.sum.running + children.sum.waiting + children.sum.queued > 0) return 0;
	const minutes = Math.floor((now - view.lastEventAt) / MINUTE_MS);
	return minutes > 0 ? minutes : 0;
}
