/** From a request to a complete spec: gathers settings, preset and facts, and leaves every decision to `resolveSpec`. */

import { join } from "node:path";
import { AgentError, type RunSpec, resolveSpec } from "@pi-subagents/core";
import { bestEffort, defined } from "@pi-subagents/core/internal/base";
import { leadsInto } from "@pi-subagents/core/internal/files";
import { canWrite, prepareMemory } from "@pi-subagents/core/memory";
import type { Preset, Verify } from "@pi-subagents/presets";
import { checkArguments, sanitize } from "@pi-subagents/progress";
import { prepareRunsDir, rememberRunsDir } from "@pi-subagents/runs";
import { confinementAt } from "@pi-subagents/worktree";
import { coalesce, oncePerTurn } from "./coalesce.ts";
import { askLaunchHook, narrowed, onlyModel } from "./launch-hook.ts";
import type { LaunchParams } from "./launch-params.ts";
import type { LauncherHost, LaunchHost, SessionContext } from "./ports.ts";
import { loadPresets } from "./presets.lazy.ts";
import { createPresets, type PresetReport } from "./presets.ts";
import { NO_REGISTERED_PRESETS } from "./runtime-presets.ts";
import { type Config, createConfigReader } from "./settings/config.ts";
import { defaultSettings, type Settings } from "./settings/settings.ts";
import {
	assertMayVerify,
	assertStandsAlone,
	assertVerifiable,
	completed,
	layersOf,
	noWorktrees,
	parentFieldsOf,
	recheckedSpec,
	unverified,
	whyNotVerify,
} from "./spec-parts.ts";

export interface Launcher<Context extends SessionContext> {
	/** The presets that can be started, by name. */
	presets(ctx: Context): Promise<readonly Preset[]>;
	/** All presets, and what is wrong with their files. */
	presetReport(ctx: Context): Promise<PresetReport>;
	/** The user wrote this preset file just now, so that it replaces another preset is no news. */
	acknowledge(path: string): void;
	/** The current settings, read again if a file has changed. */
	settings(ctx: Context): Promise<Settings>;
	/**
	 * The same for something that launches without `resolve`, such as a workflow: throws `AgentError` while a settings file
	 * cannot be understood. `resolve` does so itself.
	 */
	launchSettings(ctx: Context): Promise<Settings>;
	/** The settings as they were last read. */
	latest(): Settings;
	/** The presets as they were last read. */
	known(): readonly Preset[];
	/** Where the project keeps runs, schedules or reports, whether any exist or not. Undefined if a link leads out of the project. */
	placeFor(kind: "runs" | "schedules" | "reports", ctx: Context): Promise<string | undefined>;
	/**
	 * Makes the whole spec; nothing may be added to it afterwards. Throws `AgentError` for what cannot be run as asked.
	 * `parent` is the agent that launches, if one does.
	 */
	resolve(params: LaunchParams, ctx: Context, parent?: Parent<Context>): Promise<{ preset: Preset; spec: RunSpec }>;
	/**
	 * The spec of a run that has waited, as far as it may still be run: permissions count when something runs. Throws
	 * `AgentError` if it may not.
	 */
	recheck(spec: RunSpec, ctx: Context): RunSpec;
}

/** An agent that launches another. */
interface Parent<Context> {
	spec: RunSpec;
	/** The agent's own session, which holds its conversation. */
	ctx: Context;
}

/**
 * A launcher for one program. `onSettings` is called when the settings are read for the first time, and when they have
 * changed: they are read before every launch.
 *
 * @example
 * ```ts
 * const launcher = createLauncher({ agentDir, warn: console.warn, facts, parent });
 * const { spec } = await launcher.resolve({ preset: "Explore", task: "Where is the parser?" }, { cwd });
 * ```
 */
export function createLauncher<Context extends SessionContext>(
	given: LauncherHost<Context>,
	onSettings: (settings: Settings) => void = () => undefined,
): Launcher<Context> {
	checkArguments({
		host: [given, "object"],
		"host.agentDir": [given?.agentDir, "string"],
		"host.warn": [given?.warn, "function"],
		"host.facts": [given?.facts, "function"],
		"host.parent": [given?.parent, "function"],
	});
	const host: LaunchHost<Context> = { ...ABSENT, ...given };
	const { agentDir, warn } = host;
	const presets = createPresets({
		agentDir,
		warn,
		manifests: host.packageManifests,
		registered: host.registeredPresets ?? (() => NO_REGISTERED_PRESETS),
	});
	const readConfig = createConfigReader(agentDir);
	const remembered = new Set<string>();
	/** For programs outside pi; no launch waits for it. */
	const remember = (dir: string) => {
		if (remembered.has(dir)) return;
		remembered.add(dir);
		void bestEffort("The list of projects with agents", warn, () => rememberRunsDir(agentDir, dir));
	};
	const runsDirOf = coalesce(
		async (cwd: string) => {
			const runs = await prepareRunsDir(await rootOf(cwd));
			remember(runs.dir);
			return runs;
		},
		(cwd) => cwd,
	);
	let latest = defaultSettings();
	const readNow = oncePerTurn(
		(cwd: string) => readConfig({ cwd, trust: host.storedTrust(cwd) }),
		(cwd) => cwd,
	);
	const configFor = ({ cwd }: SessionContext): Config => {
		const config = readNow(cwd);
		if (config.settings === latest) return config;
		latest = config.settings;
		onSettings(latest);
		return config;
	};
	let known: readonly Preset[] = [];
	return {
		known: () => known,
		latest: () => latest,
		settings: async (ctx) => configFor(ctx).settings,
		async launchSettings(ctx) {
			const config = configFor(ctx);
			assertUnderstood(config);
			return config.settings;
		},
		acknowledge: presets.acknowledge,
		presetReport: async (ctx) => presets.presetReport(ctx.cwd, configFor(ctx)),
		async presets(ctx) {
			known = await presets.list(ctx.cwd, configFor(ctx));
			return known;
		},
		async placeFor(kind, { cwd }) {
			const root = await rootOf(cwd);
			const dir = join(root, ".pi", "subagents", kind);
			return leadsInto(root, dir) ? dir : undefined;
		},
		recheck(spec, ctx) {
			const config = configFor(ctx);
			assertUnderstood(config);
			return recheckedSpec(spec, config, { agentDir, cwd: ctx.cwd });
		},
		async resolve(params, ctx, parent) {
			if (params.runner === "workflow")
				throw new AgentError(
					"bad_request",
					"That is a workflow: resume it with the workflow tool or /workflow resume.",
				);
			const config = configFor(ctx);
			const { settings } = config;
			const { isTrial = false } = params;
			if (!isTrial) assertUnderstood(config);
			const { preset, override, note } = await presets.find(params.preset, ctx.cwd, config, params.fallbackPreset);
			const facts = await host.facts(ctx, params.cwd ?? parent?.spec.cwd);
			const isResumed = params.runner !== undefined; // it was counted when it was launched, and stays where it is
			const replacedTools = isResumed ? undefined : await host.replacedTools?.();
			const asksFor = await verifyIn(params);
			const whyNot = asksFor && whyNotVerify(params, settings, parent?.spec, facts.tools);
			assertMayVerify(whyNot, params);
			const verify = whyNot === undefined ? asksFor : undefined;
			const resolveWith = (given: LaunchParams) => {
				const spec = resolveSpec({
					...layersOf(given, preset, override, settings, verify),
					parent: parent ? parentFieldsOf(parent.spec) : host.parent(ctx),
					facts: {
						...facts,
						machines: Object.keys(settings.machines),
						launchers: Object.keys(settings.launchers),
						...defined({ replacedTools }),
					},
				});
				return whyNot === undefined ? spec : unverified(spec, whyNot);
			};
			if (!isTrial && !isResumed) await host.approveLaunch?.();
			const asked = resolveWith(params);
			assertVerifiable(asked, process.platform);
			const hook = isTrial ? [] : settings.hooks.before_launch;
			const answer = hook.length > 0 ? await askLaunchHook(hook, completed(asked, params)) : {};
			const { model } = answer;
			const resolved = model === undefined ? asked : onlyModel(resolveWith({ ...params, model }), model);
			const { cwd, isolation, memory: scope } = resolved;
			if (params.standsAlone) assertStandsAlone(resolved);
			if (isolation && !settings.worktrees) throw new AgentError("bad_request", noWorktrees(resolved, params));
			const confinedTo = parent?.spec.confinedTo ?? (await confinementAt(agentDir, cwd));
			if (isolation) await host.checkWorktree({ cwd, base: isolation.base, confinedTo, mayAsk: !isTrial });
			const limited = narrowed(completed(resolved, params, { confinedTo }), answer);
			await host.requireResources(limited);
			// Nothing is refused from here on, so now directories may be created. After a crash, the answer is in `runs`.
			const runs = isTrial ? undefined : await runsDirOf(ctx.cwd);
			const place = {
				preset: preset.name,
				agentDir,
				isWritable: canWrite(limited),
				isTrial,
			};
			const memory = scope && (await prepareMemory({ ...place, scope, root: await rootOf(ctx.cwd) }));
			const conversation = host.conversation(resolved, parent?.ctx ?? ctx);
			const notes = [note, isTrial ? refusalText(config) : undefined].filter((text) => text !== undefined);
			const spec = completed(resolved, params, { confinedTo, runs, memory, conversation, notes });
			return { preset, spec: narrowed(spec, answer) };
		},
	};
}

/** What a program that gives nothing gets: no trust, no packages, no checks and no conversation. */
const ABSENT = {
	storedTrust: () => "unasked" as const,
	packageManifests: () => [],
	conversation: () => undefined,
	requireResources: async () => undefined,
	checkWorktree: async () => undefined,
};

/** Agents must not run without a limit that the user wrote down and we did not understand. */
function assertUnderstood(config: Config): void {
	const text = refusalText(config);
	if (text !== undefined) throw new AgentError("bad_settings", text);
}

function refusalText({ refusals }: Config): string | undefined {
	if (refusals.length === 0) return undefined;
	return `No agent is launched until the settings can be understood. ${refusals.map(({ text }) => sanitize(text)).join(". ")}. Fix this in the file or with /agents (Settings); /subagent doctor checks it.`;
}

/** What a call says, read as a preset's field of that name is. */
async function verifyIn({ verify }: LaunchParams): Promise<Verify | undefined> {
	if (verify === undefined || verify === null || verify === "") return undefined;
	const { fields, faults } = (await loadPresets()).parseOverride({ verify });
	const why = faults.map(({ message }) => message).join("; ") || "verify is empty";
	if (!fields.verify) throw new AgentError("bad_request", `The call: ${why}.`);
	return fields.verify;
}

/** The directory with the project's presets, or the session's own. */
async function rootOf(cwd: string): Promise<string> {
	const { findPresetRoot } = await loadPresets();
	return (await findPresetRoot(cwd)) ?? cwd;
}
