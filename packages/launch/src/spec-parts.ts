/** The pure parts of making a spec: what goes into the resolver, and what is added to what comes out of it. */
import {
	AgentError,
	type Confinement,
	type Defaults,
	INHERITED,
	type OutputSpec,
	type ParentFields,
	type ResolveInput,
	type RunSpec,
	splitModelName,
	type ToolFact,
	type VerifyFields,
} from "@pi-subagents/core";
import { defined, isObject, quoted } from "@pi-subagents/core/internal/base";
import { isWithin } from "@pi-subagents/core/internal/files";
import { parseOutputSchema } from "@pi-subagents/core/output";
import { whyNoCommands } from "@pi-subagents/core/shell";
import type { Preset, PresetFields, Verify } from "@pi-subagents/presets";
import type { RunsDir } from "@pi-subagents/runs";
import { givenIn, type LaunchParams } from "./launch-params.ts";
import type { Config } from "./settings/config.ts";
import type { Settings } from "./settings/settings.ts";

/** What the call, the preset and the settings each say. */
export function layersOf(
	params: LaunchParams,
	preset: Preset,
	{ outputSchema: overriding, verify: overridingVerify, ...override }: PresetFields,
	settings: Settings,
	verify?: Verify,
): Pick<ResolveInput, "request" | "preset" | "defaults"> {
	const { scopeModels, defaultModel, defaultMaxTurns, graceTurns, idleTimeoutMinutes, excludeExtensions } = settings;
	const { wrapUpPercent, stalledAfterSeconds } = settings;
	const runner = params.outlives === true ? "process" : params.runner;
	// A resumed agent stays where its conversation is.
	const resumedOn = params.runner === undefined ? undefined : (params.machine ?? "here");
	return {
		request: {
			task: params.task,
			description: params.description,
			model: params.model,
			requiresModel: params.requiresModel,
			thinking: params.thinking,
			machine: params.machine,
			retry: params.retry,
			maxTurns: params.maxTurns,
			outputSchema: parseOutputSchema(params.outputSchema),
			verify: verify && checkedVerify(verify, "`verify` of the call"),
			isolation: params.isolation,
			inheritContext: params.inheritContext,
		},
		preset: {
			...preset,
			...without(excludeExtensions, preset),
			outputSchema: schemaOf(preset, overriding),
			verify: preset.verify && checkedVerify(preset.verify, `\`verify\` of preset "${preset.name}" (${preset.path})`),
			...(params.isolated ? { isolated: true } : {}),
		},
		defaults: {
			override: {
				...override,
				...(override.excludeExtensions ? without(excludeExtensions, override) : {}),
				...defined({ runner, machine: resumedOn }),
				...(override.launcher === undefined && preset.launcher === undefined
					? defined({ launcher: params.launcher })
					: {}),
				...(overridingVerify && {
					verify: checkedVerify(overridingVerify, `\`verify\` of agentOverrides.${preset.name} in your settings`),
				}),
			},
			runner: settings.runner,
			worktree: worktreeIn(settings),
			...(settings.machine === "" ? {} : { machine: settings.machine }),
			retry: settings.retry,
			maxTurns: defaultMaxTurns,
			graceTurns,
			idleTimeoutMs: idleTimeoutMinutes * 60_000,
			wrapUpPercent,
			stalledAfterMs: stalledAfterSeconds * 1_000,
			...(defaultModel === "" ? {} : { model: defaultModel }),
			...(scopeModels === "off" ? {} : { scope: scopeModels }),
		},
	};
}

function checkedVerify({ schema, ...verify }: Verify, where: string): VerifyFields {
	return {
		...verify,
		...(schema && { schema: parseOutputSchema(schema, `\`schema\` in ${where}`) }),
	};
}

/**
 * Why the command of a call may not be run, if so. The model needs the setting; and an agent must not run a command by
 * launching another agent if it could not run one itself.
 */
export function whyNotVerify(
	{ verifyBy }: Pick<LaunchParams, "verifyBy">,
	{ verifyCalls }: Pick<Settings, "verifyCalls">,
	caller: RunSpec | undefined,
	tools: readonly ToolFact[],
): string | undefined {
	if (verifyBy === "extension") return undefined;
	if (verifyBy === undefined && !verifyCalls) return "the setting `verifyCalls` is off";
	const canRun = caller
		? caller.tools.includes(SHELL_TOOL)
		: tools.some(({ name, isActive }) => name === SHELL_TOOL && isActive);
	return canRun ? undefined : `the caller has no tool \`${SHELL_TOOL}\``;
}

/** The model named the command with a call, and it may still be run. */
export function assertMayVerify(why: string | undefined, { isVerifyKept = false }: LaunchParams): void {
	if (why === undefined || isVerifyKept) return;
	const text = `\`verify\` of the call runs a command, and ${why}. Leave it out, or put it into the preset.`;
	throw new AgentError("forbidden_tool", text);
}

/** The spec of an agent whose command may not be run any more: no other one checks its work, so it is not verified. */
export function unverified(spec: RunSpec, why: string): RunSpec {
	if (spec.verify) return spec;
	return { ...spec, verify: { skipped: why }, warnings: [...spec.warnings, `Not verified: ${why}.`] };
}

/** What would fail when the agent has done its work is said before. Another machine runs its own commands. */
export function assertVerifiable({ type, runner, verify }: RunSpec, platform: NodeJS.Platform): void {
	const why = verify && "command" in verify && runner !== "remote" ? whyNoCommands(platform) : undefined;
	if (why !== undefined)
		throw new AgentError("unsupported", `Preset "${type}" has its work checked by a command (\`verify\`), but ${why}.`);
}

const SHELL_TOOL = "bash";

function worktreeIn({ worktree: { dir, link, include, setup, setupTimeoutMinutes } }: Settings): Defaults["worktree"] {
	const isGiven = setup.length > 0;
	return { dir, link, include, ...(isGiven ? { setup } : {}), setupTimeoutMs: setupTimeoutMinutes * 60_000 };
}

/** What is only known once the rest has been decided: it is found or created on disk. */
interface Surroundings {
	confinedTo?: Confinement | undefined;
	runs?: RunsDir | undefined;
	memory?: { dir?: string; warning?: string } | undefined;
	conversation?: readonly unknown[] | undefined;
	/** What else the caller should know. */
	notes?: readonly string[];
}

/** The spec with its surroundings. The only place that adds to what `resolveSpec` decided. */
export function completed(
	resolved: RunSpec,
	params: LaunchParams,
	{ confinedTo, runs, memory, conversation, notes = [] }: Surroundings = {},
): RunSpec {
	const { tools } = params;
	const hasProcess = resolved.runner === "process" || resolved.runner === "remote";
	const outlives = params.outlives === "if_process" ? hasProcess : params.outlives;
	const given = givenIn(params);
	const { subagents: _none, mcp: _unnamed, ...alone } = resolved; // a given list of tools is complete
	return {
		...(tools ? { ...alone, tools } : resolved),
		...(confinedTo && { confinedTo }),
		...(outlives && { outlives }),
		...(Object.keys(given).length > 0 && { given }),
		...(runs && { runsDir: runs.dir }),
		...(memory?.dir !== undefined && { memoryDir: memory.dir }),
		...(conversation && { [INHERITED]: conversation }),
		warnings: [
			...resolved.warnings,
			...notes,
			...[runs?.warning, memory?.warning].filter((text) => text !== undefined),
		],
	};
}

/** It is unknown which conversation will be open when a job is due. */
export function assertStandsAlone({ type, inheritsContext }: RunSpec): void {
	if (!inheritsContext) return;
	throw new AgentError(
		"bad_request",
		`A scheduled agent cannot inherit a conversation, as \`inherit_context\` of the call or of preset "${type}" asks, since it is unknown which one will be open then. Leave it out, or choose another preset.`,
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

/** The spec of a run that has waited: what the user has taken back meanwhile, it does not get. */
export function recheckedSpec(
	spec: RunSpec,
	{ settings, trust }: Pick<Config, "settings" | "trust">,
	{ agentDir, cwd }: { agentDir: string; cwd: string },
): RunSpec {
	const { type, launcher, machine, presetSource = "", isolation, verify, given = {} } = spec;
	const gone = (what: string) =>
		new AgentError("wrong_state", `While the agent ("${type}") waited to start, ${what}. Launch it again.`);
	if (launcher !== undefined && !Object.hasOwn(settings.launchers, launcher))
		throw gone(`its launcher ${quoted(launcher)} was removed from your settings`);
	if (machine !== undefined && machine !== LOCAL && !Object.hasOwn(settings.machines, machine))
		throw gone(`its machine ${quoted(machine)} was removed from your settings`);
	if (isolation && !settings.worktrees) throw gone("worktrees were switched off (`worktrees`)");
	const isProjects = isWithin(presetSource, cwd) && !isWithin(presetSource, agentDir);
	if (trust === "no" && isProjects) throw gone("you declined to trust the project that its preset is from");
	const isCalled = given.verify !== undefined && given.verifyBy === undefined && verify && "command" in verify;
	if (!isCalled || settings.verifyCalls || !namesCommand(given.verify, verify.command)) return spec;
	const { verify: _forbidden, ...rest } = spec;
	return unverified(rest, "the setting `verifyCalls` is off");
}

/** A worker on this machine, which needs no definition. */
const LOCAL = "local";

/** Whether the call's `verify`, in any of its forms, is this command; otherwise it is the preset's. */
function namesCommand(verify: unknown, command: unknown): boolean {
	const named = isObject(verify) ? verify.command : verify;
	return JSON.stringify(named) === JSON.stringify(command);
}
