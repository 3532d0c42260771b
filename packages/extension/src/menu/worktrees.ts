/** The worktrees' part of the menu: what agents changed on branches of their own, and what a crash has left. */
import {
	applyWorktree,
	closeWorktree,
	diffWorktree,
	discardWorktree,
	type KeptWorktree,
	listWorktrees,
} from "@pi-subagents/core/worktree";
import { formatCount } from "@pi-subagents/progress";
import { worktreeLines } from "../worktree-text.ts";
import { worktreesDir } from "../worktrees.ts";
import type { Menu } from "./context.ts";
import { trail, walk } from "./walk.ts";
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
const EMPTY = "No agent has left a worktree or a branch. With `isolation: worktree` an agent works on one of its own.";

export function worktreesMenu(menu: Menu): Promise<void> {
	return walk(
		menu.screen,
		async () => {
			const items = (await listed(menu)).map((each) => worktreeItem(each, menu.clock.now()));
			return { title: trail("Agents", TITLE), empty: EMPTY, items: () => items, isSearchable: true };
		},
		(name) => worktreeMenu(menu, name),
	);
}

/** Newest first. */
async function listed({ host }: Menu): Promise<KeptWorktree[]> {
	return (await listWorktrees({ dir: worktreesDir(host.agentDir) })).reverse();
}

async function find(menu: Menu, name: string): Promise<KeptWorktree | undefined> {
	return (await listed(menu)).find(({ place }) => place.name === name);
}

async function worktreeMenu(menu: Menu, name: string): Promise<void> {
	const { screen } = menu;
	for (let selected: string | undefined; ; ) {
		const worktree = await find(menu, name);
		if (!worktree) return; // it was discarded, here or elsewhere
		const action = await screen.choose({
			title: trail("Agents", TITLE, worktree.place.branch),
			intro: introOf(worktree),
			items: () => worktreeActions(worktree),
			...(selected === undefined ? {} : { selected }),
		});
		if (action === undefined) return;
		selected = action;
		await act(menu, action as WorktreeAction, worktree).catch((error: Error) => screen.notify(error.message, "error"));
	}
}

async function act(menu: Menu, action: WorktreeAction, worktree: KeptWorktree): Promise<void> {
	const { screen } = menu;
	const { place } = worktree;
	switch (action) {
		case "diff":
			return screen.read(place.branch, [{ text: (await diffWorktree(place)) || "It changed nothing." }]);
		case "apply":
			return apply(menu, worktree);
		case "keep": {
			const report = await closeWorktree(place, { report: (text) => screen.notify(text, "warning") });
			return screen.notify(worktreeLines(report).join(" "), report.problems ? "warning" : "info");
		}
		case "copy":
			return screen.copy(place.report?.merge ?? "");
		case "discard": {
			const decision = {
				title: `Discard ${place.branch}?`,
				intro: discardText(worktree),
				yes: "Discard it",
				no: "Keep it",
			};
			if (!(await screen.confirm(decision))) return;
			await discardWorktree(place);
			return screen.notify(`Discarded ${place.branch}.`);
		}
		default:
			throw new Error(`unknown action: ${JSON.stringify(action satisfies never)}`);
	}
}

/** First how it would go, then, with the person's yes, in earnest. */
async function apply({ screen }: Menu, { place }: KeptWorktree): Promise<void> {
	const preview = await applyWorktree(place, { isDryRun: true });
	if (preview.conflicts.length > 0)
		return screen.read(`${place.branch} conflicts`, conflictBlocks(preview.conflicts, place));
	if (preview.files.length === 0) return screen.notify(`All of ${place.branch} is already in ${place.main}.`);
	const count = formatCount(preview.files.length, "file");
	const intro = `${fileList(preview.files)}\n\nThere are no conflicts. The changes will lie in ${place.main}, neither staged nor committed; your own stay.`;
	if (!(await screen.confirm({ title: `Apply ${place.branch} to ${count}?`, intro, yes: "Apply it", no: "Not now" })))
		return;
	const { conflicts } = await applyWorktree(place);
	if (conflicts.length > 0) return screen.read(`${place.branch} conflicts`, conflictBlocks(conflicts, place));
	screen.notify(
		`Applied ${place.branch} to ${count}. The branch is still there; discard it when you are done with it.`,
	);
}
