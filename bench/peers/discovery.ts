/** Finding a thousand presets, and looking at them again when nothing has changed. */
import { discoveryOf } from "../entries/presets.ts";
import { type Subject, timed } from "../measure.ts";
import { importSource, PROCESS, rivalDir } from "../rivals.ts";
import type { Comparison, Work } from "./comparison.ts";

const FILES = 1_000;
const floor = "readdir and readFile";

const { root, ...found } = discoveryOf(FILES);

export const discovery: Comparison = {
	lines: [
		{ name: "1,000 presets, found", unit: "ms", floor },
		{ name: "1,000 presets, looked at again", unit: "ms", floor },
	],
	work: {
		floor: both(found.floor, found.floor),
		ours: both(found.ours, found.oursAgain),
		"in-process rival": both(found.rival, found.rival),
		"process rival": async () => {
			const { discoverAgents } = await importSource(await rivalDir(PROCESS), "src/agents/agents.ts");
			const discover = timed("rival's discovery", () => {
				const { agents } = discoverAgents(root, "project");
				if (agents.length < FILES) throw new Error(`found ${agents.length} presets`);
			});
			return [await discover.once(), await discover.once()];
		},
	},
};

function both(first: Subject, again: Subject): Work {
	return async () => {
		await again.once(); // what it keeps of the files, if anything, is kept now
		return [await first.once(), await again.once()];
	};
}
