/** Lets a tool that merely waits give way when the user types something while the model works. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export interface UserInputSignal {
	/** Fires when the user speaks. `stop` must be called when the waiting is over. */
	untilSteered(): { signal: AbortSignal; stop: () => void };
}

export function createUserInputSignal(pi: ExtensionAPI): UserInputSignal {
	const waiting = new Set<AbortController>();
	pi.on("input", ({ source, streamingBehavior }) => {
		if (source === "extension" || streamingBehavior === undefined) return undefined;
		for (const wait of waiting) wait.abort();
		return undefined;
	});
	return {
		untilSteered() {
			const wait = new AbortController();
			waiting.add(wait);
			return { signal: wait.signal, stop: () => waiting.delete(wait) };
		},
	};
}
