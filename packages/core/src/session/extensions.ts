/** Equips a child that runs extensions of the user's: all but our own, or those that its preset names. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import {
	DefaultPackageManager,
	DefaultResourceLoader,
	SettingsManager,
	type Skill,
	type SourceInfo,
} from "@earendil-works/pi-coding-agent";
import type { Report } from "../best-effort.ts";
import type { RunSpec } from "../runner.ts";
import type { SessionHost } from "./host.ts";
import { promptParts } from "./prompt.ts";
import type { Equipment, Place } from "./resources.ts";
import { chooseSkills, requireAll, requireSkills } from "./skills.ts";

/** An extension that the user's pi loads. */
interface Candidate {
	path: string;
	/** What a preset may call it: the name of its package, and that of its file. */
	names: string[];
}

export function wantsExtensions({ extensions }: RunSpec): boolean {
	return extensions === true || (Array.isArray(extensions) && extensions.length > 0);
}

export async function equipWithExtensions(
	host: SessionHost,
	place: Place,
	spec: RunSpec,
	memory?: string,
): Promise<Equipment> {
	const { cwd, agentDir, isTrusted } = place;
	const settingsManager = SettingsManager.create(cwd, agentDir, { projectTrusted: isTrusted });
	const paths = await extensionPaths(host, place, spec, settingsManager);
	const { replacement, additions } = promptParts(spec, memory);
	let skills: readonly Skill[] = [];
	const resourceLoader = new DefaultResourceLoader({
		cwd,
		agentDir,
		settingsManager,
		// What is not wanted must not even be loaded: loading runs it, and we would start ourselves again.
		noExtensions: true,
		additionalExtensionPaths: paths,
		noThemes: true,
		noPromptTemplates: true,
		skillsOverride: (base) => {
			skills = base.skills;
			return { ...base, skills: chooseSkills(skills, spec.skills) };
		},
		systemPromptOverride: (base) => replacement ?? base,
		appendSystemPromptOverride: (base) => [...base, ...additions],
	});
	await resourceLoader.reload();
	checkLoaded(resourceLoader, paths, spec, host.report);
	return {
		settingsManager,
		resourceLoader,
		hasExtensions: true,
		check: () => requireSkills(skills, spec.skills),
	};
}

/** Of the extensions that the user's pi loads, those that the spec wants. Throws if one that it names is not there. */
export async function extensionPaths(
	host: Pick<SessionHost, "isOwnExtension">,
	place: Place,
	spec: RunSpec,
	settingsManager: SettingsManager,
): Promise<string[]> {
	return wantsExtensions(spec) ? choose(await candidates(host, place, settingsManager), spec) : [];
}

async function candidates(
	host: Pick<SessionHost, "isOwnExtension">,
	place: Place,
	settingsManager: SettingsManager,
): Promise<Candidate[]> {
	const packages = new DefaultPackageManager({ ...place, settingsManager });
	// A launch is no moment to install what the user's pi did not.
	const { extensions } = await packages.resolve(async () => "skip");
	return extensions
		.filter(({ path, enabled }) => enabled && !host.isOwnExtension?.(path))
		.map(({ path, metadata }) => ({ path, names: extensionNames(path, metadata) }))
		.filter(({ names }) => !names.some(isOurs));
}

function choose(candidates: readonly Candidate[], { extensions, excludeExtensions = [] }: RunSpec): string[] {
	const wanted = Array.isArray(extensions) ? extensions : undefined;
	const allowed = candidates.filter(({ names }) => !names.some((name) => excludeExtensions.includes(name)));
	if (wanted)
		requireAll(
			"extension",
			wanted,
			allowed.flatMap(({ names }) => names),
		);
	const chosen = wanted ? allowed.filter(({ names }) => names.some((name) => wanted.includes(name))) : allowed;
	return chosen.map(({ path }) => path);
}

/** One that a preset names must work; of all the others a broken one is only reported, as pi does. */
function checkLoaded(
	loader: DefaultResourceLoader,
	paths: readonly string[],
	spec: RunSpec,
	report: Report | undefined,
): void {
	const { extensions, errors } = loader.getExtensions();
	const loaded = new Set(extensions.flatMap(({ path, resolvedPath }) => [path, resolvedPath]));
	const failed = paths.filter((path) => !loaded.has(path));
	for (const path of failed) {
		const why = errors.find((error) => error.path === path)?.error ?? "pi did not load it";
		const message = `The extension ${path} does not work in agent ${spec.type}: ${why}`;
		if (Array.isArray(spec.extensions)) throw new Error(message);
		report?.(message);
	}
}

/** What a preset may call it: the name of its package, if it has one, and that of its file. */
function extensionNames(path: string, { baseDir, origin }: Pick<SourceInfo, "baseDir" | "origin">): string[] {
	const stem = basename(path, extname(path));
	const fileName = stem === "index" ? basename(dirname(path)) : stem;
	const outside = baseDir !== undefined && origin === "package" ? dirname(baseDir) : baseDir;
	const realDir = dirname(realpathSync(path)); // a link to our own entry is still us
	const packageName = packageNameOf(realDir, outside === undefined ? undefined : realpathSync(outside));
	return packageName === undefined || packageName === fileName ? [fileName] : [packageName, fileName];
}

/** Of the nearest package that the directory belongs to, looking upwards until `outside`. */
function packageNameOf(dir: string, outside: string | undefined): string | undefined {
	if (dir === outside) return undefined;
	const file = join(dir, "package.json");
	if (existsSync(file)) return nameIn(file);
	const parent = dirname(dir);
	return parent === dir ? undefined : packageNameOf(parent, outside);
}

function nameIn(file: string): string | undefined {
	try {
		const { name } = JSON.parse(readFileSync(file, "utf8")) as { name?: unknown };
		return typeof name === "string" ? name : undefined;
	} catch (error) {
		if (error instanceof SyntaxError || error instanceof TypeError) return undefined; // broken, so without a name
		throw error;
	}
}

/** Of a tool that an extension of the user's brings: the names of that extension. None for any other tool. */
export function toolExtension({ path, ...source }: SourceInfo): string[] {
	if (!existsSync(path)) return []; // pi's own, or made by a program
	const names = extensionNames(path, source);
	return names.some(isOurs) ? [] : names;
}

function isOurs(name: string): boolean {
	return name === "pi-subagents" || name.startsWith("@pi-subagents/");
}
