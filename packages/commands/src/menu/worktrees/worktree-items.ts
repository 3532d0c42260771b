/** Agents' worktrees as menu items, and the actions of each. Pure. */

import { statText } from "@pi-subagents/core/outcome-text";
import { formatDuration } from "@pi-subagents/progress";
import type { Block, Item } from "@pi-subagents/widget/dialogs";
import type { ListedWorktree } from "@pi-subagents/worktree";

type WorktreeRecord = ListedWorktree["record"];

const STATES = {
	"in use": { mark: { text: "●", tone: "accent" }, says: "its agent is running" },
	left: { mark: { text: "!", tone: "warn" }, says: "its agent ended without closing it" },
	kept: { mark: { text: "✓", tone: "good" }, says: "kept on its branch" },
} as const;

export function worktreeItem({ record, state, isChanged }: ListedWorktree, now: number): Item {
	const { report } = record;
	return {
		value: record.name,
		mark: STATES[state].mark,
		label: record.branch,
		tag: { text: report ? statText(report) : isChanged ? "changed" : "unchanged" },
		about: record.description,
		end: formatDuration(Math.max(0, now - record.createdAt)),
		note: `${STATES[state].says}; ${record.main}`,
	};
}

export function introOf({ record, state }: ListedWorktree): string {
	const { type, agentId, description, main, report, failure } = record;
	const where = report?.path ?? (report ? undefined : record.root);
	return [
		`${description} (${type} ${agentId}); ${STATES[state].says}.`,
		`Made from ${main}.`,
		...(where === undefined ? [] : [`Its directory: ${where}`]),
		...(report?.problems ?? []),
		...(failure === undefined ? [] : [failure]),
	].join("\n");
}

export type WorktreeAction = "diff" | "apply" | "keep" | "copy" | "discard";

export function worktreeActions({ record, state }: ListedWorktree): (Item & { value: WorktreeAction })[] {
	const { report, main } = record;
	const diff = { value: "diff" as const, label: "Diff", about: "what it changed" };
	if (state === "in use") return [diff];
	return [
		diff,
		...(state === "left"
			? [
					{
						value: "keep" as const,
						label: "Keep",
						about: "commit its changes to its branch and remove its directory",
					},
				]
			: []),
		{ value: "apply", label: "Apply", about: `put its changes into ${main} after checking for conflicts` },
		...(report?.merge === undefined
			? []
			: [{ value: "copy" as const, label: "Copy the merge command", about: report.merge }]),
		{ value: "discard", label: "Discard", about: "delete its branch and directory" },
	];
}

export function discardText({ record, isChanged }: ListedWorktree): string {
	const { report } = record;
	const what = report ? statText(report) : isChanged ? "changes that exist nowhere else" : "no changes";
	return `${record.description}: ${what}. Its branch and directory will be deleted. This cannot be undone.`;
}

export function conflictBlocks(conflicts: readonly string[], { report, main }: WorktreeRecord): Block[] {
	const merge = report?.merge ?? "git merge";
	return [
		{ text: "Both you and the agent have changed these files. Nothing was applied.", tone: "warn" },
		{ text: fileList(conflicts) },
		{ text: `To merge them yourself, commit your changes in ${main}, then: ${merge}`, tone: "muted" },
	];
}

/** More files would fill the screen. */
const MAX_LISTED = 30;

export function fileList(files: readonly string[]): string {
	const more = files.length - MAX_LISTED;
	return [...files.slice(0, MAX_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}
