/** Makes a preset that came from elsewhere the user's own: an editable file that replaces it. */
import type { Preset } from "@pi-subagents/presets";
import type { Config } from "../config.ts";
import { loadPresets } from "../presets.lazy.ts";
import { projectCounts } from "../presets.ts";
import type { Menu } from "./context.ts";
import { type Place, placesFor, writeNew } from "./preset-file.ts";
import { presetText } from "./preset-text.ts";
import { trail } from "./walk.ts";

export async function ejectPreset(menu: Menu, preset: Preset): Promise<void> {
	const place = await choosePlace(menu, preset.name, trail("Make it yours", preset.name));
	if (!place) return;
	await writeNew(place.path, await textFor(preset, place));
	await tellWhetherUsed(menu, preset.name, place);
}

/** A built-in is copied as it was written; of others only what they came to mean here can be said. */
export async function textFor(preset: Preset, { source }: Pick<Place, "source">): Promise<string> {
	const { builtins, fields } = await loadPresets();
	const texts = builtins().flatMap((each) => (each.type === "texts" ? each.files : []));
	const original = preset.source.kind === "builtin" ? texts.find(({ path }) => path === preset.path)?.text : undefined;
	return original ?? presetText(preset, fields, source);
}

export async function choosePlace(
	{ screen, host, ctx }: Menu,
	name: string,
	title: string,
): Promise<Place | undefined> {
	const places = await placesFor(name, { cwd: ctx.cwd, agentDir: host.agentDir });
	const chosen = await screen.choose({
		title,
		intro: "Where should the file go?",
		items: () =>
			places.map(({ scope, path }) => ({
				value: scope,
				label: scope === "project" ? "This project" : "All my projects",
				about: path,
			})),
	});
	return places.find(({ scope }) => scope === chosen);
}

/** Another file may count more, and those of a project may not count at all. */
export async function tellWhetherUsed({ screen, launcher, ctx }: Menu, name: string, place: Place): Promise<void> {
	const { findPreset } = await loadPresets();
	await launcher.presets(ctx); // what is offered while typing follows at once
	const { presets, config } = await launcher.survey(ctx);
	const used = findPreset(presets, name);
	if (used?.path === place.path) screen.notify(`Wrote ${place.path}. It is used from now on.`);
	else screen.notify(`Wrote ${place.path}, but it is not used: ${reason(place, config, used)}`, "warning");
}

function reason({ scope }: Place, config: Config, used: Preset | undefined): string {
	if (scope === "global" || projectCounts(config))
		return used ? `${used.path} counts more.` : "/subagent doctor tells why.";
	if (config.trust === "no") return "you declined to trust this project (/trust changes that).";
	return "your settings leave out the presets of projects.";
}
