/** Where things that are expensive to make are kept between runs: inside `node_modules`, so a clean checkout is clean. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export function workspaceCache(name: string): string {
	return join(fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url)), name);
}
