/** From what was asked to a spec: gathers the facts, then leaves every decision to `resolveSpec`. */
import { join } from "node:path";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import {
	type MemoryScope,
	type OutputSpec,
	type ParentFields,
	type RunnerName,
	type RunSpec,
	resolveSpec,
	splitModelName,
	type ThinkingLevel,
} from "@pi-subagents/core";
import { parseOutputSchema } from "@pi-subagents/core/output";
import { leadsInto, prepareRunsDir, type RunsDir } from "@pi-subagents/core/process";
import { canWrite, prepareMemory, requireResources } from "@pi-subagents/core/session";
import { checkWorktree } from "@pi-subagents/core/worktree";
import type { Preset } from "@pi-subagents/presets";
import { type Config, createConfigReader } from "./config.ts";
import type { Host } from "./host.ts";
import { withConversation } from "./inherit.ts";
import { loadPresets } from "./presets.lazy.ts";
import { createPresets, type Survey } from "./presets.ts";
import { defaultSettings, type Settings } from "./settings.ts";
import { sharing } from "./sharing.ts";

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
	/** A JSON Schema that the answer must match. */
	outputSchema?: OutputSpec["schema"] | undefined;
	isolation?: "worktree" | "off" | undefined;
	inheritContext?: boolean | undefined;
	/** What a resumed agent ran in before: its conversation is there. */
	runner?: RunnerName | undefined;
	/** The run goes on when the session ends, in a process of its own whatever the preset says. */
	outlives?: boolean;
	/** Its files are kept, whatever runs it. Those of a run in another process always are. */
	keepsFiles?: boolean;
	/** It is only looked at: nothing is made for it, and the spec is not to be run. */
	isTrial?: boolean;
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
	/** Where we keep something in the project, whether there is any or not. Nothing where a link leads out of the project. */
	placeFor(kind: "runs" | "schedules", ctx: ExtensionContext): Promise<string | undefined>;
	/** Throws for what cannot be run as it was asked. `parent` is the agent that launches, if one does. */
	resolve(params: LaunchParams, ctx: ExtensionContext, parent?: Parent): Promise<{ preset: Preset; spec: RunSpec }>;
}

/** An agent that launches another. */
interface Parent {
	spec: RunSpec;
	/** Of its own session, where its conversation is. */
	ctx: ExtensionContext;
}

/** `onSettings` hears of the settings whenever they are read, for one before every launch: they may have been edited. */
export function createLauncher(host: Host, onSettings: (settings: Settings) => void): Launcher {
	const { agentDir, tell } = host;
	const presets = createPresets({ agentDir, tell, manifests: host.packageManifests });
	const readConfig = createConfigReader(agentDir);
	const runsDirOf = sharing(
		async (cwd: string) => prepareRunsDir(await rootOf(cwd)),
		(cwd) => cwd,
	);
	let latest = defaultSettings();
	const configFor = ({ cwd }: ExtensionContext): Config => {
		const config = readConfig({ cwd, trust: host.storedTrust(cwd) });
		latest = config.settings;
		onSettings(latest);
		return config;
	};
	const withMemory = async (
		spec: RunSpec,
		scope: MemoryScope,
		{ cwd }: ExtensionContext,
		isTrial: boolean,
	): Promise<RunSpec> => {
		const isWritable = canWrite(spec);
		const root = await rootOf(cwd);
		const { dir, warning } = await prepareMemory({ scope, preset: spec.type, root, agentDir, isWritable, isTrial });
		const warnings = warning === undefined ? spec.warnings : [...spec.warnings, warning];
		return { ...spec, warnings, ...(dir === undefined ? {} : { memoryDir: dir }) };
	};
	let known: readonly Preset[] = [];
	return {
		known: () => known,
		latest: () => latest,
		settings: async (ctx) => configFor(ctx).settings,
		survey: async (ctx) => presets.survey(ctx.cwd, configFor(ctx)),
		async presets(ctx) {
			known = await presets.list(ctx.cwd, configFor(ctx));
			return known;
		},
		async placeFor(kind, { cwd }) {
			const root = await rootOf(cwd);
			const dir = join(root, ".pi", "subagents", kind);
			return leadsInto(root, dir) ? dir : undefined;
		},
		async resolve(params, ctx, parent) {
			const config = configFor(ctx);
			const { preset, override: given } = await presets.find(params.preset, ctx.cwd, config);
			const { outputSchema: overriding, ...override } = given;
			const { scopeModels, defaultModel, defaultMaxTurns, graceTurns, idleTimeoutMinutes } = config.settings;
			const { outlives = false, keepsFiles = outlives, isTrial = false } = params;
			const runner = outlives ? "process" : params.runner;
			const resolved = resolveSpec({
				request: {
					task: params.task,
					description: params.description,
					model: params.model,
					thinking: params.thinking,
					maxTurns: params.maxTurns,
					outputSchema: parseOutputSchema(params.outputSchema),
					isolation: params.isolation,
					inheritContext: params.inheritContext,
				},
				preset: {
					...preset,
					outputSchema: schemaOf(preset, overriding),
					...(params.isolated ? { isolated: true } : {}),
				},
				defaults: {
					override: runner === undefined ? override : { ...override, runner },
					runner: config.settings.runner,
					maxTurns: defaultMaxTurns,
					graceTurns,
					idleTimeoutMs: idleTimeoutMinutes * 60_000,
					...(defaultModel === "" ? {} : { model: defaultModel }),
					...(scopeModels === "off" ? {} : { scope: scopeModels }),
				},
				parent: parent ? parentFieldsOf(parent.spec) : host.parent(ctx),
				facts: await host.facts(ctx, params.cwd ?? parent?.spec.cwd),
			});
			if (resolved.isolation) await checkWorktree(resolved.cwd);
			const spec = parent?.spec.confinedTo ? { ...resolved, confinedTo: parent.spec.confinedTo } : resolved;
			await requireResources(host, spec);
			const isKept = !isTrial && (keepsFiles || spec.runner !== "session");
			const runs = isKept ? await runsDirOf(ctx.cwd) : undefined;
			const kept = { ...spec, ...(outlives ? { outlives } : {}), ...(runs === undefined ? {} : withRuns(spec, runs)) };
			const noted = spec.memory === undefined ? kept : await withMemory(kept, spec.memory, ctx, isTrial);
			return { preset, spec: withConversation(noted, parent?.ctx ?? ctx) };
		},
	};
}

/** Checked before anything runs, like that of a call. One in the settings takes the place of the preset's. */
function schemaOf({ name, path, outputSchema }: Preset, overriding: unknown): OutputSpec["schema"] | undefined {
	return overriding === undefined
		? parseOutputSchema(outputSchema, `\`output_schema\` of preset "${name}" (${path})`)
		: parseOutputSchema(overriding, `\`output_schema\` of agentOverrides.${name} in your settings`);
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
