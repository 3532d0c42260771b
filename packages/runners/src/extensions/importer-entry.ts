/**
 * An extension that lends pi's own `import`. pi's loader resolves the modules that it gives to extensions, compiles
 * TypeScript, and evaluates everything that this file imports afresh for each evaluation of this file. Nothing else in
 * pi does that without the cache that the session's own extensions are in.
 *
 * It stays TypeScript: a compiled module would be imported natively, and so would be everything that it imports.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function lendImport(pi: ExtensionAPI): void {
	pi.events.emit("pi-subagents:import", (url: string) => import(url));
}
