/** Edits a preset's file in pi's editor. A mistake never loses the typed text. */
import { basename, dirname } from "node:path";
import { readSmallFile } from "@pi-subagents/core/internal/files";
import type { PresetSource } from "@pi-subagents/presets";
import { sanitizeBlock } from "@pi-subagents/progress";
import type { Screen } from "@pi-subagents/widget/dialogs";
import type { Menu } from "../../screen/navigation.ts";
import { type CheckedPreset, checkPreset, isError, problemText, replaceText } from "./preset-file.ts";

/** A broken file has no known `source`; it is derived from the path. */
export async function editPreset(menu: Menu, path: string, source = sourceOf(path)): Promise<void> {
	const { screen, launcher, ctx } = menu;
	const before = await readSmallFile(path);
	if (before === undefined) throw new Error(`${path} no longer exists.`);
	const shown = sanitizeBlock(before);
	let text = shown;
	for (;;) {
		const edited = await screen.edit(`Edit ${path}`, text);
		if (edited === undefined) return;
		if (edited.trim() === shown.trim()) return screen.notify("Nothing was changed.");
		text = edited;
		const { presets } = await launcher.presetReport(ctx);
		const checked = await checkPreset(withEnd(text), { path, source }, presets);
		const next = checked.preset ? "save" : await askAboutErrors(screen, checked, "Save it as it is");
		if (next === "discard") return;
		if (next === "edit") continue;
		await replaceText(path, before, withEnd(text));
		await launcher.presets(ctx);
		notifyProblems(screen, `Saved ${path}.`, checked);
		return;
	}
}

/** The rules of the file's directory apply. */
function sourceOf(path: string): PresetSource {
	const isStrict = basename(dirname(path)) === "subagents";
	return { kind: "global", flavour: isStrict ? "subagents" : "agents", inProject: false };
}

/** `save` is the label of the save option; without it the text cannot be saved as it is. */
export async function askAboutErrors(
	screen: Screen,
	{ problems, isUsable }: CheckedPreset,
	save?: string,
): Promise<"edit" | "save" | "discard"> {
	const chosen = await screen.choose({
		title: isUsable ? "Parts of this preset would be ignored" : "This preset cannot be used as it is",
		intro: problems.filter(isError).map(problemText).join("\n"),
		items: () => [
			{ value: "edit", label: "Edit it again" },
			...(save === undefined
				? []
				: [{ value: "save", label: save, about: isUsable ? "without these fields" : "it is not used until fixed" }]),
			{ value: "discard", label: "Discard the text" },
		],
	});
	return chosen === "save" || chosen === "discard" ? chosen : "edit";
}

export function notifyProblems(screen: Screen, done: string, { problems }: Pick<CheckedPreset, "problems">): void {
	const lines = [done, ...problems.map((problem) => `- ${problemText(problem)}`)];
	screen.notify(lines.join("\n"), problems.length === 0 ? "info" : "warning");
}

/** pi's editor strips the final newline. */
export function withEnd(text: string): string {
	return `${text.trimEnd()}\n`;
}
