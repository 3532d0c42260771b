/** Edits the file of a preset in pi's editor. Nothing that was typed gets lost over a mistake in it. */
import { basename, dirname } from "node:path";
import type { PresetSource } from "@pi-subagents/presets";
import { sanitizeBlock } from "@pi-subagents/progress";
import { readSmallFile } from "../small-file.ts";
import type { Menu } from "./context.ts";
import { type Checked, checkPreset, replaceText } from "./preset-file.ts";
import { isError, problemText } from "./problems.ts";
import type { Screen } from "./screen.ts";

/** `source` is not known of a file that cannot be used. */
export async function editPreset(menu: Menu, path: string, source = sourceOf(path)): Promise<void> {
	const { screen, launcher, ctx } = menu;
	const before = await readSmallFile(path);
	if (before === undefined) throw new Error(`${path} is not there any more.`);
	const shown = sanitizeBlock(before);
	let text = shown;
	for (;;) {
		const edited = await screen.edit(`Edit ${path}`, text);
		if (edited === undefined) return;
		if (edited.trim() === shown.trim()) return screen.notify("Nothing was changed.");
		text = edited;
		const { presets } = await launcher.survey(ctx);
		const checked = await checkPreset(withEnd(text), { path, source }, presets);
		const next = checked.preset ? "save" : await askAboutFaults(screen, checked, "Save it as it is");
		if (next === "discard") return;
		if (next === "edit") continue;
		await replaceText(path, before, withEnd(text));
		await launcher.presets(ctx);
		tellProblems(screen, `Saved ${path}.`, checked);
		return;
	}
}

/** The rules of the directory that it lies in. */
function sourceOf(path: string): PresetSource {
	const isStrict = basename(dirname(path)) === "subagents";
	return { kind: "global", flavour: isStrict ? "subagents" : "agents", inProject: false };
}

/** `save` is what saving would be called; without it the text cannot be saved as it stands. */
export async function askAboutFaults(
	screen: Screen,
	{ problems }: Checked,
	save?: string,
): Promise<"edit" | "save" | "discard"> {
	const chosen = await screen.choose({
		title: "This preset cannot be used as it stands",
		intro: problems.filter(isError).map(problemText).join("\n"),
		items: () => [
			{ value: "edit", label: "Edit it again" },
			...(save === undefined ? [] : [{ value: "save", label: save, about: "it is not used until it is corrected" }]),
			{ value: "discard", label: "Throw the text away" },
		],
	});
	return chosen === "save" || chosen === "discard" ? chosen : "edit";
}

export function tellProblems(screen: Screen, done: string, { problems }: Checked): void {
	const lines = [done, ...problems.map((problem) => `- ${problemText(problem)}`)];
	screen.notify(lines.join("\n"), problems.length === 0 ? "info" : "warning");
}

/** pi's editor takes the last line end away. */
export function withEnd(text: string): string {
	return `${text.trimEnd()}\n`;
}
