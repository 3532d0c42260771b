/** The presets' part of the menu: look at one, make it yours, change it, switch it off, make a new one. */
import type { Preset } from "@pi-subagents/presets";
import { explainCommand } from "../commands/explain.ts";
import type { Block } from "../commands/layout.ts";
import { presetDetails } from "../commands/view-preset.ts";
import { loadPresets } from "../presets.lazy.ts";
import type { Survey } from "../presets.ts";
import type { Menu } from "./context.ts";
import { draftByAgent } from "./preset-by-agent.ts";
import { editPreset } from "./preset-edit.ts";
import { ejectPreset } from "./preset-eject.ts";
import { DESCRIBE, FILE, isOn, NEW, type PresetAction, presetActions, presetItems } from "./preset-items.ts";
import { togglePreset } from "./preset-toggle.ts";
import { createPreset } from "./preset-wizard.ts";
import { trail, walk } from "./walk.ts";

const TITLE = trail("Agents", "Presets");

export function presetsMenu(menu: Menu): Promise<void> {
	const { screen, launcher, ctx } = menu;
	return walk(
		screen,
		async () => {
			const items = presetItems(await launcher.survey(ctx));
			return { title: TITLE, items: () => items, isSearchable: true };
		},
		async (value) => {
			if (value === NEW) await createPreset(menu);
			else if (value === DESCRIBE) await draftByAgent(menu);
			else if (value.startsWith(FILE)) await editPreset(menu, value.slice(FILE.length));
			else await presetMenu(menu, value);
		},
	);
}

function presetMenu(menu: Menu, name: string): Promise<void> {
	const { screen, launcher, ctx } = menu;
	const find = async (): Promise<{ preset: Preset; survey: Survey }> => {
		const [{ findPreset }, survey] = await Promise.all([loadPresets(), launcher.survey(ctx)]);
		const preset = findPreset(survey.presets, name);
		if (!preset) throw new Error(`There is no preset "${name}" any more.`);
		return { preset, survey };
	};
	return walk(
		screen,
		async () => {
			const { preset, survey } = await find();
			const items = presetActions(preset, isOn(preset, survey));
			return { title: trail(TITLE, preset.name), intro: preset.description, items: () => items };
		},
		async (action) => {
			const { preset, survey } = await find();
			await act(menu, action as PresetAction, preset, survey);
		},
	);
}

async function act(menu: Menu, action: PresetAction, preset: Preset, survey: Survey): Promise<void> {
	const { screen, ctx } = menu;
	const title = trail(TITLE, preset.name);
	switch (action) {
		case "view":
			return screen.read(title, await detailsOf(preset));
		case "explain":
			return screen.read(title, figuresFirst(await explainCommand(menu).run(preset.name, ctx)));
		case "edit":
			return editPreset(menu, preset.path, preset.source);
		case "eject":
			return ejectPreset(menu, preset);
		case "toggle":
			return togglePreset(menu, preset, !isOn(preset, survey));
		default:
			throw new Error(`unknown action: ${JSON.stringify(action satisfies never)}`);
	}
}

/** On a page that begins at its top the long prompt comes last. */
function figuresFirst([heading, prompt, ...figures]: readonly Block[]): Block[] {
	return [...figures, ...(heading && prompt ? [heading, prompt] : [])];
}

/** Here there is room for the whole prompt. */
async function detailsOf(preset: Preset): Promise<Block[]> {
	const { fields } = await loadPresets();
	return [...presetDetails({ ...preset, prompt: "" }, fields).slice(0, -1), { text: preset.prompt }];
}
