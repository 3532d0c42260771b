/** Resources of a child with extensions: the user's, all but our own or those that its preset names, and pi's own. */

import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import * as pi from "@earendil-works/pi-coding-agent";
import {
	DefaultPackageManager,
	DefaultResourceLoader,
	type ExtensionFactory,
	SettingsManager,
	type Skill,
	type SourceInfo,
} from "@earendil-works/pi-coding-agent";
import type { Report } from "../../base/best-effort.ts";
import { codeOf } from "../../base/error-code.ts";
import { readPlainSync } from "../../files/plain-file.ts";
import type { RunSpec } from "../../model/runner.ts";
import { originOf } from "../../worktree/confine.ts";
import type { SessionHost } from "./host.ts";
import { childServers, requireServers } from "./mcp.ts";
import { promptParts } from "./prompt.ts";
import type { ChildResources, ResourceScope } from "./resources.ts";
import { chooseSkills, findSkills, requireAll, requireSkills } from "./skills.ts";

/** An extension that the user's pi loads. */
interface Candidate {
	path: string;
	/** What a preset may call it: the name of its package, and that of its file. */
	names: string[];
}

/** An extension given as code, which runs after the user's. */
interface InlineExtension {
	name: string;
	factory: ExtensionFactory;
}

/** Whether the child's session runs extensions at all. */
export function hasExtensions(spec: RunSpec): boolean {
	return wantsExtensions(spec) || spec.mcp !== undefined || builtinsFor(spec).length > 0;
}

/** pi's own extensions (pi 1.0 and newer) whose tools a preset may name: the tool, and what pi exports to make the extension. */
const BUILTINS = [
	{ name: "builtin:codemode", tool: "codemode", creator: "createCodemodeExtension" },
	{ name: "builtin:tool-search", tool: "tool_search", creator: "createToolSearchExtension" },
] as const;

interface Builtin {
	name: (typeof BUILTINS)[number]["name"];
	create: () => ExtensionFactory;
}

/**
 * Those that the child's tools come from. They are left out if another extension of the child has a tool of that name,
 * and do not exist in an older pi, where such a tool can only come from another extension.
 */
export function builtinsFor({ tools }: Pick<RunSpec, "tools">): Builtin[] {
	return BUILTINS.flatMap(({ name, tool, creator }): Builtin[] => {
		const create: unknown = Reflect.get(pi, creator);
		return tools.includes(tool) && typeof create === "function" ? [{ name, create: create as Builtin["create"] }] : [];
	});
}

export function wantsExtensions({ extensions }: RunSpec): boolean {
	return extensions === true || (Array.isArray(extensions) && extensions.length > 0);
}

export async function resourcesWithExtensions(
	host: SessionHost,
	scope: ResourceScope,
	spec: RunSpec,
	{ memory, last }: { memory: string | undefined; last: InlineExtension },
): Promise<ChildResources> {
	const { cwd, agentDir, isTrusted } = scope;
	const settingsManager = SettingsManager.create(cwd, agentDir, { projectTrusted: isTrusted });
	const paths = await extensionPaths(host, scope, spec, settingsManager);
	const { replacement, additions } = promptParts(spec, memory);
	let skills: readonly Skill[] = [];
	const servers = childServers(spec, host.report);
	const resourceLoader = new DefaultResourceLoader({
		cwd,
		agentDir,
		settingsManager,
		// Unwanted extensions must not be loaded: loading runs them, and we would start ourselves again.
		noExtensions: true,
		additionalExtensionPaths: paths,
		extensionFactories: [
			...builtinsFor(spec).map(({ name, create }) => ({ name, factory: create(), replaceable: true })),
			...(servers ? [servers.extension] : []),
			last,
		],
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
		check() {
			requireSkills(skills, spec.skills);
			servers?.check();
		},
	};
}

/** The user's extensions that the spec asks for. Throws if a named one is missing. */
export async function extensionPaths(
	host: Pick<SessionHost, "isOwnExtension">,
	scope: ResourceScope,
	spec: RunSpec,
	settingsManager: SettingsManager,
): Promise<string[]> {
	return wantsExtensions(spec) ? choose(await candidates(host, scope, settingsManager), spec) : [];
}

async function candidates(
	host: Pick<SessionHost, "isOwnExtension">,
	scope: ResourceScope,
	settingsManager: SettingsManager,
): Promise<Candidate[]> {
	const packages = new DefaultPackageManager({ ...scope, settingsManager });
	// A launch must not install what the user's pi did not.
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

/** A named extension must work; any other broken one is only reported, as pi does. */
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
	const realDir = dirname(realpathSync(path)); // a link to our own entry is still ours
	const packageName = packageNameOf(realDir, outside === undefined ? undefined : realpathSync(outside));
	return packageName === undefined || packageName === fileName ? [fileName] : [packageName, fileName];
}

/** The name of the nearest enclosing package, looking upwards until `outside`. */
function packageNameOf(dir: string, outside: string | undefined): string | undefined {
	if (dir === outside) return undefined;
	const file = join(dir, "package.json");
	if (existsSync(file)) return nameIn(file);
	const parent = dirname(dir);
	return parent === dir ? undefined : packageNameOf(parent, outside);
}

const MAX_MANIFEST_BYTES = 1024 * 1024;

function nameIn(file: string): string | undefined {
	try {
		const { name } = JSON.parse(readPlainSync(file, MAX_MANIFEST_BYTES, { followsLinks: true }).toString("utf8")) as {
			name?: unknown;
		};
		return typeof name === "string" ? name : undefined;
	} catch (error) {
		const isBroken = error instanceof SyntaxError || error instanceof TypeError;
		if (isBroken || ["EINVAL", "EFBIG"].includes(codeOf(error) ?? "")) return undefined; // so it has no name
		throw error;
	}
}

/** The names of the extension that provides a tool, if a child can load it. None for any other tool. */
export function toolExtension({ path, ...source }: SourceInfo): string[] {
	if (BUILTINS.some(({ name }) => name === path)) return [path];
	if (!existsSync(path)) return []; // pi's own, or generated
	const names = extensionNames(path, source);
	return names.some(isOurs) ? [] : names;
}

function isOurs(name: string): boolean {
	return name === "pi-subagents" || name.startsWith("@pi-subagents/");
}

/**
 * Checks before a launch that what a preset names exists, so that the caller learns immediately. Throws an error with
 * what is missing and what exists.
 */
export async function requireResources(
	host: Pick<SessionHost, "agentDir" | "isProjectTrusted" | "isOwnExtension">,
	spec: RunSpec,
): Promise<void> {
	const { agentDir } = host;
	const { cwd } = spec;
	const isTrusted = host.isProjectTrusted(originOf(spec));
	// Extensions may register servers, which are known only when they run.
	if (!wantsExtensions(spec)) await requireServers(spec, isTrusted);
	if (!isNamed(spec.extensions) && !isNamed(spec.skills)) return; // reading pi's settings takes longer than everything else
	const scope = { cwd, agentDir, isTrusted };
	const settings = SettingsManager.create(cwd, agentDir, { projectTrusted: isTrusted });
	await extensionPaths(host, scope, spec, settings);
	// Extensions may add skills, which are known only when they run.
	if (isNamed(spec.skills) && !wantsExtensions(spec)) requireSkills(await findSkills(scope, settings), spec.skills);
}

function isNamed(wanted: RunSpec["skills"]): boolean {
	return Array.isArray(wanted) && wanted.length > 0;
}
