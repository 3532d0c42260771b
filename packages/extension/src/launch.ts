/** From what was asked to a spec: gathers the facts, then leaves every decision to `resolveSpec`. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type ParentFields, type RunSpec, resolveSpec, splitModelName } from "@pi-subagents/core";
import type { Preset } from "@pi-subagents/presets";
import { type Config, readConfig } from "./config.ts";
import type { Host } from "./host.ts";
import { createPresets } from "./presets.ts";
import type { Settings } from "./settings.ts";

interface LaunchParams {
	preset: string;
	task: string;
	description?: string | undefined;
	model?: string | undefined;
	cwd?: string | undefined;
}

export interface Launcher {
	presets(ctx: ExtensionContext): Promise<readonly Preset[]>;
	/** Those that were there when somebody last looked. */
	known(): readonly Preset[];
	/** Throws for what cannot be run as it was asked. `parent` is the agent that launches, if one does. */
	resolve(params: LaunchParams, ctx: ExtensionContext, parent?: RunSpec): Promise<{ preset: Preset; spec: RunSpec }>;
}

/** `onSettings` hears of the settings of every launch, before it is made: they may have been edited. */
export function createLauncher(host: Host, onSettings: (settings: Settings) => void): Launcher {
	const { agentDir, tell } = host;
	const presets = createPresets({ agentDir, tell, manifests: host.packageManifests });
	const configFor = ({ cwd }: ExtensionContext): Promise<Config> =>
		readConfig({ agentDir, cwd, trust: host.storedTrust(cwd) });
	let known: readonly Preset[] = [];
	return {
		known: () => known,
		async presets(ctx) {
			known = await presets.list(ctx.cwd, await configFor(ctx));
			return known;
		},
		async resolve(params, ctx, parent) {
			const config = await configFor(ctx);
			const { preset, override } = await presets.find(params.preset, ctx.cwd, config);
			onSettings(config.settings);
			const { scopeModels, defaultModel, defaultMaxTurns, graceTurns, idleTimeoutMinutes } = config.settings;
			const spec = resolveSpec({
				request: { task: params.task, description: params.description, model: params.model },
				preset,
				defaults: {
					override,
					maxTurns: defaultMaxTurns,
					graceTurns,
					idleTimeoutMs: idleTimeoutMinutes * 60_000,
					...(defaultModel === "" ? {} : { model: defaultModel }),
					...(scopeModels === "off" ? {} : { scope: scopeModels }),
				},
				parent: parent ? parentFieldsOf(parent) : host.parent(ctx),
				facts: await host.facts(ctx, params.cwd ?? parent?.cwd),
			});
			return { preset, spec };
		},
	};
}

function parentFieldsOf({ model, thinking }: RunSpec): ParentFields {
	return { model: splitModelName(model), thinking };
}
