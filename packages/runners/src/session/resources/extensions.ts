/** Resources of a child whose preset asks for extensions: the user's, all but our own or those that it names, and pi's own. */

import { existsSync, realpathSync } from "node:fs";
import * as pi from "@earendil-works/pi-coding-agent";
import {
	DefaultResourceLoader,
	type ExtensionFactory,
	SettingsManager,
	type Skill,
	type SourceInfo,
} from "@earendil-works/pi-coding-agent";
import type { Report, RunSpec } from "@pi-subagents/core";
import { AgentError } from "@pi-subagents/core";
import { quoted } from "@pi-subagents/core/internal/base";
import { originOf } from "@pi-subagents/worktree";
import type { ChildExtensions } from "../../extensions/child-extensions.ts";
import { loadsOnlyGiven } from "../../extensions/guards.ts";
import { filesOf, type LoadedExtension, loadedExtensions, NO_ARGUMENTS } from "../../extensions/loaded.ts";
import type { InlineExtension } from "../../extensions/modules.ts";
import { extensionNames, isCalled, isOurs, launchesAgents } from "../../extensions/names.ts";
import type { SessionHost } from "./host.ts";
import { withoutPisCache } from "./loader.ts";
import { childServers, requireServers } from "./mcp.ts";
import { promptParts } from "./prompt.ts";
import type { ChildResources, ResourceScope } from "./resources.ts";
import { chooseSkills, findSkills, requireAll, requireSkills } from "./skills.ts";

/** Loads the child's guards, those that its preset asks for (by path), and ours, in this order. */
export type LoadExtensions = (chosen: readonly string[], ours: readonly InlineExtension[]) => Promise<ChildExtensions>;

/** Whether the child's preset asks for extensions of any kind. */
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

/** Resources of a child whose preset asks for extensions, MCP servers or tools of pi's own extensions. */
export async function resourcesWithExtensions(
	host: SessionHost,
	scope: ResourceScope,
	spec: RunSpec,
	{ memory, load, last }: { memory: string | undefined; load: LoadExtensions; last: InlineExtension },
): Promise<ChildResources> {
	const { cwd, agentDir, isTrusted } = scope;
	const settingsManager = SettingsManager.create(cwd, agentDir, { projectTrusted: isTrusted });
	const chosen = await extensionPaths(host, scope, spec, settingsManager);
	const { replacement, additions } = promptParts(spec, memory);
	let skills: readonly Skill[] = [];
	const servers = childServers(spec, host.report);
	const resourceLoader = withoutPisCache(
		new DefaultResourceLoader({
			cwd,
			agentDir,
			settingsManager,
			noExtensions: true,
			noThemes: true,
			noPromptTemplates: true,
			skillsOverride: (base) => {
				skills = base.skills;
				return { ...base, skills: chooseSkills(skills, spec.skills) };
			},
			systemPromptOverride: (base) => replacement ?? base,
			appendSystemPromptOverride: (base) => [...base, ...additions],
		}),
	);
	await resourceLoader.reload();
	const extensions = await load(chosen, [
		...builtinsFor(spec).map(({ name, create }) => ({ name, factory: create(), replaceable: true })),
		...(servers ? [servers.extension] : []),
		last,
	]);
	resourceLoader.getExtensions = () => extensions.result;
	const resources = {
		settingsManager,
		resourceLoader,
		extensions,
		check() {
			requireSkills(skills, spec.skills);
			servers?.check();
		},
	};
	try {
		checkLoaded(extensions, spec, host.report);
	} catch (error) {
		extensions.release(false);
		throw error;
	}
	return resources;
}

/** The user's extensions that the spec asks for. Throws if a named one is missing. */
export async function extensionPaths(
	host: Pick<SessionHost, "isOwnExtension" | "runningExtensions">,
	scope: ResourceScope,
	spec: RunSpec,
	settingsManager: SettingsManager,
): Promise<string[]> {
	if (!wantsExtensions(spec)) return [];
	return choose(await candidatesFor(host, scope, settingsManager), spec);
}

/** An extension that a preset may ask for. */
interface Candidate extends LoadedExtension {
	/** It launches agents itself, so it never runs inside one: neither our limits nor our stops would reach its agents. */
	isForeign: boolean;
}

/** What the parent runs, also from its command line, and what the child's own directory has besides. */
async function candidatesFor(
	host: Pick<SessionHost, "isOwnExtension" | "runningExtensions">,
	scope: ResourceScope,
	settingsManager: SettingsManager,
): Promise<Candidate[]> {
	const running = filesOf(host.runningExtensions?.() ?? [], host.isOwnExtension).map(
		([{ path, names }, { tools }]): Candidate => ({ path, names, isForeign: launchesAgents(names, tools.keys()) }),
	);
	const found = loadsOnlyGiven() ? [] : await loadedExtensions({ ...scope, ...host }, NO_ARGUMENTS, settingsManager);
	const known = new Set(running.map(({ path }) => realOf(path)));
	const others = found.filter(({ path }) => !known.has(realOf(path)));
	return [...running, ...others.map((each) => ({ ...each, isForeign: launchesAgents(each.names) }))];
}

function realOf(path: string): string {
	return existsSync(path) ? realpathSync(path) : path;
}

function choose(candidates: readonly Candidate[], { extensions, excludeExtensions = [] }: RunSpec): string[] {
	const wanted = Array.isArray(extensions) ? extensions : undefined;
	const allowed = candidates.filter((each) => !excludeExtensions.some((name) => isCalled(each, name)));
	const usable = allowed.filter(({ isForeign }) => !isForeign);
	const isThere = (name: string) => usable.some((each) => isCalled(each, name));
	const missing = wanted?.filter((name) => !isThere(name)) ?? [];
	const foreign = missing.find((name) => allowed.some((each) => isCalled(each, name)));
	if (foreign !== undefined) throw new AgentError("unsupported", neverInside(foreign));
	const names = usable.flatMap((each) => each.names);
	requireAll("extension", missing, names);
	const chosen = wanted ? usable.filter((each) => wanted.some((name) => isCalled(each, name))) : usable;
	return chosen.map(({ path }) => path);
}

function neverInside(name: string): string {
	return `The agent's preset asks for the extension ${quoted(name)}, which launches agents itself and is never loaded into one. Remove it from \`extensions\`; \`subagents\` says which agents an agent may launch.`;
}

/** A named extension must work; any other broken one is only reported, as pi does. */
function checkLoaded({ failures }: ChildExtensions, spec: RunSpec, report: Report | undefined): void {
	for (const { path, why } of failures) {
		const message = `The extension ${path} does not work in agent ${spec.type}: ${why}`;
		if (Array.isArray(spec.extensions)) throw new Error(message);
		report?.(message);
	}
}

/** The names of the extension that provides a tool, with all tools that it has, if a child can load it. None for any other. */
export function toolExtension({ path, ...source }: SourceInfo, tools: readonly string[]): string[] {
	if (BUILTINS.some(({ name }) => name === path)) return [path];
	if (!existsSync(path)) return []; // pi's own, or generated
	const names = extensionNames(path, source);
	return isOurs(names) || launchesAgents(names, tools) ? [] : names;
}

/**
 * Checks before a launch that what a preset names exists, so that the caller learns immediately. Throws an error with
 * what is missing and what exists.
 */
export async function requireResources(
	host: Pick<SessionHost, "agentDir" | "isProjectTrusted" | "isOwnExtension" | "runningExtensions">,
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
