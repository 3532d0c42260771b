/** Agents' own checkouts, in pi: where they are, and who is told about those whose agent was stopped. */
import { realpath } from "node:fs/promises";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Runner } from "@pi-subagents/core";
import { isWithin } from "@pi-subagents/core/internal/files";
import { worktreeLines, worktreeProblems } from "@pi-subagents/core/outcome-text";
import { type Allows, listWorktrees, worktreeRunner, worktreesDir } from "@pi-subagents/worktree";
import type { Host } from "./host.ts";

/** Around every runner: agents can have a checkout of their own, whatever runs them. */
export function createWorktrees(
	host: Host,
	allows: Allows,
	beforeCleanup: ReadonlyMap<string, (path: string) => unknown>,
): (runner: Runner) => Runner {
	return (runner) =>
		worktreeRunner(runner, {
			dir: worktreesDir(host.agentDir),
			sessionCwd: () => host.session()?.cwd,
			onClosed: (agentId, report) => {
				const isWorthAWord = report.branch !== undefined || report.path !== undefined;
				const lines = [...worktreeLines(report), ...worktreeProblems(report)];
				if (isWorthAWord) host.notify(`Agent ${agentId}: ${lines.join(" ")}`);
			},
			beforeClose: (agentId, root) => beforeCleanup.get(agentId)?.(root),
			report: host.warn,
			allows,
		});
}

/** Work of this checkout's agents that a crash left behind exists only there, and the user would not look for it. */
export async function warnOfLeftWorktrees({ agentDir, warn }: Host, { cwd }: ExtensionContext): Promise<void> {
	const here = await realpath(cwd);
	const left = (await listWorktrees({ agentDir })).filter(
		({ state, isChanged, record }) => state === "left" && isChanged && isWithin(here, record.main),
	);
	const whose =
		left.length === 1
			? "An agent has ended without closing its worktree"
			: `${left.length} agents have ended without closing their worktrees`;
	if (left.length > 0) warn(`${whose}. What was changed there is nowhere else: see /agents, under Worktrees.`);
}
