/** The end of the checkout that a run had for itself: its result says where the changes are, also when nobody watches. */
import type { RunSpec } from "../../runner.ts";
import { closeWorktree } from "../../worktree/close.ts";
import { readPlace } from "../../worktree/place.ts";
import type { ResultFile } from "../layout.ts";

export async function withWorktree(
	result: ResultFile,
	{ isolation, confinedTo }: Pick<RunSpec, "isolation" | "confinedTo">,
): Promise<ResultFile> {
	const place = isolation && confinedTo ? await readPlace(confinedTo.root).catch(() => undefined) : undefined;
	if (!place) return result;
	return { ...result, outcome: { ...result.outcome, worktree: await closeWorktree(place) } };
}
