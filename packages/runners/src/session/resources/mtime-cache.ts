/** Detects whether files changed since they were read. Synchronous: only a few stats per launch. */
import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";

export class Stamps {
	readonly #stamps = new Map<string, Stats | undefined>();

	/** Remembers the paths' current state, including missing ones. */
	add(paths: Iterable<string>): void {
		for (const path of paths) if (!this.#stamps.has(path)) this.#stamps.set(path, lookAt(path));
	}

	areCurrent(): boolean {
		for (const [path, before] of this.#stamps) if (!isSame(before, lookAt(path))) return false;
		return true;
	}
}

/** The directory and its subdirectories. */
export function directoriesIn(root: string): string[] {
	const found = [root];
	// `found` grows during the loop; the bound is for a root that links to half a disk.
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

/** Anyone can set a file's mtime, but not its ctime. */
function isSame(before: Stats | undefined, now: Stats | undefined): boolean {
	if (!before || !now) return before === now;
	const { mtimeMs, ctimeMs, size, ino } = now;
	return before.mtimeMs === mtimeMs && before.ctimeMs === ctimeMs && before.size === size && before.ino === ino;
}
