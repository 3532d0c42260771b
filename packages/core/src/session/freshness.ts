/** Whether files are still as they were when they were read. Synchronous, because it is a few stats per launch. */
import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";

export class Stamps {
	readonly #stamps = new Map<string, Stats | undefined>();

	/** Remembers how the paths are now, missing ones included. */
	add(paths: Iterable<string>): void {
		for (const path of paths) if (!this.#stamps.has(path)) this.#stamps.set(path, lookAt(path));
	}

	areCurrent(): boolean {
		for (const [path, before] of this.#stamps) if (!isSame(before, lookAt(path))) return false;
		return true;
	}
}

/** The directory and all below it in which a file may appear. */
export function directoriesIn(root: string): string[] {
	const found = [root];
	// `found` grows while it is read; the bound is for a root that someone has linked to half a disk.
	for (let index = 0; index < found.length && found.length < MAX_DIRECTORIES; index++) {
		const dir = found[index] ?? root;
		for (const name of subdirectories(dir)) found.push(join(dir, name));
	}
	return found;
}

const MAX_DIRECTORIES = 500;

function subdirectories(dir: string): string[] {
	if (!lookAt(dir)?.isDirectory()) return [];
	const entries = readdirSync(dir, { withFileTypes: true });
	const isRead = (name: string) => !name.startsWith(".") && name !== "node_modules";
	return entries.filter((entry) => entry.isDirectory() && isRead(entry.name)).map(({ name }) => name);
}

function lookAt(path: string): Stats | undefined {
	return statSync(path, { throwIfNoEntry: false });
}

/** The time of a file's last change can be set by anyone; that of its entry cannot. */
function isSame(before: Stats | undefined, now: Stats | undefined): boolean {
	if (!before || !now) return before === now;
	const { mtimeMs, ctimeMs, size, ino } = now;
	return before.mtimeMs === mtimeMs && before.ctimeMs === ctimeMs && before.size === size && before.ino === ino;
}
