/**
 * What children without extensions are made of, read once for all that live in one directory: settings, skills, context
 * files, system prompt. Reading it for each child would cost several times what the child itself does.
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
import type { RunSpec } from "../runner.ts";
import { directoriesIn, Stamps } from "./freshness.ts";
import { loaderFor } from "./loader.ts";
import { promptParts } from "./prompt.ts";
import { chooseSkills, requireSkills } from "./skills.ts";

/** What `createAgentSession` wants beside a model and a place for the conversation. */
export interface Equipment {
	settingsManager: SettingsManager;
	resourceLoader: ResourceLoader;
	/** Whether code of others runs in the child, which must hear of its beginning and its end. */
	hasExtensions: boolean;
	/** Throws if the child lacks what its preset asks for. Asked again when its extensions have been heard. */
	check(): void;
}

export interface Place {
	cwd: string;
	agentDir: string;
	isTrusted: boolean;
}

type ContextFiles = ReturnType<typeof loadProjectContextFiles>;

interface Loaded {
	/** As JSON, so that no child can change another's. */
	settings: { global: string; project: string };
	skills: readonly Skill[];
	systemPrompt: string | undefined;
	additions: readonly string[];
	contextFiles: ContextFiles;
	/** When somebody last looked, or began to read, as `performance.now()` tells it. */
	lookedAt: number;
	isCurrent: () => boolean;
}

/** What is asked beside the spec. */
interface Wish {
	memory?: string | undefined;
	/** When: nothing that was looked at since then need be looked at again. */
	askedAt: number;
}

/** Agents in worktrees have a directory each; those that are gone must not be remembered. */
const MAX_PLACES = 16;

export class SharedResources {
	readonly #places = new Map<string, Promise<Loaded>>();

	async equip(place: Place, spec: RunSpec, { memory, askedAt }: Wish): Promise<Equipment> {
		const loaded = await this.#loadedFor(place, askedAt);
		requireSkills(loaded.skills, spec.skills);
		return {
			settingsManager: settingsOf(loaded, place),
			resourceLoader: staticLoader(loaded, spec, memory),
			hasExtensions: false,
			check: () => undefined,
		};
	}

	async #loadedFor(place: Place, askedAt: number): Promise<Loaded> {
		const key = JSON.stringify([place.cwd, place.agentDir, place.isTrusted]);
		const known = this.#places.get(key);
		const loaded = await known;
		if (loaded && isCurrent(loaded, place, askedAt)) return loaded;
		// Others may have found it stale in the meantime: one of all reads it anew.
		const renewed = this.#places.get(key);
		const loading = renewed && renewed !== known ? renewed : load(place);
		this.#places.delete(key);
		this.#places.set(key, loading);
		for (const oldest of this.#places.keys()) if (this.#places.size > MAX_PLACES) this.#places.delete(oldest);
		try {
			return await loading;
		} catch (error) {
			if (this.#places.get(key) === loading) this.#places.delete(key);
			throw error;
		}
	}
}

/** One look serves all who were launched before it. */
function isCurrent(loaded: Loaded, place: Place, askedAt: number): boolean {
	if (loaded.lookedAt >= askedAt) return true;
	const lookedAt = performance.now();
	if (!loaded.isCurrent()) return false;
	loaded.contextFiles = contextFilesOf(place, loaded.contextFiles);
	loaded.lookedAt = lookedAt;
	return true;
}

async function load(place: Place): Promise<Loaded> {
	const { cwd, agentDir, isTrusted } = place;
	const lookedAt = performance.now();
	const settingsManager = SettingsManager.create(cwd, agentDir, { projectTrusted: isTrusted });
	const loader = loaderFor(place, settingsManager);
	const stamps = new Stamps();
	stamps.add(sourcesOf(place)); // before they are read: what changes in between is read again, not missed
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

/** Where pi looks for settings, system prompts and skills. Skills from elsewhere are stamped one by one. */
function sourcesOf({ cwd, agentDir, isTrusted }: Place): string[] {
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

/** Read for each child, since pi looks in every directory above. Unchanged ones stay the same strings for all. */
function contextFilesOf({ cwd, agentDir }: Place, known: ContextFiles): ContextFiles {
	const files = loadProjectContextFiles({ cwd, agentDir });
	const isSame = files.length === known.length && files.every((file, index) => isEqual(file, known[index]));
	return isSame ? known : files;
}

function isEqual(one: ContextFiles[number], other: ContextFiles[number] | undefined): boolean {
	return one.path === other?.path && one.content === other.content;
}

/** A copy that can be read and changed, but whose changes reach no file: a child does not configure the user's pi. */
function settingsOf({ settings }: Loaded, { isTrusted }: Place): SettingsManager {
	const storage: Parameters<typeof SettingsManager.fromStorage>[0] = {
		withLock: (scope, use) => void use(settings[scope]),
	};
	return SettingsManager.fromStorage(storage, { projectTrusted: isTrusted });
}

function staticLoader(loaded: Loaded, spec: RunSpec, memory: string | undefined): ResourceLoader {
	// A runtime of its own: a shared one would be bound to whichever child came last.
	const extensions = { extensions: [], errors: [], runtime: createExtensionRuntime() };
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
