/** From what was asked to a spec: gathers the facts, then leaves every decision to `resolveSpec`. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type RunSpec, resolveSpec } from "@pi-subagents/core";
import type { Preset } from "@pi-subagents/presets";
import { type Config, readConfig } from "./config.ts";
import type { Host } from "./host.ts";
import { createPresets } from "./presets.ts";

interface LaunchParams {
	preset: string;
	task: string;
	model?: string | undefined;
	cwd?: string | undefined;
}

export interface Launcher {
	presets(ctx: ExtensionContext): Promise<readonly Preset[]>;
	/** Throws for what cannot be run as it was asked. */
	resolve(params: LaunchParams, ctx: ExtensionContext): Promise<{ preset: Preset; spec: RunSpec }>;
}

export function createLauncher(host: Host): Launcher {
	const { agentDir, tell } = host;
	const presets = createPresets({ agentDir, tell, manifests: host.packageManifests });
	const configFor = ({ cwd }: ExtensionContext): Promise<Config> =>
		readConfig({ agentDir, cwd, trust: host.storedTrust(cwd) });
	return {
		async presets(ctx) {
			return presets.list(ctx.cwd, await configFor(ctx));
		},
		async resolve(params, ctx) {
			const config = await configFor(ctx);
			const { preset, override } = await presets.find(params.preset, ctx.cwd, config);
			const { scopeModels, defaultModel } = config.settings;
			const spec = resolveSpec({
				request: { task: params.task, model: params.model },
				preset,
				defaults: {
					override,
					...(defaultModel === "" ? {} : { model: defaultModel }),
					...(scopeModels === "off" ? {} : { scope: scopeModels }),
				},
				parent: host.parent(ctx),
				facts: await host.facts(ctx, params.cwd),
			});
			return { preset, spec };
		},
	};
}
