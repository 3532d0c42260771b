/** Which version this is, and where the worker's program is. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Kept equal to the package's version by a test. */
export const VERSION = "0.1.0";

/** Beside this code, built or not. */
export function builtWorker(): string {
	const places = ["./worker.js", "../dist/worker.js"];
	const file = places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find(existsSync);
	if (file === undefined) throw new Error("worker.js is not built, or is elsewhere: give its path in the options.");
	return file;
}
