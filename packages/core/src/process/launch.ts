/** Makes a run's directory, writes down what the run is, and starts the wrapper in it. */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "../clock.ts";
import { memoryPrompt } from "../memory/notes.ts";
import type { RunIdentity, RunSpec } from "../runner.ts";
import { originOf } from "../worktree/confine.ts";
import { piArguments, promptText } from "./arguments.ts";
import { confinementVariables } from "./child/confine.ts";
import { RUN_DIR_VARIABLE } from "./child/tunnel.ts";
import { continueConversation } from "./continue.ts";
import { type Meta, type PiLaunch, RUN_FILES } from "./layout.ts";
import { metaOf, writeMeta } from "./meta.ts";
import { claimRun } from "./owner.ts";
import { type PiCommand, piCommand } from "./pi-command.ts";
import { findResources } from "./resources.ts";
import { type StartedWrapper, type Starter, scriptVariables } from "./starter.ts";

/** What the parent lends the children that run in processes of their own. */
export interface ProcessHost {
	agentDir: string;
	/** Whether the user trusts the project in this directory. An untrusted one configures nothing. */
	isProjectTrusted: (cwd: string) => boolean;
	/** Whether this is an extension of ours, which no child may load, beside those that our package names tell. */
	isOwnExtension?: (path: string) => boolean;
	/** The id of the parent's pi session. */
	parentSessionId?: () => string | undefined;
	/** How pi is started; as this process was, when absent. */
	pi?: PiCommand;
	/** The built wrapper and the extension for children, where they do not lie beside this package's code. */
	wrapper?: string;
	childEntry?: string;
	/** The environment of the child; that of this process when absent. */
	env?: Readonly<Record<string, string | undefined>>;
}

/** Where a wrapper is started. */
export interface Way {
	start: Starter;
	/** Whether people look at what it prints. */
	showsProgress: boolean;
}

/** One directory for each run: one that is already there belongs to somebody else. */
export async function makeRunDir(path: string): Promise<string> {
	const made = await mkdir(path, { recursive: true, mode: 0o700 });
	if (made === undefined)
		throw new Error(`${path} already holds the files of a run. Launch the agent anew, under another id.`);
	return path;
}

/** Returns nothing when the signal fired before the wrapper was started. */
export async function launchRun(
	options: ProcessHost & { clock: Clock },
	way: Way,
	spec: RunSpec & RunIdentity,
	runDir: string,
	signal: AbortSignal,
): Promise<StartedWrapper | undefined> {
	const { clock, env = process.env, parentSessionId, wrapper = builtFile("wrapper.js") } = options;
	const sessionId = parentSessionId?.();
	await continueConversation(runDir, spec, clock);
	const launch = await piLaunch(options, way, spec, runDir);
	const meta: Meta = {
		...metaOf(
			{ ...spec, artifacts: runDir },
			{ createdAt: clock.now(), launch, ...(sessionId === undefined ? {} : { parentSessionId: sessionId }) },
		),
		systemPrompt: promptText(spec, await memoryPrompt(spec)),
		systemPromptPath: join(runDir, RUN_FILES.systemPrompt),
	};
	await writeMeta(runDir, meta);
	await claimRun(runDir, { sessionId });
	if (signal.aborted) return undefined;
	return way.start({
		command: process.execPath,
		args: [wrapper, runDir],
		cwd: spec.cwd,
		env: { ...env, ...scriptVariables(process.execPath) },
		runDir,
		title: `${spec.type}: ${spec.description}`,
		signal,
	});
}

async function piLaunch(options: ProcessHost, way: Way, spec: RunSpec, runDir: string): Promise<PiLaunch> {
	const { agentDir, pi = piCommand(process, existsSync), childEntry = builtFile("child.js") } = options;
	const isProjectTrusted = options.isProjectTrusted(originOf(spec));
	const place = { cwd: spec.cwd, agentDir, isTrusted: isProjectTrusted };
	const found = await findResources(options, place, spec);
	const sessionId = options.parentSessionId?.();
	return {
		command: pi.command,
		args: [...pi.args, ...piArguments(spec, { runDir, childEntry, isProjectTrusted, ...found })],
		env: {
			PI_CODING_AGENT_DIR: agentDir,
			PI_SUBAGENTS_CHILD: "1",
			[RUN_DIR_VARIABLE]: runDir,
			...confinementVariables(spec),
			...(sessionId === undefined ? {} : { PI_SUBAGENT_PARENT_SESSION: sessionId }),
			// What made the wrapper run as a script must not do that to pi.
			...Object.fromEntries(Object.keys(scriptVariables(process.execPath)).map((name) => [name, "0"])),
		},
		showsProgress: way.showsProgress,
	};
}

/** Wherever the build put this line, and also when it is not built at all. */
function builtFile(name: string): string {
	const places = [`./${name}`, `./process/${name}`, `../../dist/process/${name}`];
	const files = import.meta.url ? places.map((place) => fileURLToPath(new URL(place, import.meta.url))) : [];
	const file = files.find(existsSync);
	if (file === undefined) throw new Error(`${name} is not built, or lies elsewhere: say where, in the options.`);
	return file;
}
