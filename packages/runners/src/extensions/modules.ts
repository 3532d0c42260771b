/**
 * Modules of extensions for children in this process. An extension may keep state in its module, which ends with its
 * session: were the module shared, the end of a child would undo what guards the parent, or a sibling. So each living
 * child has its own. One whose session has ended may serve the next child, as it may serve the next session in pi.
 */
import { statSync } from "node:fs";
import {
	DefaultResourceLoader,
	type ExtensionAPI,
	type ExtensionFactory,
	type LoadExtensionsResult,
	SettingsManager,
} from "@earendil-works/pi-coding-agent";
import { importFresh } from "./fresh-import.ts";
import { extended } from "./guarded-api.ts";
import { NOWHERE } from "./lent-import.ts";

/** An extension as code: pi's loader takes these, too. */
export interface InlineExtension {
	name: string;
	factory: ExtensionFactory;
	/** pi 1.x leaves it out if another extension has its tool. */
	replaceable?: boolean;
}

/** The modules of one child's extensions. */
export interface ModuleLease {
	/** Rejects if the file is not an extension that works. */
	load(path: string): Promise<ExtensionFactory>;
	/** To be called when the child has ended. `isClean`: its extensions have seen the end of their session. */
	release(isClean: boolean): void;
}

/** Waiting for a child; more would only hold memory. */
const MAX_IDLE = 8;

export class ExtensionModules {
	#idle = new Map<string, ExtensionFactory[]>();

	lease(): ModuleLease {
		const idle = this.#idle;
		const taken: [string, ExtensionFactory][] = [];
		return {
			async load(path) {
				const version = versionOf(path);
				const factory = idle.get(version)?.pop() ?? (await importFresh(path));
				taken.push([version, factory]);
				return factory;
			},
			release(isClean) {
				for (const [version, factory] of taken.splice(0)) {
					const others = idle.get(version) ?? [];
					idle.set(version, others);
					if (isClean && others.length < MAX_IDLE) others.push(factory);
				}
			},
		};
	}

	/** Another session has begun, which may have loaded other code. */
	forget(): void {
		this.#idle = new Map();
	}
}

/** Changes with the file. Anyone can set a file's mtime, but not its ctime. */
export function versionOf(path: string): string {
	const { mtimeMs, ctimeMs, size, ino } = statSync(path);
	return JSON.stringify([path, mtimeMs, ctimeMs, size, ino]);
}

/** Where extensions are run. */
interface FactoryPlace {
	/** The directory that pi loaded its own extensions for: for another one it would forget their modules. */
	cwd: string;
	/** Where the child works, and so the programs that its extensions start. */
	workDir: string;
}

/** Runs the factories as pi does for a session. Those that fail are among the errors. */
export async function runFactories(
	extensions: readonly InlineExtension[],
	{ cwd, workDir }: FactoryPlace,
): Promise<LoadExtensionsResult> {
	const loader = new DefaultResourceLoader({
		cwd,
		agentDir: NOWHERE,
		settingsManager: SettingsManager.inMemory({}, { projectTrusted: false }),
		noExtensions: true,
		noSkills: true,
		noPromptTemplates: true,
		noThemes: true,
		noContextFiles: true,
		systemPrompt: "-", // else it would be looked for
		appendSystemPrompt: [],
		extensionFactories: extensions.map((extension) => ({
			...extension,
			factory: (pi: ExtensionAPI) => extension.factory(workingIn(workDir, pi)),
		})),
	});
	await loader.reload();
	return loader.getExtensions();
}

/** pi starts programs where it loaded the extension. */
function workingIn(cwd: string, pi: ExtensionAPI): ExtensionAPI {
	const exec: ExtensionAPI["exec"] = (command, args, options) => pi.exec(command, args, { cwd, ...options });
	return extended(pi, { exec });
}
