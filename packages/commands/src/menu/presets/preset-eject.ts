/** Copies a preset into an editable file that replaces it. */

import type { Config } from "@pi-subagents/launch";
import { loadPresets, projectCounts } from "@pi-subagents/launch";
import type { Preset } from "@pi-subagents/presets";
import type { Menu } from "../../screen/navigation.ts";
import { breadcrumb } from "../../screen/navigation.ts";
import { type PresetTarget, presetTargets, writeNew } from "./preset-file.ts";
import { presetText } from "./preset-text.ts";

export async function ejectPreset(menu: Menu, preset: Preset): Promise<void> {
	const target = await chooseTarget(menu, preset.name, breadcrumb("Make it yours", preset.name));
	if (!target) return;
	const { defaultModel } = await menu.launcher.settings(menu.ctx);
	await writeNew(target.path, await textFor(preset, { source: target.source, mustNameModel: defaultModel === "" }));
	await notifyWhetherUsed(menu, preset.name, target);
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
