/** Agents' own checkouts: created, guarded, closed and applied. Requires git. */
export { type CloseOptions, closeWorktree } from "./close.ts";
export { allowedAt, confinementAt, originOf, worktreesDir } from "./confine.ts";
export { type Git, GitError, type GitOptions, gitWith } from "./git.ts";
export { createGuard, type Guard, type ToolCall } from "./guard.ts";
export {
	type Applied,
	applyWorktree,
	diffWorktree,
	discardWorktree,
	type ListedWorktree,
	listWorktrees,
} from "./list-worktrees.ts";
export { type OpenOptions, openWorktree } from "./open.ts";
export { type Allowed, type Allows, markOf, NeedsOwnSettings, type Setting } from "./own-config.ts";
export { type CheckOptions, checkWorktree } from "./repository.ts";
export { type WorktreeRunnerOptions, worktreeRunner } from "./runner.ts";
export { readWorktreeRecord, type WorktreeRecord } from "./worktree-record.ts";
