/** Which version this is, and where the worker's program is. */
import { builtFile } from "@pi-subagents/core/internal/files";

/** Kept equal to the package's version by a test. */
export const VERSION = "0.1.0";

/** Beside this code, built or not. */
export function builtWorker(): string {
	return builtFile(import.meta.url, ["./worker.js", "../dist/worker.js"]);
}
