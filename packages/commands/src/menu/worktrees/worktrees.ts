/** The worktrees level of the menu: agents' branches, and worktrees left by crashes. */

import { defined } from "@pi-subagents/core/internal/base";
import { worktreeLines, worktreeProblems } from "@pi-subagents/core/outcome-text";
import { formatCount } from "@pi-subagents/progress";
import { diffBlocks } from "@pi-subagents/widget/dialogs";
import {
	applyWorktree,
	closeWorktree,
	diffWorktree,
	discardWorktree,
	type ListedWorktree,
	listWorktrees,
	type WorktreeRecord,
} from "@pi-subagents/worktree";
import type { CommandHost } from "../../host.ts";
import type { Menu } from "../../screen/navigation.ts";
import { breadcrumb, runMenu } from "../../screen/navigation.ts";
import {
	conflictBlocks,
	discardText,
	fileList,
	introOf,
	type WorktreeAction,
	worktreeActions,
	worktreeItem,
} from "./worktree-items.ts";

const TITLE = "Worktrees";
const EMPTY = "There are no agent worktrees or branches. With `isolation: worktree` an agent works in its own.";

export function worktreesMenu(menu: Menu): Promise<void> {
	return runMenu(
		menu.screen,
		async () => {
			const items = (await listed(menu)).map((each) => worktreeItem(each, menu.clock.now()));
			return { title: breadcrumb("Agents", TITLE), empty: EMPTY, items: () => items, isSearchable: true };
		},
		(name) => worktreeMenu(menu, name),
	);
}

/** Newest first. */
async function listed({ host }: Menu): Promise<ListedWorktree[]> {
	const all = await listWorktrees({ agentDir: host.agentDir });
	return all.map((each) => ({ ...each, record: asTrustedNow(each.record, host) })).reverse();
}

async function find(menu: Menu, name: string): Promise<ListedWorktree | undefined> {
	return (await listed(menu)).find(({ record }) => record.name === name);
}

async function worktreeMenu(menu: Menu, name: string): Promise<void> {
	const { screen } = menu;
	for (let selected: string | undefined; ; ) {
		const worktree = await find(menu, name);
		if (!worktree) return; // it was discarded, here or elsewhere
		const action = await screen.choose({
			title: breadcrumb("Agents", TITLE, worktree.record.branch),
			intro: introOf(worktree),
			items: () => worktreeActions(worktree),
			...defined({ selected }),
		});
		if (action === undefined) return;
		selected = action;
		await runAction(menu, action as WorktreeAction, worktree).catch((error: Error) =>
			screen.notify(error.message, "error"),
		);
	}
}

async function runAction(menu: Menu, action: WorktreeAction, worktree: ListedWorktree): Promise<void> {
	const { screen } = menu;
	const { record } = worktree;
	switch (action) {
		case "diff":
			return showDiff(menu, record);
		case "apply":
			return apply(menu, worktree);
		case "keep": {
			const report = await closeWorktree(record, {
				report: (text) => screen.notify(text, "warning"),
				allows: record.allows,
			});
			return screen.notify(
				[...worktreeLines(report), ...worktreeProblems(report)].join(" "),
				report.problems ? "warning" : "info",
			);
		}
		case "copy":
			return screen.copy(record.report?.merge ?? "");
		case "discard": {
			const decision = {
				title: `Discard ${record.branch}?`,
				intro: discardText(worktree),
				yes: "Discard it",
				no: "Keep it",
			};
			if (!(await screen.confirm(decision))) return;
			await discardWorktree(record);
			return screen.notify(`Discarded ${record.branch}.`);
		}
		default:
			throw new Error(`unknown action: ${JSON.stringify(action satisfies never)}`);
	}
}

async function showDiff({ screen }: Menu, record: WorktreeRecord): Promise<void> {
	return screen.read(breadcrumb(`${record.type} ${record.agentId}`, "Diff"), diffBlocks(await diffWorktree(record)));
}

/** What an agent has changed in its worktree, in its latest run that had one. */
export async function showDiffOf(menu: Menu, agentId: string): Promise<void> {
	const worktree = (await listed(menu)).find(({ record }) => record.agentId === agentId);
	if (!worktree) throw new Error("Its worktree is gone: it changed nothing, or its branch was discarded.");
	return showDiff(menu, worktree.record);
}

/** A dry run first, then, once confirmed, for real. */
async function apply({ screen }: Menu, { record }: ListedWorktree): Promise<void> {
	const preview = await applyWorktree(record, { isDryRun: true });
	if (preview.conflicts.length > 0)
		return screen.read(`${record.branch} conflicts`, conflictBlocks(preview.conflicts, record));
	if (preview.files.length === 0) return screen.notify(`All of ${record.branch} is already in ${record.main}.`);
	const count = formatCount(preview.files.length, "file");
	const intro = `${fileList(preview.files)}\n\nThere are no conflicts. The changes go into ${record.main}, unstaged and uncommitted; your own changes stay.`;
	if (!(await screen.confirm({ title: `Apply ${record.branch} to ${count}?`, intro, yes: "Apply it", no: "Not now" })))
		return;
	const { conflicts } = await applyWorktree(record);
	if (conflicts.length > 0) return screen.read(`${record.branch} conflicts`, conflictBlocks(conflicts, record));
	screen.notify(
		`Applied ${record.branch} to ${count}. The branch is still there; discard it when you no longer need it.`,
	);
}

/** With the project's current trust, which may have changed since it was created. */
function asTrustedNow(record: WorktreeRecord, { storedTrust }: Pick<CommandHost, "storedTrust">): WorktreeRecord {
	const trust = storedTrust(record.main);
	return trust === "unasked" ? record : { ...record, allows: trust === "yes" ? "*" : [] };
}
