/** Copies a preset into an editable file, which replaces it or has its own name; and deletes such a file. */
import { rm } from "node:fs/promises";

import type { Config } from "@pi-subagents/launch";
import { loadPresets, projectCounts } from "@pi-subagents/launch";
import type { Preset } from "@pi-subagents/presets";
import type { Menu } from "../../screen/navigation.ts";
import { askText, breadcrumb } from "../../screen/navigation.ts";
import { nameFault, type PresetTarget, presetTargets, takenNames, writeNew } from "./preset-file.ts";
import { presetText } from "./preset-text.ts";

export async function ejectPreset(menu: Menu, preset: Preset): Promise<void> {
	const target = await chooseTarget(menu, preset.name, breadcrumb("Make it yours", preset.name));
	if (!target) return;
	await writeCopy(menu, preset, target);
}

/** The name is free, so nothing is replaced. */
export async function copyPreset(menu: Menu, preset: Preset): Promise<void> {
	const title = breadcrumb("Copy", preset.name);
	const draft = { name: "" };
	const intro = "What should the copy be called? Letters, digits and dashes, such as api-reviewer.";
	const check = async (name: string) => nameFault(name, await takenNames(menu));
	if (!(await askText(menu, draft, "name", { title, intro, check }))) return;
	const target = await chooseTarget(menu, draft.name, breadcrumb(title, draft.name));
	if (!target) return;
	// As of another source, its fields are written: the text of a built-in has its old name.
	await writeCopy(menu, { ...preset, ...draft, source: target.source }, target);
}

async function writeCopy(menu: Menu, preset: Preset, target: PresetTarget): Promise<void> {
	const { defaultModel } = await menu.launcher.settings(menu.ctx);
	await writeNew(target.path, await textFor(preset, { source: target.source, mustNameModel: defaultModel === "" }));
	await notifyWhetherUsed(menu, preset.name, target);
}

export async function deletePreset(menu: Menu, { name, path }: Preset): Promise<void> {
	const { screen, launcher, ctx } = menu;
	const intro = `${path} will be deleted. This cannot be undone.`;
	if (!(await screen.confirm({ title: `Delete ${name}?`, intro, yes: "Delete it", no: "Keep it" }))) return;
	await rm(path);
	const { findPreset } = await loadPresets();
	const next = findPreset(await launcher.presets(ctx), name);
	const other = next?.source.kind === "builtin" ? "The built-in preset" : next?.path;
	screen.notify(`Deleted ${path}.${other === undefined ? "" : ` ${other} is used again.`}`);
}

/**
 * Built-ins are copied with their own line breaks; others are written from their parsed fields. `mustNameModel`: in the
 * directory of the copy a preset without a model can't be started by every tool, and no setting names one.
 */
export async function textFor(
	preset: Preset,
	{ source, mustNameModel }: Pick<PresetTarget, "source"> & { mustNameModel: boolean },
): Promise<string> {
	const { builtins, fields } = await loadPresets();
	const texts = builtins().flatMap((each) => (each.type === "texts" ? each.files : []));
	const original = preset.source.kind === "builtin" ? texts.find(({ path }) => path === preset.path)?.text : undefined;
	const isInherited = mustNameModel && preset.model === undefined;
	if (original === undefined)
		return presetText({ ...preset, ...(isInherited ? { model: "inherit" } : {}) }, fields, source);
	return isInherited ? original.replace(/\n---\n/, "\nmodel: inherit\n---\n") : original;
}

export async function chooseTarget(
	{ screen, host, ctx }: Menu,
	name: string,
	title: string,
): Promise<PresetTarget | undefined> {
	const targets = await presetTargets(name, { cwd: ctx.cwd, agentDir: host.agentDir });
	const chosen = await screen.choose({
		title,
		intro: "Where should the file go?",
		items: () =>
			targets.map(({ scope, path }) => ({
				value: scope,
				label: scope === "project" ? "This project" : "All my projects",
				about: path,
			})),
	});
	return targets.find(({ scope }) => scope === chosen);
}

/** Another file may take precedence, and project files may be ignored. */
export async function notifyWhetherUsed(
	{ screen, launcher, ctx }: Menu,
	name: string,
	target: PresetTarget,
): Promise<void> {
	const { findPreset } = await loadPresets();
	launcher.acknowledge(target.path);
	await launcher.presets(ctx); // refreshes the completions
	const { presets, config } = await launcher.presetReport(ctx);
	const used = findPreset(presets, name);
	if (used?.path === target.path) screen.notify(`Wrote ${target.path}. It is now in use.`);
	else screen.notify(`Wrote ${target.path}, but it is not used: ${reason(target, config, used)}`, "warning");
}

function reason({ scope }: PresetTarget, config: Config, used: Preset | undefined): string {
	if (scope === "global" || projectCounts(config))
		return used ? `${used.path} takes precedence.` : "run /subagent doctor to see why.";
	if (config.trust === "no") return "you declined to trust this project (/trust changes that).";
	return "your settings exclude project presets.";
}
