/** From what was asked to a spec: gathers the facts, then leaves every decision to `resolveSpec`. */
import { join } from "node:path";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import {
	type ParentFields,
	type RunnerName,
	type RunSpec,
	resolveSpec,
	splitModelName,
	type ThinkingLevel,
} from "@pi-subagents/core";
import { prepareRunsDir, type RunsDir } from "@pi-subagents/core/process";
import type { Preset } from "@pi-subagents/presets";
import { type Config, createConfigReader } from "./config.ts";
import type { Host } from "./host.ts";
import { loadPresets } from "./presets.lazy.ts";
import { createPresets, type Survey } from "./presets.ts";
import { defaultSettings, type Settings } from "./settings.ts";

/** Who works where nobody was named. */
export const USUAL_PRESET = "general-purpose";

export interface LaunchParams {
	preset: string;
	task: string;
	description?: string | undefined;
	model?: string | undefined;
	cwd?: string | undefined;
	thinking?: ThinkingLevel | undefined;
	maxTurns?: number | undefined;
	/** Without any extension or skill. */
	isolated?: boolean | undefined;
	/** What a resumed agent ran in before: its conversation is there. */
	runner?: RunnerName | undefined;
	/** The run goes on when the session ends, in a process of its own whatever the preset says. */
	outlives?: boolean;
	/** Its files are kept, whatever runs it. Those of a run in another process always are. */
	keepsFiles?: boolean;
}

export interface Launcher {
	presets(ctx: ExtensionContext): Promise<readonly Preset[]>;
	survey(ctx: ExtensionContext): Promise<Survey>;
	/** Those that count now, read anew. */
	settings(ctx: ExtensionContext): Promise<Settings>;
	/** Those that counted when somebody last looked. */
	latest(): Settings;
	/** Those that were there when somebody last looked. */
	known(): readonly Preset[];
	/** Where the files of runs are kept, whether there are any or not. */
	runsDir(ctx: ExtensionContext): Promise<string>;
	/** Throws for what cannot be run as it was asked. `parent` is the agent that launches, if one does. */
	resolve(params: LaunchParams, ctx: ExtensionContext, parent?: RunSpec): Promise<{ preset: Preset; spec: RunSpec }>;
}

/** `onSettings` hears of the settings whenever they are read, for one before every launch: they may have been edited. */
export function createLauncher(host: Host, onSettings: (settings: Settings) => void): Launcher {
	const { agentDir, tell } = host;
	const presets = createPresets({ agentDir, tell, manifests: host.packageManifests });
	const readConfig = createConfigReader(agentDir);
	let latest = defaultSettings();
	const configFor = async ({ cwd }: ExtensionContext): Promise<Config> => {
		const config = await readConfig({ cwd, trust: host.storedTrust(cwd) });
		latest = config.settings;
		onSettings(latest);
		return config;
	};
	let known: readonly Preset[] = [];
	return {
		known: () => known,
		latest: () => latest,
		settings: async (ctx) => (await configFor(ctx)).settings,
		survey: async (ctx) => presets.survey(ctx.cwd, await configFor(ctx)),
		async presets(ctx) {
			known = await presets.list(ctx.cwd, await configFor(ctx));
			return known;
		},
		runsDir: async ({ cwd }) => join(await rootOf(cwd), ".pi", "subagents", "runs"),
		async resolve(params, ctx, parent) {
			const config = await configFor(ctx);
			const { preset, override } = await presets.find(params.preset, ctx.cwd, config);
			const { scopeModels, defaultModel, defaultMaxTurns, graceTurns, idleTimeoutMinutes } = config.settings;
			const { outlives = false, keepsFiles = outlives } = params;
			const runner = outlives ? "process" : params.runner;
			const spec = resolveSpec({
				request: {
					task: params.task,
					description: params.description,
					model: params.model,
					thinking: params.thinking,
					maxTurns: params.maxTurns,
				},
				preset: params.isolated ? { ...preset, isolated: true } : preset,
				defaults: {
					override: runner === undefined ? override : { ...override, runner },
					runner: config.settings.runner,
					maxTurns: defaultMaxTurns,
					graceTurns,
					idleTimeoutMs: idleTimeoutMinutes * 60_000,
					...(defaultModel === "" ? {} : { model: defaultModel }),
					...(scopeModels === "off" ? {} : { scope: scopeModels }),
				},
				parent: parent ? parentFieldsOf(parent) : host.parent(ctx),
				facts: await host.facts(ctx, params.cwd ?? parent?.cwd),
			});
			const runs = keepsFiles || spec.runner !== "session" ? await prepareRunsDir(await rootOf(ctx.cwd)) : undefined;
			return {
				preset,
				spec: { ...spec, ...(outlives ? { outlives } : {}), ...(runs === undefined ? {} : withRuns(spec, runs)) },
			};
		},
	};
}

/** Beside the presets of the project, or where the session is. */
async function rootOf(cwd: string): Promise<string> {
	const { findPresetRoot } = await loadPresets();
	return (await findPresetRoot(cwd)) ?? cwd;
}

function withRuns({ warnings }: RunSpec, { dir, warning }: RunsDir): Pick<RunSpec, "runsDir" | "warnings"> {
	return { runsDir: dir, warnings: warning === undefined ? warnings : [...warnings, warning] };
}

function parentFieldsOf({ model, thinking }: RunSpec): ParentFields {
	return { model: splitModelName(model), thinking };
}
