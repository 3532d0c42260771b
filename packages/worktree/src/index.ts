/** Agents' own checkouts: created, guarded, closed and applied. Requires git. */

export { createCheckoutGuard, type FileGuard, type ToolCall } from "./checkout-guard.ts";
export { type CloseOptions, closeWorktree, statOf } from "./close.ts";
export { allowedAt, confinedSpec, confinementAt, originOf, pathsMoved } from "./confine.ts";
export { allowing, type Git, GitError, type GitOptions, gitWith, tryGit } from "./git.ts";
export {
	type Applied,
	applyWorktree,
	diffWorktree,
	discardWorktree,
	type ListedWorktree,
	listWorktrees,
} from "./list-worktrees.ts";

export { baseOf, type OpenOptions, openWorktree } from "./open.ts";
export { type Allowed, type Allows, markOf, NeedsOwnSettings, type Setting } from "./own-config.ts";
export { worktreesDir } from "./place.ts";
export { type CheckOptions, checkWorktree, findRepository } from "./repository.ts";
export { type WorktreeRunnerOptions, worktreeRunner } from "./runner.ts";
export { claimWorktree, readWorktreeRecord, readWorktreeRecords, type WorktreeRecord } from "./worktree-record.ts";
