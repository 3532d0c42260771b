/** Whose tools the model calls where another extension offers tools with the names of ours. */
import type { SharedTools } from "@pi-subagents/runners/session";
import type { Finding } from "./finding.ts";

export function checkSharedTools(shared: readonly SharedTools[]): Finding[] {
	return shared.map(({ extension: { names, path }, tools, isTheirs }): Finding => {
		const [name] = names;
		const [list, are] = [tools.join(", "), tools.length === 1 ? "is" : "are"];
		if (!isTheirs) return { level: "hint", text: `${list} of ${name} (${path}) cannot be called: pi uses ours.` };
		return {
			level: "problem",
			text: `${list} ${are} not ours but ${name}'s (${path}), which pi loads before pi-subagents: calls do not reach our agents, presets and limits.`,
			fix: "Remove that extension (`pi remove`), or list pi-subagents before it in `packages` of pi's settings, then restart pi.",
		};
	});
}
