/** The checkouts that agents had for themselves: those that a crash has left, and branches that wait for somebody. */
import { listWorktrees } from "@pi-subagents/core/worktree";
import { formatCount } from "@pi-subagents/progress";
import { worktreesDir } from "../../worktrees.ts";
import type { Finding } from "./finding.ts";

export async function checkWorktrees(agentDir: string): Promise<Finding[]> {
	const all = await listWorktrees({ dir: worktreesDir(agentDir) });
	const left = all.filter(({ state }) => state === "left");
	const kept = all.filter(({ state }) => state === "kept").length;
	const waiting = `${formatCount(kept, "branch", "branches")} of agents to look at`;
	if (left.length === 0)
		return [{ level: "ok", text: kept === 0 ? "none left behind" : `none left behind; ${waiting}` }];
	return left.map(({ place, isChanged }) => ({
		level: "hint",
		text: `${place.root} was left by agent ${place.agentId}, with ${isChanged ? "changes that are not committed or merged" : "no changes"}.`,
		fix: "In /agents, under Worktrees: look at it, keep it on its branch, or discard it.",
	}));
}
