/** Records in, lines out. */
import { type FitOptions, fit } from "./fit.ts";
import { render } from "./render.ts";
import type { Theme } from "./theme.ts";
import { buildTree } from "./tree.ts";
import type { AgentView } from "./view.ts";

/**
 * The lines of a tree of agents; plain text without a theme.
 *
 * @example
 * ```ts
 * const agents = [{ id: "a", status: "completed" as const, type: "scout", description: "look around" }];
 * renderTree(agents, { mode: "auto", width: 80, maxLines: 12, now: Date.now() });
 * // ["○ Agents 1 finished", "└─ ✓ scout look around"]
 * ```
 */
export function renderTree(
	records: Iterable<AgentView>,
	options: FitOptions & { theme?: Theme | undefined },
): string[] {
	return render(fit(buildTree(records), options), options.theme);
}
