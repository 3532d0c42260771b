/** Closes a run's checkout: its result says where the changes are, even if no one watches. */
import type { RunSpec } from "../../model/runner.ts";
import type { ResultFile } from "../../runs/format/result.ts";
import { closeWorktree } from "../../worktree/close.ts";
import { readWorktreeRecord } from "../../worktree/worktree-record.ts";

export async function withWorktree(
	result: ResultFile,
	{ isolation, confinedTo }: Pick<RunSpec, "isolation" | "confinedTo">,
): Promise<ResultFile> {
	const record = isolation && confinedTo ? await readWorktreeRecord(confinedTo).catch(() => undefined) : undefined;
	if (record?.agentId !== result.agentId) return result; // none, or that of the agent which launched it
	return { ...result, outcome: { ...result.outcome, worktree: await closeWorktree(record) } };
}
