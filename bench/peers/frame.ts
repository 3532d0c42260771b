/** A frame of the tree of agents, all of which are at work. */
import { frameOf } from "../entries/widget.ts";
import type { Subject } from "../measure.ts";
import type { Comparison, Work } from "./comparison.ts";

export const frame: Comparison[] = await Promise.all(
	[10, 100, 1_000].map(async (agents) => ({
		lines: [
			{
				name: `a frame with ${agents} agents`,
				unit: "µs",
				floor: "the visible rows only",
				target: { value: 400 },
			},
		],
		work: {
			floor: drawing(frameOf.floor(agents)),
			ours: drawing(frameOf.ours(agents)),
			"in-process rival": drawing(await frameOf.rival(0, agents)),
			"process rival": drawing(await frameOf.rival(1, agents)),
		},
	})),
);

/** The first frames are drawn by code that is not compiled yet. */
function drawing(subject: Subject): Work {
	return async () => {
		await subject.once();
		return [await subject.once()];
	};
}
