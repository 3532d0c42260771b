/** Settings files that are not understood, so that no agent is launched: shown first, and fixed in the editor. */
import { basename } from "node:path";
import { messageOf } from "@pi-subagents/core/internal/base";
import { editSmallFile, readSmallFile } from "@pi-subagents/core/internal/files";
import { parseObject } from "@pi-subagents/launch";
import type { Item } from "@pi-subagents/widget/dialogs";
import type { Menu } from "../../screen/navigation.ts";

export interface BrokenFile {
	path: string;
	/** What is wrong with it, with the lines. */
	faults: readonly string[];
}

export async function brokenFiles({ launcher, ctx }: Pick<Menu, "launcher" | "ctx">): Promise<BrokenFile[]> {
	const { refusals } = (await launcher.presetReport(ctx)).config;
	const byPath = Map.groupBy(refusals, ({ path }) => path);
	return [...byPath].map(([path, faults]) => ({ path, faults: faults.map(({ text }) => text) }));
}

export function fixItem({ path, faults }: BrokenFile): Item {
	return {
		value: `(fix) ${path}`,
		mark: { text: "!", tone: "bad" },
		label: `Fix ${basename(path)}`,
		tag: { text: "no agent is launched", tone: "bad" },
		about: faults[0] ?? path,
		note: faults.join("\n"),
	};
}

/** Lets the user edit the text until it is understood, or they go back. What is no JSON object is not saved. */
export async function fixFile(menu: Menu, { path, faults }: BrokenFile): Promise<void> {
	const { screen } = menu;
	const found = await textOf(path);
	if ("why" in found) return screen.notify(`${path} cannot be edited here: ${found.why}.`, "error");
	let text = found.text;
	for (let left: readonly string[] = faults; left.length > 0; ) {
		const edited = await screen.edit(left.join("\n"), text);
		if (edited === undefined) return;
		text = edited;
		const object = parseObject(text);
		if (typeof object === "string") {
			left = [`${path} was not saved: it is ${object}`];
			continue;
		}
		await editSmallFile(path, () => text);
		left = (await brokenFiles(menu)).find((file) => file.path === path)?.faults ?? [];
	}
	screen.notify(`${path} is understood again.`);
}

async function textOf(path: string): Promise<{ text: string } | { why: string }> {
	try {
		return { text: (await readSmallFile(path)) ?? "{}\n" };
	} catch (error) {
		return { why: messageOf(error) };
	}
}
