/** The presets level of the menu: run, view, eject, copy, edit, switch on or off, delete, create. */

import { nameKey } from "@pi-subagents/core/internal/base";
import type { PresetReport } from "@pi-subagents/launch";
import { createConfigReader, loadPresets, saveSettings, settingsPath } from "@pi-subagents/launch";
import type { Preset } from "@pi-subagents/presets";
import type { Block } from "@pi-subagents/widget/dialogs";
import type { Menu } from "../../screen/navigation.ts";
import { breadcrumb, runMenu } from "../../screen/navigation.ts";
import { explainCommand } from "../../subagent/explain.ts";
import { startAgent } from "../../subagent/start-stop.ts";
import { presetDetails } from "../../subagent/view-preset.ts";
import { agentLabel } from "../../text/agent-text.ts";
import { draftByAgent } from "./preset-by-agent.ts";
import { editPreset } from "./preset-edit.ts";
import { copyPreset, deletePreset, ejectPreset } from "./preset-eject.ts";
import { DESCRIBE, FILE, isOn, NEW, type PresetAction, presetActions, presetItems } from "./preset-items.ts";
import { createPreset } from "./preset-wizard.ts";

const TITLE = breadcrumb("Agents", "Presets");

export function presetsMenu(menu: Menu): Promise<void> {
	const { screen, launcher, ctx } = menu;
	return runMenu(
		screen,
		async () => {
			const items = presetItems(await launcher.presetReport(ctx));
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
	const find = async (): Promise<{ preset: Preset; report: PresetReport } | undefined> => {
		const [{ findPreset }, report] = await Promise.all([loadPresets(), launcher.presetReport(ctx)]);
		const preset = findPreset(report.presets, name);
		return preset && { preset, report };
	};
	return runMenu(
		screen,
		async () => {
			const found = await find();
			if (!found) return undefined; // it was deleted, here or elsewhere
			const { preset, report } = found;
			const items = presetActions(preset, isOn(preset, report));
			return { title: breadcrumb(TITLE, preset.name), intro: preset.description, items: () => items };
		},
		async (action) => {
			const found = await find();
			if (!found) throw new Error(`The preset "${name}" no longer exists.`);
			await runAction(menu, action as PresetAction, found.preset, found.report);
		},
	);
}

async function runAction(menu: Menu, action: PresetAction, preset: Preset, report: PresetReport): Promise<void> {
	const { screen, ctx } = menu;
	const title = breadcrumb(TITLE, preset.name);
	switch (action) {
		case "run":
			return runPreset(menu, preset);
		case "view":
			return screen.read(title, await detailsOf(preset));
		case "explain":
			return screen.read(title, promptLast(await explainCommand(menu).run(preset.name, ctx)));
		case "edit":
			return editPreset(menu, preset.path, preset.source);
		case "eject":
			return ejectPreset(menu, preset);
		case "copy":
			return copyPreset(menu, preset);
		case "delete":
			return deletePreset(menu, preset);
		case "toggle":
			return togglePreset(menu, preset, !isOn(preset, report));
		default:
			throw new Error(`unknown action: ${JSON.stringify(action satisfies never)}`);
	}
}

async function runPreset(menu: Menu, { name }: Preset): Promise<void> {
	const { screen, ctx } = menu;
	const task = await screen.input({ title: breadcrumb(TITLE, name, "Run"), intro: "What should the agent do?" });
	if (task === undefined || task.trim() === "") return;
	const { record, warnings } = await startAgent(menu, { preset: name, task }, ctx);
	for (const warning of warnings) screen.notify(warning, "warning");
	screen.notify(`${agentLabel(record)} has started; the result will appear here.`);
}

/** A page is read from the top, so the long prompt comes last. */
function promptLast([heading, prompt, ...figures]: readonly Block[]): Block[] {
	return [...figures, ...(heading && prompt ? [heading, prompt] : [])];
}

/** A page has room for the whole prompt. */
async function detailsOf(preset: Preset): Promise<Block[]> {
	const { fields } = await loadPresets();
	return [...presetDetails({ ...preset, prompt: "" }, fields).slice(0, -1), { text: preset.prompt }];
}

async function togglePreset(menu: Menu, preset: Preset, wanted: boolean): Promise<void> {
	const { screen, host, ctx } = menu;
	const { name } = preset;
	const others = otherFields(name, host.agentDir, ctx.cwd);
	// The preset's own value need not be written, unless a file of lower precedence overrides it.
	if (preset.enabled === wanted) await save(menu, name, others);
	if ((await state(menu, name)) !== wanted) await save(menu, name, { ...others, enabled: wanted });
	const isAsWanted = (await state(menu, name)) === wanted;
	const what = `Preset "${name}" is switched ${wanted ? "on" : "off"}`;
	if (isAsWanted) screen.notify(`${what}.`);
	else screen.notify(`${what} in your settings, but this project's settings override it.`, "warning");
}

/** What else the user's own file says about the preset, under the name that it uses there. */
function otherFields(name: string, agentDir: string, cwd: string): Record<string, unknown> {
	const { overrides } = createConfigReader(agentDir)({ cwd, trust: "no" }); // without the project's settings
	const own = overrides.find(({ path }) => path === settingsPath({ agentDir }))?.entries ?? {};
	const key = nameKey(name);
	const entry = Object.entries(own).find(([each]) => nameKey(each) === key)?.[1];
	return Object.fromEntries(Object.entries(entry ?? {}).filter(([field]) => field.toLowerCase() !== "enabled"));
}

async function save({ host, launcher, ctx }: Menu, name: string, fields: Record<string, unknown>): Promise<void> {
	const entry = Object.keys(fields).length === 0 ? undefined : fields;
	await saveSettings({ agentDir: host.agentDir, changes: { agentOverrides: { [name]: entry } } });
	await launcher.presets(ctx); // refreshes the completions
}

async function state({ launcher, ctx }: Menu, name: string): Promise<boolean | undefined> {
	const [{ findPreset }, report] = await Promise.all([loadPresets(), launcher.presetReport(ctx)]);
	const preset = findPreset(report.presets, name);
	return preset && isOn(preset, report);
}
