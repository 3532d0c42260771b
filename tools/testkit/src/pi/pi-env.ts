/**
 * An isolated environment for a pi process: its own home, settings, models, project and environment variables, so that
 * nothing of the user (keys, extensions, settings) gets in and nothing gets out.
 */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTempDir } from "../temp-dir.ts";
import { workspaceCache } from "../workspace-cache.ts";

/** A model of the provider `fake`. */
export interface FakeModelDefinition {
	readonly id: string;
	readonly name?: string;
	readonly reasoning?: boolean;
	readonly input?: readonly ("text" | "image")[];
	readonly contextWindow?: number;
	readonly maxTokens?: number;
	/** Dollars per million tokens. */
	readonly cost?: { input: number; output: number; cacheRead: number; cacheWrite: number };
}

export interface PiEnvOptions {
	/** Where the models are served. */
	readonly server: { readonly baseUrl: string };
	/** On top of the settings below; a key replaces the whole value. */
	readonly settings?: Readonly<Record<string, unknown>>;
	/** The first is the default model. Default: one, `fake-1`. */
	readonly models?: readonly FakeModelDefinition[];
	/** Written into the project: path relative to it → content. */
	readonly files?: Readonly<Record<string, string>>;
	/** Written into pi's agent directory, such as `agents/scout.md`. */
	readonly agentFiles?: Readonly<Record<string, string>>;
	/** Loaded by every pi that a driver starts here (`-e`). */
	readonly extensions?: readonly string[];
	/** Environment variables on top of those made here. */
	readonly variables?: Readonly<Record<string, string>>;
}

export interface PiEnv extends AsyncDisposable {
	/** Everything below is in here. */
	readonly root: string;
	readonly home: string;
	readonly agentDir: string;
	/** The project directory. */
	readonly cwd: string;
	/** Id of the default model. */
	readonly model: string;
	readonly extensions: readonly string[];
	readonly variables: Readonly<Record<string, string>>;
	/** Run by `cleanup`, last registered first, before the files go. */
	onCleanup(task: () => Promise<void>): void;
	/** Ends the processes started here and removes the files. */
	cleanup(): Promise<void>;
}

export const FAKE_PROVIDER = "fake";

const MODEL_DEFAULTS = {
	reasoning: false,
	input: ["text"],
	contextWindow: 128_000,
	maxTokens: 8_192,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
};

/** No surprises: no network, no prompts, no retries that take seconds, the main screen also in pi 1.x. */
const SETTINGS = {
	defaultProvider: FAKE_PROVIDER,
	defaultThinkingLevel: "off",
	theme: "dark",
	quietStartup: true,
	lastChangelogVersion: "99.0.0",
	enableInstallTelemetry: false,
	cacheWarming: "off",
	retry: { enabled: false },
	defaultProjectTrust: "never",
	tuiMode: "regular",
};

/** The variables that a program needs to start; never the user's API keys. */
const INHERITED = ["PATH", "SystemRoot", "ComSpec", "PATHEXT"];

export async function createPiEnv(options: PiEnvOptions): Promise<PiEnv> {
	const dir = await createTempDir("pi-env-");
	const root = dir.path;
	const [home, agentDir, cwd, temp] = ["home", "agent", "project", "tmp"].map((name) => join(root, name)) as [
		string,
		string,
		string,
		string,
	];
	const models = (options.models ?? [{ id: "fake-1" }]).map((model) => ({ ...MODEL_DEFAULTS, ...model }));
	const model = models[0]?.id ?? "";

	await Promise.all([home, agentDir, cwd, temp].map((path) => mkdir(path, { recursive: true })));
	await shareExtensionCache(temp);
	await writeFiles(agentDir, {
		"models.json": JSON.stringify({ providers: { [FAKE_PROVIDER]: provider(options.server.baseUrl, models) } }),
		"settings.json": JSON.stringify({ ...SETTINGS, defaultModel: model, ...options.settings }),
		...options.agentFiles,
	});
	await writeFiles(cwd, options.files ?? {});

	const tasks: (() => Promise<void>)[] = [];
	const cleanup = async () => {
		for (const task of tasks.splice(0).reverse()) await task();
		await dir.remove();
	};
	return {
		root,
		home,
		agentDir,
		cwd,
		model,
		extensions: options.extensions ?? [],
		variables: { ...variables({ home, agentDir, temp }), ...options.variables },
		onCleanup: (task) => tasks.push(task),
		cleanup,
		[Symbol.asyncDispose]: cleanup,
	};
}

function provider(baseUrl: string, models: readonly object[]): object {
	return {
		baseUrl,
		api: "openai-completions",
		apiKey: "none", // without one, pi treats the models as unavailable
		compat: { supportsDeveloperRole: false, supportsReasoningEffort: false, supportsStore: false },
		models,
	};
}

function variables(dirs: { home: string; agentDir: string; temp: string }): Record<string, string> {
	const inherited = INHERITED.flatMap((name) => {
		const value = process.env[name];
		return value === undefined ? [] : [[name, value] as const];
	});
	return {
		...Object.fromEntries(inherited),
		HOME: dirs.home,
		USERPROFILE: dirs.home,
		TMPDIR: dirs.temp,
		TEMP: dirs.temp,
		TMP: dirs.temp,
		LANG: "C.UTF-8",
		TZ: "UTC",
		// For the same reason as the extension cache below.
		NODE_COMPILE_CACHE: workspaceCache("node-compile"),
		PI_CODING_AGENT_DIR: dirs.agentDir,
		PI_OFFLINE: "1",
		PI_SKIP_VERSION_CHECK: "1",
		PI_TELEMETRY: "0",
	};
}

/**
 * pi caches compiled extensions in the temporary directory. Ours is new each time, and compiling again costs seconds at
 * every start; the cache is keyed by content, so it can be shared safely.
 */
async function shareExtensionCache(temp: string): Promise<void> {
	const shared = workspaceCache("jiti");
	await mkdir(shared, { recursive: true });
	await symlink(shared, join(temp, "jiti"), "junction");
}

async function writeFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
	for (const [path, content] of Object.entries(files)) {
		await mkdir(dirname(join(root, path)), { recursive: true });
		await writeFile(join(root, path), content);
	}
}
