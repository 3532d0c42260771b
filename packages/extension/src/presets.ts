/** The presets of the session's directory, fresh at every call and loaded when the first one comes. */
import { AgentError } from "@pi-subagents/core";
import type { Catalogue, Preset, Presets as PresetList } from "@pi-subagents/presets";
import { loadPresets } from "./presets.lazy.ts";

export interface Presets {
	/** Throws an error that names the known ones. */
	find(name: string, cwd: string): Promise<Preset>;
}

export function createPresets(agentDir: string): Presets {
	const catalogues = new Map<string, Promise<Catalogue>>();
	const open = async (cwd: string) => (await loadPresets()).createCatalogue({ cwd, agentDir });
	return {
		async find(name, cwd) {
			const { findPreset } = await loadPresets();
			const catalogue = catalogues.get(cwd) ?? open(cwd);
			catalogues.set(cwd, catalogue);
			const list = await (await catalogue).read();
			const preset = findPreset(list.presets, name);
			if (!preset) throw new AgentError("unknown_preset", unknownPreset(name, list));
			return preset;
		},
	};
}

function unknownPreset(name: string, { presets, problems }: PresetList): string {
	const broken = problems
		.filter(({ severity }) => severity === "error")
		.map(({ path, message }) => `${path}: ${message}`);
	return [
		`There is no preset "${name}".`,
		presets.length > 0
			? `Known: ${presets.map((preset) => preset.name).join(", ")}.`
			: "No presets exist yet: put markdown files into .pi/subagents/.",
		...(broken.length > 0 ? [`Files that could not be used: ${broken.slice(0, 5).join("; ")}.`] : []),
	].join(" ");
}
