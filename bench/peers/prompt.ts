/** How much longer a request is with 60 models and 100 presets to choose from. */
import { addedBy } from "../worlds/prompt.ts";
import type { Comparison } from "./comparison.ts";
import { forEach } from "./contenders.ts";

export const prompt: Comparison = {
	lines: [{ name: "characters added to every request", unit: "", floor: "one bare tool", target: { value: 7_000 } }],
	work: forEach(({ extension }) => async () => {
		const { tools, systemPrompt } = await addedBy(extension);
		return [tools + systemPrompt];
	}),
	rounds: 1, // the same every time
};
