/** Closes a run's checkout: its result says where the changes are, even if no one watches. */
import type { RunSpec } from "@pi-subagents/core";
import type { ResultFile } from "@pi-subagents/runs";
import { closeWorktree, readWorktreeRecord } from "@pi-subagents/worktree";

export async function withWorktree(
	result: ResultFile,
	{ isolation, confinedTo }: Pick<RunSpec, "isolation" | "confinedTo">,
): Promise<ResultFile> {
	const record = isolation && confinedTo ? await readWorktreeRecord(confinedTo).catch(() => undefined) : undefined;
	if (record?.agentId !== result.agentId) return result; // none, or that of the agent which launched it
	return { ...result, outcome: { ...result.outcome, worktree: await closeWorktree(record) } };
}
