/** What becomes a new preset: a text that the person has seen, that can be used, under a name that nobody has. */
import type { Problem } from "@pi-subagents/presets";
import type { Menu } from "./context.ts";
import { askAboutFaults, tellProblems, withEnd } from "./preset-edit.ts";
import { choosePlace, tellWhetherUsed } from "./preset-eject.ts";
import { type Checked, checkPreset, nameFault, writeNew } from "./preset-file.ts";

/** Shows the text in the editor, and writes what comes out of it once it can be used. False when nothing was written. */
export async function approveNew(menu: Menu, title: string, draft: string): Promise<boolean> {
	for (let text = draft; ; ) {
		const edited = await menu.screen.edit(title, text);
		if (edited === undefined) return false;
		text = edited;
		const checked = await checkNew(menu, text);
		if (checked.preset) {
			if (await writeAsNew(menu, title, text, checked)) return true;
		} else if ((await askAboutFaults(menu.screen, checked)) === "discard") return false;
	}
}

/** False when the person went back instead of choosing where. */
export async function writeAsNew(
	menu: Menu,
	title: string,
	text: string,
	{ preset, problems }: Checked,
): Promise<boolean> {
	const place = preset && (await choosePlace(menu, preset.name, title));
	if (!place) return false;
	await writeNew(place.path, withEnd(text));
	if (problems.length > 0) tellProblems(menu.screen, "About this preset:", { problems });
	await tellWhetherUsed(menu, preset.name, place);
	return true;
}

export async function checkNew({ launcher, ctx }: Menu, text: string): Promise<Checked> {
	const { presets } = await launcher.survey(ctx);
	const place = { path: "new.md", source: { kind: "global", flavour: "agents", inProject: false } } as const;
	const checked = await checkPreset(withEnd(text), place, presets);
	if (!checked.preset) return checked;
	const isNamed = checked.preset.origins.name !== "default";
	const fault = isNamed
		? await nameFault(checked.preset.name, await takenNames({ launcher, ctx }))
		: "the name is missing: add a line `name: …`";
	if (fault === undefined) return checked;
	const problem: Problem = { path: place.path, severity: "error", field: "name", message: fault };
	return { problems: [problem, ...checked.problems] };
}

/** Also those that broken files claim: they come back when the files are mended. */
export async function takenNames({ launcher, ctx }: Pick<Menu, "launcher" | "ctx">): Promise<string[]> {
	const { presets, problems } = await launcher.survey(ctx);
	return [...presets.map(({ name }) => name), ...problems.flatMap(({ preset }) => preset ?? [])];
}
