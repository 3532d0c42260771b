/** Where expensive files are cached between runs: inside `node_modules`, so that a clean checkout stays clean. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export function workspaceCache(name: string): string {
	return join(fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url)), name);
}
