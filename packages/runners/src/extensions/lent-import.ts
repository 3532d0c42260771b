/**
 * Borrows the `import` of pi's loader, which compiles TypeScript and knows the modules that pi gives to extensions. Each
 * loan has modules of its own, as each extension has in pi.
 */
import { fileURLToPath, pathToFileURL } from "node:url";
import { createEventBus, discoverAndLoadExtensions, type ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { builtFile } from "@pi-subagents/core/internal/files";

/** Rejects if the file is not an extension. */
export type ImportExtension = (path: string) => Promise<ExtensionFactory>;

/** Beside pi's cache of extensions, for pi evaluates our file again each time. */
export async function lendImport(): Promise<ImportExtension> {
	const bus = createEventBus();
	let lent: ((url: string) => Promise<unknown>) | undefined;
	bus.on("pi-subagents:import", (given) => {
		lent = given as NonNullable<typeof lent>;
	});
	const { errors, runtime } = await discoverAndLoadExtensions([importerFile()], NOWHERE, NOWHERE, bus);
	runtime.invalidate();
	const load = lent;
	if (!load) throw new Error(`pi did not load ${importerFile()}: ${errors[0]?.error ?? "it says no reason"}`);
	return async (path) => {
		const module = await load(pathToFileURL(path).href);
		const { default: exported = module }: { default?: unknown } = Object(module);
		if (typeof exported !== "function") throw new Error("it does not export a function");
		return exported as ExtensionFactory;
	};
}

/** pi would otherwise also load what it finds in the directories that it is given. */
export const NOWHERE = fileURLToPath(new URL("no-such-directory", import.meta.url || "file:///"));

function importerFile(): string {
	return builtFile(import.meta.url, ["./extension-importer.ts", "../extension-importer.ts", "./importer-entry.ts"]);
}
