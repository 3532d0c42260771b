/** Checkouts that agents have for themselves: made, guarded, closed, and taken over. Needs git. */
export { type CloseOptions, closeWorktree } from "./close.ts";
export { originOf } from "./confine.ts";
export { type Git, GitError, type GitOptions, gitWith } from "./git.ts";
export { createGuard, type Guard, type ToolCall } from "./guard.ts";
export {
	type Applied,
	applyWorktree,
	diffWorktree,
	discardWorktree,
	type KeptWorktree,
	listWorktrees,
} from "./kept.ts";
export { type OpenOptions, openWorktree } from "./open.ts";
export { type Place, readPlace } from "./place.ts";
export { checkWorktree } from "./repository.ts";
export { type WorktreeRunnerOptions, worktreeRunner } from "./runner.ts";
