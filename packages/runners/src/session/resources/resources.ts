/**
 * Resources of children whose presets ask for no extensions, read once per directory: settings, skills, context files, system prompt.
 * Reading them for each child would cost several times the child itself.
 */
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import {
	createExtensionRuntime,
	loadProjectContextFiles,
	type ResourceLoader,
	SettingsManager,
	type Skill,
} from "@earendil-works/pi-coding-agent";
import type { RunSpec } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import type { ChildExtensions } from "../../extensions/child-extensions.ts";
import { loaderFor } from "./loader.ts";
import { directoriesIn, Stamps } from "./mtime-cache.ts";
import { promptParts } from "./prompt.ts";
import { chooseSkills, requireSkills } from "./skills.ts";

/** What `createAgentSession` needs besides a model and a session manager. */
export interface ChildResources {
	settingsManager: SettingsManager;
	resourceLoader: ResourceLoader;
	/** Those that run in the child, which must see its start and its end. Absent: none. */
	extensions?: ChildExtensions;
	/** Throws if the child lacks what its preset asks for. Checked again after its extensions ran. */
	check(): void;
}

export interface ResourceScope {
	cwd: string;
	agentDir: string;
	isTrusted: boolean;
}

type ContextFiles = ReturnType<typeof loadProjectContextFiles>;

interface Loaded {
	/** As JSON, so that no child can change another's copy. */
	settings: { global: string; project: string };
	skills: readonly Skill[];
	systemPrompt: string | undefined;
	additions: readonly string[];
	contextFiles: ContextFiles;
	/** When it was last checked or read, by `performance.now()`. */
	lookedAt: number;
	isCurrent: () => boolean;
}

/** What a launch needs besides the spec. */
interface LoadOptions {
	memory?: string | undefined;
	/** Those of a child that has nothing but guards. */
	extensions?: ChildExtensions | undefined;
	/** The launch time: what was checked since then need not be checked again. */
	askedAt: number;
}

/** Agents in worktrees each have their own directory; old ones must be dropped. */
const MAX_SCOPES = 16;

export class SharedResources {
	readonly #scopes = new Map<string, Promise<Loaded>>();

	async resourcesFor(scope: ResourceScope, spec: RunSpec, options: LoadOptions): Promise<ChildResources> {
		const loaded = await this.#loadedFor(scope, options.askedAt);
		requireSkills(loaded.skills, spec.skills);
		return {
			settingsManager: settingsOf(loaded, scope),
			resourceLoader: staticLoader(loaded, spec, options),
			...defined({ extensions: options.extensions }),
			check: () => undefined,
		};
	}

	async #loadedFor(scope: ResourceScope, askedAt: number): Promise<Loaded> {
		const key = JSON.stringify([scope.cwd, scope.agentDir, scope.isTrusted]);
		const known = this.#scopes.get(key);
		const loaded = await known;
		if (loaded && isCurrent(loaded, scope, askedAt)) return loaded;
		// Another launch may have found it stale meanwhile: only one reads it again.
		const renewed = this.#scopes.get(key);
		const loading = renewed && renewed !== known ? renewed : load(scope);
		this.#scopes.delete(key);
		this.#scopes.set(key, loading);
		for (const oldest of this.#scopes.keys()) if (this.#scopes.size > MAX_SCOPES) this.#scopes.delete(oldest);
		try {
			return await loading;
		} catch (error) {
			if (this.#scopes.get(key) === loading) this.#scopes.delete(key);
			throw error;
		}
	}
}

/** One check serves all launches before it. */
function isCurrent(loaded: Loaded, scope: ResourceScope, askedAt: number): boolean {
	if (loaded.lookedAt >= askedAt) return true;
	const lookedAt = performance.now();
	if (!loaded.isCurrent()) return false;
	loaded.contextFiles = contextFilesOf(scope, loaded.contextFiles);
	loaded.lookedAt = lookedAt;
	return true;
}

async function load(scope: ResourceScope): Promise<Loaded> {
	const { cwd, agentDir, isTrusted } = scope;
	const lookedAt = performance.now();
	const settingsManager = SettingsManager.create(cwd, agentDir, { projectTrusted: isTrusted });
	const loader = loaderFor(scope, settingsManager);
	const stamps = new Stamps();
	stamps.add(sourcesOf(scope)); // before reading: a change in between is read again, not missed
	await loader.reload();
	const { skills } = loader.getSkills();
	stamps.add(skills.flatMap(({ filePath }) => [filePath, dirname(filePath)]));
	return {
		settings: {
			global: JSON.stringify(settingsManager.getGlobalSettings()),
			project: JSON.stringify(settingsManager.getProjectSettings()),
		},
		skills,
		systemPrompt: loader.getSystemPrompt(),
		additions: loader.getAppendSystemPrompt(),
		contextFiles: loader.getAgentsFiles().agentsFiles,
		lookedAt,
		isCurrent: () => stamps.areCurrent(),
	};
}

/** Where pi looks for settings, system prompts and skills. Skills from elsewhere are stamped individually. */
function sourcesOf({ cwd, agentDir, isTrusted }: ResourceScope): string[] {
	const configs = isTrusted ? [agentDir, join(cwd, ".pi")] : [agentDir];
	const files = configs.flatMap((dir) =>
		["settings.json", "SYSTEM.md", "APPEND_SYSTEM.md"].map((name) => join(dir, name)),
	);
	const shared = [homedir(), ...(isTrusted ? ancestors(cwd) : [])].map((dir) => join(dir, ".agents"));
	const roots = [...configs, ...shared].map((dir) => join(dir, "skills"));
	return [...files, ...roots.flatMap(directoriesIn)];
}

function ancestors(dir: string): string[] {
	const parent = dirname(dir);
	return parent === dir ? [dir] : [dir, ...ancestors(parent)];
}

/** Read for each child, since pi looks in every parent directory. Unchanged ones stay the same strings for all. */
function contextFilesOf({ cwd, agentDir }: ResourceScope, known: ContextFiles): ContextFiles {
	const files = loadProjectContextFiles({ cwd, agentDir });
	const isSame = files.length === known.length && files.every((file, index) => isEqual(file, known[index]));
	return isSame ? known : files;
}

function isEqual(one: ContextFiles[number], other: ContextFiles[number] | undefined): boolean {
	return one.path === other?.path && one.content === other.content;
}

/** A copy whose changes reach no file: a child does not configure the user's pi. */
function settingsOf({ settings }: Loaded, { isTrusted }: ResourceScope): SettingsManager {
	const storage: Parameters<typeof SettingsManager.fromStorage>[0] = {
		withLock: (scope, use) => void use(settings[scope]),
	};
	return SettingsManager.fromStorage(storage, { projectTrusted: isTrusted });
}

function staticLoader(loaded: Loaded, spec: RunSpec, { memory, extensions: own }: LoadOptions): ResourceLoader {
	// Its own runtime: a shared one would be bound to the last child.
	const extensions = own?.result ?? { extensions: [], errors: [], runtime: createExtensionRuntime() };
	const skills = { skills: chooseSkills(loaded.skills, spec.skills), diagnostics: [] };
	const agentsFiles = { agentsFiles: loaded.contextFiles };
	const { replacement = loaded.systemPrompt, additions } = promptParts(spec, memory);
	const appended = [...loaded.additions, ...additions];
	return {
		getExtensions: () => extensions,
		getSkills: () => skills,
		getPrompts: () => ({ prompts: [], diagnostics: [] }),
		getThemes: () => ({ themes: [], diagnostics: [] }),
		getAgentsFiles: () => agentsFiles,
		getSystemPrompt: () => replacement,
		getSystemPromptSource: () => undefined,
		getAppendSystemPrompt: () => appended,
		getAppendSystemPromptSources: () => [],
		extendResources: () => undefined,
		reload: async () => undefined,
	};
}
