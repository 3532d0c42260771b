/**
 * Session files as pi has them: a tree of entries that only grows, and processes that have it open, each with its own
 * copy in memory and its own place in the tree.
 */
import type { SessionEntry } from "@pi-subagents/delivery";

export interface TreeEntry extends SessionEntry {
	parentId: string | undefined;
	/** The runs whose result the model reads in this entry: written by the program, not by what it tests. */
	tells?: readonly string[];
}

export class SessionFile {
	readonly id: string;
	readonly entries: TreeEntry[];

	constructor(id: string, entries: readonly TreeEntry[] = []) {
		this.id = id;
		this.entries = [...entries];
	}

	/** The entries from the root to this one. */
	pathTo(leaf: string | undefined): TreeEntry[] {
		return pathIn(this.entries, leaf);
	}

	/** The ends of all branches, in the order of writing. */
	tips(): string[] {
		const parents = new Set(this.entries.map(({ parentId }) => parentId));
		return this.entries.flatMap(({ id }) => (parents.has(id) ? [] : [id]));
	}
}

/** A session file that a process has open. */
export class OpenSession {
	readonly file: SessionFile;
	readonly #memory: TreeEntry[];
	leaf: string | undefined;
	#isGone = false;

	constructor(file: SessionFile) {
		this.file = file;
		this.#memory = [...file.entries];
		this.leaf = this.#memory.at(-1)?.id;
	}

	get entries(): readonly TreeEntry[] {
		return this.#memory;
	}

	append(entry: Omit<TreeEntry, "id" | "parentId">): string | undefined {
		if (this.#isGone) return undefined;
		const id = `${this.file.id}:${this.file.entries.length + 1}`;
		const written: TreeEntry = { id, parentId: this.leaf, ...structuredClone(entry) };
		this.file.entries.push(written);
		this.#memory.push(written);
		this.leaf = id;
		return id;
	}

	branch(): TreeEntry[] {
		return pathIn(this.#memory, this.leaf);
	}

	/** The process is gone. */
	abandon(): void {
		this.#isGone = true;
	}
}

function pathIn(entries: readonly TreeEntry[], leaf: string | undefined): TreeEntry[] {
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	const path: TreeEntry[] = [];
	for (let entry = byId.get(leaf ?? ""); entry; entry = byId.get(entry.parentId ?? "")) path.unshift(entry);
	return path;
}
