/** The user's extensions that the running pi loads: those of its directories, packages and command line. */
import { existsSync, realpathSync } from "node:fs";
import { basename, extname, isAbsolute, resolve } from "node:path";
import { DefaultPackageManager, SettingsManager } from "@earendil-works/pi-coding-agent";
import { AgentError } from "@pi-subagents/core";
import { extensionNames, isOurs } from "./names.ts";
import type { RunningExtension } from "./running.ts";

/** An extension that the user's pi loads. */
export interface LoadedExtension {
	path: string;
	/** What presets and settings may call it: the name of its package, and that of its file. */
	names: readonly string[];
}

/** What pi's command line says about extensions. */
export interface ExtensionArguments {
	/** Those of `--extension`. */
	given: readonly string[];
	/** `--no-extensions`: all others are off. */
	onlyGiven: boolean;
}

interface Place {
	cwd: string;
	agentDir: string;
	isTrusted: boolean;
	isOwnExtension?: ((path: string) => boolean) | undefined;
}

export const NO_ARGUMENTS: ExtensionArguments = { given: [], onlyGiven: false };

/** In the order in which pi runs their handlers. Ours are not among them. Throws if a given one is gone. */
export async function loadedExtensions(
	place: Place,
	{ given, onlyGiven }: ExtensionArguments,
	settings?: SettingsManager,
): Promise<LoadedExtension[]> {
	const { cwd, agentDir, isTrusted, isOwnExtension } = place;
	const settingsManager = settings ?? SettingsManager.create(cwd, agentDir, { projectTrusted: isTrusted });
	const packages = new DefaultPackageManager({ cwd, agentDir, settingsManager });
	for (const source of given) assertThere(source, cwd);
	const temporary =
		given.length === 0 ? [] : (await packages.resolveExtensionSources([...given], { temporary: true })).extensions;
	// A launch must not install what the user's pi did not.
	const found = onlyGiven ? [] : (await packages.resolve(async () => "skip")).extensions;
	const seen = new Set<string>();
	return [...temporary, ...found]
		.filter(({ path, enabled }) => enabled && !isOwnExtension?.(path))
		.map(({ path, metadata }) => ({ path, names: extensionNames(path, metadata) }))
		.filter(({ path, names }) => {
			const real = realpathSync(path);
			const isNew = !seen.has(real);
			seen.add(real);
			return isNew && !isOurs(names);
		});
}

/** Those that pi runs, with what they registered. Ours, and those that are no files, are not among them. */
export function filesOf(
	running: readonly RunningExtension[],
	isOwnExtension: Place["isOwnExtension"],
): [LoadedExtension, RunningExtension][] {
	return withFiles(running).filter(([{ path, names }]) => !isOwnExtension?.(path) && !isOurs(names));
}

/** All that pi runs from files, ours among them. */
export function withFiles(running: readonly RunningExtension[]): [LoadedExtension, RunningExtension][] {
	return running
		.filter(({ resolvedPath }) => isAbsolute(resolvedPath))
		.map((each): [LoadedExtension, RunningExtension] => {
			const { resolvedPath: path, sourceInfo } = each;
			// One whose file is gone may still guard.
			const names = existsSync(path) ? extensionNames(path, sourceInfo) : [basename(path, extname(path))];
			return [{ path, names }, each];
		});
}

/** pi did not start without it, so it was there. It may guard, so it must not be missing now. */
function assertThere(source: string, cwd: string): void {
	if (
		/^(?:npm|git|https?|ssh|builtin):/.test(source) ||
		existsSync(resolve(cwd, source.replace(/^~(?=\/)/, process.env.HOME ?? "~")))
	)
		return;
	throw new AgentError(
		"refused",
		`${source}, which pi was started with (\`-e\`), is gone. It may guard agents, so none is launched without it: restore it, or restart pi.`,
	);
}
