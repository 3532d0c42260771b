/** Switches a preset on or off in the user's settings; its file is not touched. */
import type { Preset } from "@pi-subagents/presets";
import { createConfigReader } from "../config.ts";
import { loadPresets } from "../presets.lazy.ts";
import { saveSettings } from "../settings-save.ts";
import type { Menu } from "./context.ts";
import { isOn } from "./preset-items.ts";

export async function togglePreset(menu: Menu, preset: Preset, wanted: boolean): Promise<void> {
	const { screen, host, ctx } = menu;
	const { name } = preset;
	const others = otherFields(name, host.agentDir, ctx.cwd);
	// What is the rule anyway need not be written, unless a weaker file says otherwise.
	if (preset.enabled === wanted) await save(menu, name, others);
	if ((await state(menu, name)) !== wanted) await save(menu, name, { ...others, enabled: wanted });
	const isAsWanted = (await state(menu, name)) === wanted;
	const what = `Preset "${name}" is switched ${wanted ? "on" : "off"}`;
	if (isAsWanted) screen.notify(`${what}.`);
	else screen.notify(`${what} in your settings, but those of this project say otherwise, and count more.`, "warning");
}

/** What the user's settings say about the preset beside this. An entry replaces that of a weaker file as a whole. */
function otherFields(name: string, agentDir: string, cwd: string): Record<string, unknown> {
	const { settings } = createConfigReader(agentDir)({ cwd, trust: "no" }); // without those of the project
	const key = name.toLowerCase();
	const entry = Object.entries(settings.agentOverrides).find(([each]) => each.toLowerCase() === key)?.[1] ?? {};
	return Object.fromEntries(Object.entries(entry).filter(([field]) => field.toLowerCase() !== "enabled"));
}

async function save({ host, launcher, ctx }: Menu, name: string, fields: Record<string, unknown>): Promise<void> {
	const entry = Object.keys(fields).length === 0 ? undefined : fields;
	await saveSettings({ agentDir: host.agentDir, changes: { agentOverrides: { [name]: entry } } });
	await launcher.presets(ctx); // what is offered while typing follows at once
}

async function state({ launcher, ctx }: Menu, name: string): Promise<boolean | undefined> {
	const [{ findPreset }, survey] = await Promise.all([loadPresets(), launcher.survey(ctx)]);
	const preset = findPreset(survey.presets, name);
	return preset && isOn(preset, survey);
}
