/** The extensions of one child in this process: its guards, those that its preset asks for, and ours. */
import type { ExtensionAPI, ExtensionContext, LoadExtensionsResult } from "@earendil-works/pi-coding-agent";
import { AgentError } from "@pi-subagents/core";
import { defined, quoted } from "@pi-subagents/core/internal/base";
import { contained } from "./contained.ts";
import { guardedApi, withoutProviders } from "./guarded-api.ts";
import type { Guard } from "./guards.ts";
import { ExtensionModules, type InlineExtension, runFactories } from "./modules.ts";
import { rootOf } from "./root.ts";
import type { SessionView } from "./session-view.ts";

export interface ChildExtensionsOptions {
	guards: readonly Guard[];
	/** Paths of those that the preset asks for; guards may be among them. */
	chosen: readonly string[];
	/** Those given as code, which run after the user's. */
	inline: readonly InlineExtension[];
	modules?: ExtensionModules | undefined;
	/** The directory that pi loaded its own extensions for. */
	loadedFor: string;
	/** Where the child works. */
	cwd: string;
	/** How guards see a child that works elsewhere than the session. */
	view?: SessionView | undefined;
	/** A guard failed before the child has begun. */
	onFailure: (why: string, ctx: ExtensionContext) => void;
	/** Fires when the run is stopped. */
	stopping: AbortSignal;
}

export interface ChildExtensions {
	/** What pi makes a session's extensions of. */
	result: LoadExtensionsResult;
	/** Why one that is no guard was not loaded. */
	failures: readonly { path: string; why: string }[];
	/** To be called when the session has ended, or did not begin. `isClean`: the extensions have seen its end. */
	release(isClean: boolean): void;
}

/** Rejects if a guard does not load. */
export async function loadChildExtensions(options: ChildExtensionsOptions): Promise<ChildExtensions> {
	const { guards, chosen, inline, loadedFor, cwd, onFailure, stopping } = options;
	const lease = (options.modules ?? new ExtensionModules()).lease();
	const site = { fail: onFailure, stopping, sharesProviders: true };
	const failures: { path: string; why: string }[] = [];
	try {
		const extensions: InlineExtension[] = [];
		for (const path of new Set([...guards.map((guard) => guard.path), ...chosen])) {
			const guard = guards.find((each) => each.path === path);
			try {
				const run = await lease.load(path);
				const own = guard && {
					name: guard.names[0] ?? path,
					offersTools: chosen.includes(path),
					...defined({ view: options.view }),
				};
				const factory = (pi: ExtensionAPI) =>
					contained(rootOf(path), () => run(own ? guardedApi(pi, own, site) : withoutProviders(pi)));
				extensions.push({ name: path, factory });
			} catch (error) {
				const why = error instanceof Error ? error.message : String(error);
				if (guard) throw new AgentError("refused", notLoaded(guard, why));
				failures.push({ path, why });
			}
		}
		const result = await runFactories([...extensions, ...inline], { cwd: loadedFor, workDir: cwd });
		for (const { name } of extensions) {
			const extension = result.extensions.find(({ path }) => path === `<inline:${name}>`);
			if (extension) {
				const named = { ...extension.sourceInfo, path: name };
				extension.sourceInfo = named;
				for (const each of [...extension.tools.values(), ...extension.commands.values()]) each.sourceInfo = named;
				continue;
			}
			const why = result.errors.find(({ path }) => path === `<inline:${name}>`)?.error ?? "pi did not load it";
			const guard = guards.find(({ path }) => path === name);
			if (guard) throw new AgentError("refused", notLoaded(guard, why));
			failures.push({ path: name, why });
		}
		return { result, failures, release: lease.release };
	} catch (error) {
		lease.release(false);
		throw error;
	}
}

function notLoaded({ names, path }: Guard, why: string): string {
	return `${names[0]} guards agents and could not be loaded (${path}: ${why}), so the agent was not launched. Fix it, or exempt it: name ${quoted(names[0] ?? path)} in \`guards: { exempt }\` of your own settings.`;
}
