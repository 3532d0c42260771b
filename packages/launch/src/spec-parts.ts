/** The pure parts of making a spec: what goes into the resolver, and what is added to what comes out of it. */
import {
	AgentError,
	type Confinement,
	defined,
	INHERITED,
	type OutputSpec,
	type ParentFields,
	type ResolveInput,
	type RunSpec,
	splitModelName,
} from "@pi-subagents/core";
import { parseOutputSchema } from "@pi-subagents/core/output";
import type { RunsDir } from "@pi-subagents/core/runs";
import type { Override, Preset } from "@pi-subagents/presets";
import type { LaunchParams } from "./launch-params.ts";
import type { Settings } from "./settings/settings.ts";

/** What the call, the preset and the settings each say. */
export function layersOf(
	params: LaunchParams,
	preset: Preset,
	{ outputSchema: overriding, ...override }: Override["fields"],
	settings: Settings,
): Pick<ResolveInput, "request" | "preset" | "defaults"> {
	const { scopeModels, defaultModel, defaultMaxTurns, graceTurns, idleTimeoutMinutes, excludeExtensions } = settings;
	const runner = params.outlives ? "process" : params.runner;
	return {
		request: {
			task: params.task,
			description: params.description,
			model: params.model,
			requiresModel: params.requiresModel,
			thinking: params.thinking,
			maxTurns: params.maxTurns,
			outputSchema: parseOutputSchema(params.outputSchema),
			isolation: params.isolation,
			inheritContext: params.inheritContext,
		},
		preset: {
			...preset,
			...without(excludeExtensions, preset),
			outputSchema: schemaOf(preset, overriding),
			...(params.isolated ? { isolated: true } : {}),
		},
		defaults: {
			override: {
				...override,
				...(override.excludeExtensions ? without(excludeExtensions, override) : {}),
				...defined({ runner }),
			},
			runner: settings.runner,
			maxTurns: defaultMaxTurns,
			graceTurns,
			idleTimeoutMs: idleTimeoutMinutes * 60_000,
			...(defaultModel === "" ? {} : { model: defaultModel }),
			...(scopeModels === "off" ? {} : { scope: scopeModels }),
		},
	};
}

/** What is only known once the rest has been decided: it is found or created on disk. */
interface Surroundings {
	confinedTo?: Confinement | undefined;
	runs?: RunsDir | undefined;
	memory?: { dir?: string; warning?: string } | undefined;
	conversation?: readonly unknown[] | undefined;
	/** What else the caller should know. */
	note?: string | undefined;
}

/** The spec with its surroundings. The only place that adds to what `resolveSpec` decided. */
export function completed(
	resolved: RunSpec,
	{ tools, outlives }: LaunchParams,
	{ confinedTo, runs, memory, conversation, note }: Surroundings = {},
): RunSpec {
	const { subagents: _none, mcp: _unnamed, ...alone } = resolved; // a given list of tools is complete
	return {
		...(tools ? { ...alone, tools } : resolved),
		...(confinedTo && { confinedTo }),
		...(outlives && { outlives }),
		...(runs && { runsDir: runs.dir }),
		...(memory?.dir !== undefined && { memoryDir: memory.dir }),
		...(conversation && { [INHERITED]: conversation }),
		warnings: [...resolved.warnings, ...[note, runs?.warning, memory?.warning].filter((text) => text !== undefined)],
	};
}

/** It is unknown which conversation will be open when a job is due. */
export function assertStandsAlone({ type, inheritsContext }: RunSpec): void {
	if (!inheritsContext) return;
	throw new AgentError(
		"bad_request",
		`A scheduled agent cannot inherit a conversation, as \`inherit_context\` of the call or of preset "${type}" asks: which one will be open then is unknown. Leave it out, or choose another preset.`,
	);
}

/** What no agent may load is added to what the preset leaves out. */
function without(
	excluded: readonly string[],
	{ excludeExtensions = [] }: Pick<Preset, "excludeExtensions">,
): Pick<Preset, "excludeExtensions"> {
	if (excluded.length === 0) return {};
	return { excludeExtensions: [...excludeExtensions, ...excluded.map((name) => name.replace(/^npm:/, ""))] };
}

/** Why the launch is refused: without its worktree the agent would work in the user's own checkout. */
export function noWorktrees({ type, presetSource }: RunSpec, { isolation }: LaunchParams): string {
	const asked = isolation
		? "the call asks for one"
		: `preset "${type}" asks for one (\`isolation\` in ${presetSource})`;
	return `Worktrees are switched off in the settings (\`worktrees\`), and ${asked}. Leave it out, or set \`worktrees\` to true.`;
}

/** Checked before anything runs, like that of a call. One in the settings takes the place of the preset's. */
function schemaOf({ name, path, outputSchema }: Preset, overriding: unknown): OutputSpec["schema"] | undefined {
	return overriding === undefined
		? parseOutputSchema(outputSchema, `\`output_schema\` of preset "${name}" (${path})`)
		: parseOutputSchema(overriding, `\`output_schema\` of agentOverrides.${name} in your settings`);
}

/** What an agent passes on to the agents it launches. */
export function parentFieldsOf({ model, thinking }: RunSpec): ParentFields {
	return { model: splitModelName(model), thinking };
}
