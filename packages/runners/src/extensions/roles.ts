/**
 * What an extension does for agents. The pi that runs it knows; where there is none to ask, its factory is run once
 * more, and what it would register later is not seen.
 */

import { type Clock, systemClock } from "@pi-subagents/core";
import { messageOf, within } from "@pi-subagents/core/internal/base";
import { contained } from "./contained.ts";
import { BUILTIN_TOOLS } from "./guarded-api.ts";
import type { LoadedExtension } from "./loaded.ts";
import { type ExtensionModules, runFactories, versionOf } from "./modules.ts";
import { launchesAgents } from "./names.ts";
import { rootOf } from "./root.ts";
import type { Registered } from "./running.ts";

export interface Role {
	/** It decides about tool calls. */
	judgesCalls: boolean;
	/** pi's own tools that it replaces. */
	replaces: readonly string[];
	/** It launches agents itself. */
	launchesAgents: boolean;
	/** Its options on pi's command line, and whether they have a value. */
	flags: ReadonlyMap<string, "boolean" | "string">;
}

/** How long a factory may take. pi itself waits for ever. */
const LOAD_MS = 20_000;

export class Roles {
	readonly #known = new Map<string, Promise<Role>>();
	readonly #modules: ExtensionModules;
	readonly #clock: Clock;

	constructor(modules: ExtensionModules, clock: Clock = systemClock) {
		this.#modules = modules;
		this.#clock = clock;
	}

	/** Learned once per version of the file. Rejects if it cannot be loaded: then it is not known what it does. */
	async of(extension: LoadedExtension, cwd: string): Promise<Role> {
		const version = versionOf(extension.path);
		const known = this.#known.get(version) ?? this.#learn(extension, cwd);
		this.#known.set(version, known);
		known.catch(() => this.#known.delete(version)); // it may work the next time
		return known;
	}

	async #learn({ path, names }: LoadedExtension, cwd: string): Promise<Role> {
		const lease = this.#modules.lease();
		const loading = (async () => {
			const run = await lease.load(path);
			const factory: typeof run = (pi) => contained(rootOf(path), () => run(pi));
			return runFactories([{ name: path, factory }], { cwd, workDir: cwd });
		})();
		if (!(await within(LOAD_MS, loading, this.#clock))) throw new Error(`it did not load within ${LOAD_MS / 1_000} s`);
		const { extensions, errors, runtime } = await loading;
		const [extension] = extensions;
		runtime.invalidate();
		lease.release(extension !== undefined);
		if (!extension) throw new Error(errors[0]?.error ?? "pi did not load it");
		return roleOf(names, extension);
	}
}

/** From what it has registered. */
export function roleOf(names: readonly string[], { handlers, tools, flags }: Registered): Role {
	return {
		judgesCalls: handlers.has("tool_call"),
		replaces: [...tools.keys()].filter((name) => BUILTIN_TOOLS.has(name)),
		launchesAgents: launchesAgents(names, tools.keys()),
		flags: new Map([...flags.values()].map(({ name, type }) => [name, type])),
	};
}

/** For people: why it is not known what an extension does. */
export function loadFailure({ path }: LoadedExtension, error: unknown): string {
	return `The extension ${path} could not be loaded for an agent (${messageOf(error)}). It may guard agents, so none is launched without it. Fix it, or exempt it in your own settings: "guards": { "exempt": [${JSON.stringify(path)}] }.`;
}
