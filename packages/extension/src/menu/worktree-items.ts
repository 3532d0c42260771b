/** Worktrees of agents as things to choose, and what can be done with one. Pure. */
import type { KeptWorktree } from "@pi-subagents/core/worktree";
import { formatDuration } from "@pi-subagents/progress";
import type { Block } from "../commands/layout.ts";
import { statText } from "../worktree-text.ts";
import type { Item } from "./screen.ts";

type Place = KeptWorktree["place"];

const STATES = {
	"in use": { mark: { text: "●", tone: "accent" }, says: "its agent is at work" },
	left: { mark: { text: "!", tone: "warn" }, says: "its agent ended without closing it" },
	kept: { mark: { text: "✓", tone: "good" }, says: "waits on its branch" },
} as const;

export function worktreeItem({ place, state, isChanged }: KeptWorktree, now: number): Item {
	const { report } = place;
	return {
		value: place.name,
		mark: STATES[state].mark,
		label: place.branch,
		tag: { text: report ? statText(report) : isChanged ? "changed" : "unchanged" },
		about: place.description,
		end: formatDuration(Math.max(0, now - place.createdAt)),
		note: `${STATES[state].says}; ${place.main}`,
	};
}

export function introOf({ place, state }: KeptWorktree): string {
	const { type, agentId, description, main, report, failure } = place;
	const where = report?.path ?? (report ? undefined : place.root);
	return [
		`${description} (${type} ${agentId}); ${STATES[state].says}.`,
		`Made from ${main}.`,
		...(where === undefined ? [] : [`Its directory: ${where}`]),
		...(report?.problems ?? []),
		...(failure === undefined ? [] : [failure]),
	].join("\n");
}

export type WorktreeAction = "diff" | "apply" | "keep" | "copy" | "discard";

export function worktreeActions({ place, state }: KeptWorktree): (Item & { value: WorktreeAction })[] {
	const { report, main } = place;
	const diff = { value: "diff" as const, label: "Diff", about: "what it changed" };
	if (state === "in use") return [diff];
	return [
		diff,
		...(state === "left"
			? [
					{
						value: "keep" as const,
						label: "Keep",
						about: "commit what it changed to its branch, and remove its directory",
					},
				]
			: []),
		{ value: "apply", label: "Apply", about: `put its changes into ${main}, after a look for conflicts` },
		...(report?.merge === undefined
			? []
			: [{ value: "copy" as const, label: "Copy the command that merges it", about: report.merge }]),
		{ value: "discard", label: "Discard", about: "delete its branch and its directory" },
	];
}

export function discardText({ place, isChanged }: KeptWorktree): string {
	const { report } = place;
	const what = report ? statText(report) : isChanged ? "changes that are nowhere else" : "no changes";
	return `${place.description}: ${what}. Its branch and its directory are deleted; that cannot be undone.`;
}

export function conflictBlocks(conflicts: readonly string[], { report, main }: Place): Block[] {
	const merge = report?.merge ?? "git merge";
	return [
		{ text: "Both you and the agent have changed these files. Nothing was applied.", tone: "warn" },
		{ text: fileList(conflicts) },
		{ text: `To join them yourself, commit your own changes in ${main}, then: ${merge}`, tone: "muted" },
	];
}

/** More would fill the screen. */
const MOST_LISTED = 30;

export function fileList(files: readonly string[]): string {
	const more = files.length - MOST_LISTED;
	return [...files.slice(0, MOST_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}
