/** Creates a preset from a text the user has reviewed, if it is valid and its name is free. */
import type { Problem } from "@pi-subagents/presets";
import type { Menu } from "../../screen/navigation.ts";
import { askAboutErrors, notifyProblems, withEnd } from "./preset-edit.ts";
import { chooseTarget, notifyWhetherUsed } from "./preset-eject.ts";
import { type CheckedPreset, checkPreset, NEW_SOURCE, nameFault, takenNames, writeNew } from "./preset-file.ts";

/** Opens the text in the editor and writes the result once it is valid. False when nothing was written. */
export async function approveNew(menu: Menu, title: string, draft: string): Promise<boolean> {
	for (let text = draft; ; ) {
		const edited = await menu.screen.edit(title, text);
		if (edited === undefined) return false;
		text = edited;
		const checked = await checkNew(menu, text);
		if (checked.preset) {
			if (await writeAsNew(menu, title, text, checked)) return true;
		} else if ((await askAboutErrors(menu.screen, checked)) === "discard") return false;
	}
}

/** False when the user went back instead of choosing a target. */
export async function writeAsNew(
	menu: Menu,
	title: string,
	text: string,
	{ preset, problems }: Pick<CheckedPreset, "preset" | "problems">,
): Promise<boolean> {
	const target = preset && (await chooseTarget(menu, preset.name, title));
	if (!target) return false;
	await writeNew(target.path, withEnd(text));
	if (problems.length > 0) notifyProblems(menu.screen, "About this preset:", { problems });
	await notifyWhetherUsed(menu, preset.name, target);
	return true;
}

export async function checkNew({ launcher, ctx }: Menu, text: string): Promise<CheckedPreset> {
	const { presets } = await launcher.presetReport(ctx);
	const target = { path: "new.md", source: NEW_SOURCE };
	const checked = await checkPreset(withEnd(text), target, presets);
	if (!checked.preset) return checked;
	const fault = await nameFault(checked.preset.name, await takenNames({ launcher, ctx }));
	if (fault === undefined) return checked;
	const problem: Problem = { path: target.path, severity: "error", field: "name", message: fault };
	return { problems: [problem, ...checked.problems], isUsable: false };
}
