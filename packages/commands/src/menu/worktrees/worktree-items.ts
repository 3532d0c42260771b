/** Agents' worktrees as menu items, and the actions of each. Pure. */

import { statText } from "@pi-subagents/core/report";
import type { ListedWorktree } from "@pi-subagents/core/worktree";
import { formatDuration } from "@pi-subagents/progress";
import type { Block, Item, Row, Tone } from "@pi-subagents/widget/dialogs";

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

/** The summary of a diff, then each file under its name, with its lines in colours. */
export function diffBlocks(diff: string): Block[] {
	const [summary = "", ...files] = diff.split(/^(?=diff --git )/m);
	if (summary.trim() === "" && files.length === 0) return [{ text: "No changes." }];
	const stat = summary.replace(/^ /gm, "").trim(); // git indents it
	return [...(stat === "" ? [] : [{ text: stat, tone: "muted" as const }]), ...files.map(fileBlock)];
}

/** Everything before the first hunk is named in the heading or of interest to git only. */
function fileBlock(text: string): Block {
	const lines = text.trimEnd().split("\n");
	const start = lines.findIndex((line) => line.startsWith("@@"));
	const head = start < 0 ? lines : lines.slice(0, start);
	const hunks = start < 0 ? head.filter((line) => line.startsWith("Binary files")) : lines.slice(start);
	const counted = (sign: string) => hunks.filter((line) => line.startsWith(sign)).length;
	const heading = `${nameIn(head)}  +${counted("+")} −${counted("-")}`;
	return {
		rows: [
			{ lead: [], body: [{ text: heading, tone: "strong" }] },
			...hunks.map((line): Row => ({ lead: [], body: [{ text: line, ...toneOfLine(line) }] })),
		],
	};
}

function nameIn(head: readonly string[]): string {
	const after = (start: string) => head.find((line) => line.startsWith(start))?.slice(start.length);
	const [from, to] = [after("rename from "), after("rename to ")];
	if (from !== undefined && to !== undefined) return `${from} → ${to}`;
	const name = [after("+++ b/"), after("--- a/")].find((each) => each !== undefined);
	if (name === undefined) return head[0]?.replace(/^diff --git a\/(.*) b\/\1$/, "$1") ?? "";
	if (head.some((line) => line.startsWith("new file"))) return `${name} (new)`;
	return head.some((line) => line.startsWith("deleted file")) ? `${name} (deleted)` : name;
}

const LINE_TONES: Readonly<Record<string, Tone>> = {
	"+": "good",
	"-": "bad",
	"@": "accent",
	"\\": "muted",
	"…": "warn",
};

function toneOfLine(line: string): { tone: Tone } | undefined {
	const tone = LINE_TONES[line.charAt(0)] ?? (line.startsWith(" ") ? "muted" : undefined);
	return tone && { tone };
}

/** More files would fill the screen. */
const MAX_LISTED = 30;

export function fileList(files: readonly string[]): string {
	const more = files.length - MAX_LISTED;
	return [...files.slice(0, MAX_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}
