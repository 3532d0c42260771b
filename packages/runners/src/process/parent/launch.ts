/** Creates a run's directory, writes its meta file, and starts the wrapper in it. */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { AgentUi, Clock } from "@pi-subagents/core";
import { type AlertRules, type RunIdentity, type RunSpec, runIdOf } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { BUILD, BUILD_VARIABLE, builtFile, createFile, requireOwnBuild } from "@pi-subagents/core/internal/files";
import { alertVariables, memoryPrompt } from "@pi-subagents/core/internal/run";
import { RUN_MARK, RunProcesses } from "@pi-subagents/core/internal/signals";
import type { Meta } from "@pi-subagents/runs";
import { claimRun, RUN_FILES, traceOf, traceparentOf } from "@pi-subagents/runs";
import type { PiLaunch } from "@pi-subagents/runs/internal";
import { metaOf, writeMeta } from "@pi-subagents/runs/internal";
import { originOf } from "@pi-subagents/worktree";
import { confinementVariables } from "../child/confine.ts";
import { type GuardFile, guardVariables } from "../child/guard-wish.ts";
import { mcpVariables } from "../child/mcp-wish.ts";
import { type LaunchFacts, piArguments, promptText } from "../pi/arguments.ts";
import { extensionModelVariables } from "../pi/extension-models.ts";
import { type Launchers, outerProgram } from "../pi/outer-program.ts";
import { type PiCommand, piCommand } from "../pi/pi-command.ts";
import { RUNS_DIR_VARIABLE } from "../pi/tunnel.ts";
import { type StartedWrapper, type Starter, scriptVariables } from "./starter.ts";

/** What the parent provides to children in their own processes. */
export interface ProcessHost {
	agentDir: string;
	/** Whether the user trusts the project in this directory. An untrusted one configures nothing. */
	isProjectTrusted: (cwd: string) => boolean;
	/** Whether this is one of our extensions, which no child may load; those with our package names are known. */
	isOwnExtension?: (path: string) => boolean;
	/**
	 * Which extension provides a model: one of pi's own, which a child can load by this path, or one of the user's.
	 * Undefined: none.
	 */
	extensionOfModel?: (model: string) => `builtin:${string}` | "user" | undefined;
	/** The id of the parent's pi session. */
	parentSessionId?: () => string | undefined;
	/** How to start pi; like this process when absent. */
	pi?: PiCommand;
	/** The built wrapper and the child extensions, if they are not beside this package's code. */
	wrapper?: string;
	childEntry?: string;
	guardsEntry?: string;
	mcpEntry?: string;
	noUserEntry?: string;
	/** Who answers dialogs of extensions in children. When absent, no one does. */
	ui?: Pick<AgentUi, "canAnswer">;
	/** What the user wants to hear of when a detached run ends. */
	alertRules?: () => AlertRules;
	/** The programs that agents can run inside, as the user defines them now. */
	launchers?: () => Launchers;
	/** The environment of the child; that of this process when absent. */
	env?: Readonly<Record<string, string | undefined>>;
}

/** How wrappers are started. */
export interface WrapperLauncher {
	start: Starter;
	/** Whether people watch its output. */
	showsProgress: boolean;
}

/** What a launch looks up with pi's own modules. Passed in, so that a machine without these modules can launch too. */
export interface LaunchLookups {
	/** The content of the session file that the run starts with. Undefined: none. */
	conversation(runDir: string, spec: RunSpec & RunIdentity): Promise<string | Uint8Array | undefined>;
	/** Rejects if the spec names a missing extension or skill, or a guard does not load. */
	resources(spec: RunSpec, scope: { cwd: string; agentDir: string; isTrusted: boolean }): Promise<LookedUp>;
}

/** What of pi's resources a child's process gets. */
export interface LookedUp extends Pick<LaunchFacts, "extensions" | "skills" | "appendedPrompt" | "guardFlags"> {
	/** Those that guard it, whatever its spec says. */
	guards: readonly GuardFile[];
}

type LaunchOptions = ProcessHost & LaunchLookups & { clock: Clock };

/** One directory per run: an existing one belongs to another run. */
export async function makeRunDir(path: string): Promise<string> {
	const made = await mkdir(path, { recursive: true, mode: 0o700 });
	if (made === undefined)
		throw new Error(`${path} already holds the files of a run. Launch the agent again under another id.`);
	return path;
}

/** Returns undefined if the signal fired before the wrapper was started. */
export async function launchRun(
	options: LaunchOptions,
	launcher: WrapperLauncher,
	spec: RunSpec & RunIdentity,
	runDir: string,
	signal: AbortSignal,
): Promise<StartedWrapper | undefined> {
	const { env = process.env } = options;
	const wrapper = program("wrapper.js", options.wrapper);
	const outer = outerProgram(spec, { ...options, runDir });
	const conversation = await options.conversation(runDir, spec);
	if (conversation !== undefined) await createFile(join(runDir, RUN_FILES.session), conversation);
	await describeRun(options, spec, runDir, {
		...(await piLaunch(options, launcher, spec, runDir)),
		...defined({ around: outer?.command }),
	});
	if (signal.aborted) return undefined;
	return launcher.start({
		command: process.execPath,
		args: [wrapper, runDir],
		cwd: spec.cwd,
		// Its variables may be secrets: they go into no file.
		env: {
			...env,
			...outer?.env,
			...scriptVariables(process.execPath),
			...defined({ [BUILD_VARIABLE]: BUILD }),
			...alertVariables(options.alertRules?.(), spec),
			[RUN_MARK]: runDir,
		},
		processes: new RunProcesses({ agentDir: options.agentDir, runDir }),
		title: `${spec.type}: ${spec.description}`,
		signal,
	});
}

/** Writes what the run is, and makes this process its watcher. `launch`: how its wrapper starts pi on this machine. */
export async function describeRun(
	{ agentDir, clock, parentSessionId }: Pick<LaunchOptions, "agentDir" | "clock" | "parentSessionId">,
	spec: RunSpec & RunIdentity,
	runDir: string,
	launch?: PiLaunch,
): Promise<void> {
	const sessionId = parentSessionId?.();
	const about = { createdAt: clock.now(), ...defined({ launch, parentSessionId: sessionId }) };
	const meta: Meta = {
		...metaOf({ ...spec, artifacts: runDir }, about),
		systemPrompt: promptText(spec, await memoryPrompt(spec)),
		systemPromptPath: join(runDir, RUN_FILES.systemPrompt),
	};
	await writeMeta(runDir, meta);
	await claimRun({ agentDir, runDir }, { sessionId });
}

async function piLaunch(
	options: LaunchOptions,
	launcher: WrapperLauncher,
	spec: RunSpec & RunIdentity,
	runDir: string,
): Promise<PiLaunch> {
	const { agentDir, pi = piCommand(process, existsSync) } = options;
	const childEntry = program("child.js", options.childEntry);
	const mcpEntry = spec.mcp && program("child-mcp.ts", options.mcpEntry);
	const isProjectTrusted = options.isProjectTrusted(originOf(spec));
	const found = await options.resources(spec, { cwd: spec.cwd, agentDir, isTrusted: isProjectTrusted });
	const { guards } = found;
	const guardsEntry = guards.length > 0 ? program("child-guards.ts", options.guardsEntry) : undefined;
	const sources = Map.groupBy([spec.model, ...(spec.fallbackModels ?? [])], (model) =>
		options.extensionOfModel?.(model),
	);
	// They vanish with `--no-extensions`.
	const builtins = [...sources.keys()].filter((source) => source?.startsWith("builtin:")).map(String);
	const extensions = [...builtins, ...found.extensions];
	const hasNoUser = found.extensions.length + guards.length > 0 && !options.ui?.canAnswer();
	const noUserEntry = hasNoUser ? program("child-no-user.ts", options.noUserEntry) : undefined;
	const entries = [guardsEntry, childEntry, mcpEntry, noUserEntry].filter((entry) => entry !== undefined);
	const sessionId = options.parentSessionId?.();
	return {
		command: pi.command,
		args: [...pi.args, ...piArguments(spec, { ...found, runDir, entries, isProjectTrusted, extensions })],
		env: {
			PI_CODING_AGENT_DIR: agentDir,
			PI_SUBAGENTS_CHILD: "1",
			[RUN_MARK]: runDir,
			...(spec.runsDir === undefined ? {} : { [RUNS_DIR_VARIABLE]: spec.runsDir }),
			...confinementVariables(spec),
			...guardVariables(guards),
			...mcpVariables(spec),
			...extensionModelVariables(sources.get("user") ?? []),
			...defined({ PI_SUBAGENT_PARENT_SESSION: sessionId }),
			TRACEPARENT: traceparentOf(runIdOf(spec), traceOf(sessionId, (options.env ?? process.env).TRACEPARENT)),
			// What makes the wrapper run as a script must not affect pi.
			...Object.fromEntries(Object.keys(scriptVariables(process.execPath)).map((name) => [name, "0"])),
		},
		showsProgress: launcher.showsProgress,
	};
}

/** The program that the options name, or the one beside this code; in either case of the same build. */
function program(name: string, given: string | undefined): string {
	if (given !== undefined) return requireOwnBuild(given, import.meta.url);
	return builtFile(import.meta.url, [`./${name}`, `./process/${name}`, `../../dist/process/${name}`]);
}
