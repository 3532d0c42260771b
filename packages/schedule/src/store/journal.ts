/**
 * One generation of a file store: an append-only file in a directory that is renamed into place as a whole. Also the
 * format of its lines: job entries, the initial size, and the seal at its end.
 */
import { constants, type FSWatcher, watch } from "node:fs";
import { type FileHandle, lstat, mkdir, mkdtemp, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { JobEntry, StoredJob } from "../jobs/job-reducer.ts";
import { isEntry } from "../jobs/validation.ts";

const FILE = "entries.jsonl";
const NAME = /^journal-([1-9]\d{0,8})$/;
const CHUNK = 1 << 20;
const MAX_LINE_BYTES = 1 << 20;
const MAX_FILE_BYTES = 256 << 20;
const HOUR_MS = 3_600_000;

class InvalidJournal extends Error {}

/** Whether a journal can never be opened, as opposed to a temporary error or missing permission. */
export function isUnusable(error: unknown): boolean {
	if (error instanceof InvalidJournal) return true;
	return ["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "ENXIO"].includes((error as NodeJS.ErrnoException).code ?? "");
}

export class Journal {
	readonly path: string;
	readonly generation: number;
	readonly #handle: FileHandle;
	#offset = 0;
	/** The start of a line whose end has not been read yet. */
	#rest: Buffer = Buffer.alloc(0);

	private constructor(path: string, generation: number, handle: FileHandle) {
		this.path = path;
		this.generation = generation;
		this.#handle = handle;
	}

	/** Throws system errors, and `InvalidJournal` for anything that is not a file in this directory. */
	static async open(storeDir: string, generation: number): Promise<Journal> {
		const dir = generationDir(storeDir, generation);
		const file = join(dir, FILE);
		if (!(await lstat(dir)).isDirectory()) throw new InvalidJournal(`${dir} is not a directory`);
		// Follow no link, and do not block on a pipe.
		const flags = constants.O_RDWR | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
		const handle = await open(file, flags);
		const found = await handle.stat();
		if (found.isFile() && found.size <= MAX_FILE_BYTES) return new Journal(file, generation, handle);
		await handle.close();
		throw new InvalidJournal(found.isFile() ? `${file} has ${found.size} bytes` : `${file} is not a file`);
	}

	get size(): number {
		return this.#offset;
	}

	/**
	 * Appends lines; they are on disk when it returns. The system orders concurrent appends. The first line break terminates
	 * a partial line of a process that was killed.
	 */
	async append(lines: readonly string[]): Promise<void> {
		const bytes = Buffer.from(`\n${lines.join("\n")}\n`);
		for (let at = 0; at < bytes.length; ) at += (await this.#handle.write(bytes, at)).bytesWritten;
		await this.#handle.datasync();
	}

	/** The lines since the last read, chunk by chunk. A line that is too long to be ours is cut. */
	async *read(): AsyncGenerator<string[], void> {
		const { size } = await this.#handle.stat();
		const buffer = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(4_096, size - this.#offset)));
		for (;;) {
			const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.#offset);
			if (bytesRead === 0) return;
			this.#offset += bytesRead;
			yield this.#split(buffer.subarray(0, bytesRead));
		}
	}

	/** Copies the file that is open, whatever its path leads to by now. Fails if the other path is taken. */
	async copyTo(path: string): Promise<void> {
		const { size } = await this.#handle.stat();
		const copy = await open(path, "wx", 0o600);
		try {
			const buffer = Buffer.allocUnsafe(CHUNK);
			for (let at = 0; at < size; ) {
				const { bytesRead } = await this.#handle.read(buffer, 0, Math.min(CHUNK, size - at), at);
				if (bytesRead === 0) break;
				await copy.writeFile(buffer.subarray(0, bytesRead));
				at += bytesRead;
			}
		} finally {
			await copy.close();
		}
	}

	/** Whether the last line has no end: its writer was killed, or is still writing. */
	get hasPartialLine(): boolean {
		return this.#rest.length > 0;
	}

	/** Whether the file was truncated or removed meanwhile. */
	async isTruncatedOrRemoved(): Promise<boolean> {
		const { size, nlink } = await this.#handle.stat();
		return size < this.#offset || nlink === 0;
	}

	/** Calls back when the file changes. Throws where the system cannot watch it. */
	watch(changed: () => void): FSWatcher {
		const watcher = watch(this.path, { persistent: false }, changed);
		watcher.on("error", () => watcher.close()); // changes are then noticed at the next read
		return watcher;
	}

	async close(): Promise<void> {
		await this.#handle.close();
	}

	#split(chunk: Buffer): string[] {
		const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
		const lines: string[] = [];
		let from = 0;
		for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
			if (end > from) lines.push(bytes.toString("utf8", from, Math.min(end, from + MAX_LINE_BYTES)));
			from = end + 1;
		}
		this.#rest = Buffer.from(bytes.subarray(from, from + MAX_LINE_BYTES));
		return lines;
	}
}

/**
 * The number of the newest generation in a directory; 0 when there is none. Anything with such a name counts, because it
 * blocks that generation; `Journal.open` rejects it if it is something else.
 */
export async function newestGeneration(dir: string): Promise<number> {
	const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return [];
		throw error;
	});
	return Math.max(0, ...names.flatMap((name) => NAME.exec(name)?.slice(1).map(Number) ?? []));
}

export const generationDir = (dir: string, generation: number) => join(dir, `journal-${generation}`);

/**
 * Creates a generation with these lines, unless it exists: no system renames a directory onto one that is not empty, so the
 * first process wins and no process ever sees a part of it.
 */
export async function publishGeneration(dir: string, generation: number, lines: readonly string[]): Promise<void> {
	await mkdir(dir, { recursive: true, mode: 0o700 });
	const temporary = await mkdtemp(join(dir, ".new-"));
	try {
		const file = await open(join(temporary, FILE), "wx", 0o600);
		try {
			await file.writeFile(lines.map((line) => `${line}\n`).join(""));
			await file.sync();
		} finally {
			await file.close(); // also on a full disk
		}
		await rename(temporary, generationDir(dir, generation));
		await syncDir(dir);
	} catch (error) {
		await rm(temporary, { recursive: true, force: true });
		if ((await newestGeneration(dir)) < generation) throw error;
	}
}

/** Removes replaced generations, and incomplete ones that a killed process left. */
export async function removeOldGenerations(dir: string, before: number, now: number): Promise<void> {
	for (const name of await readdir(dir)) {
		const isOld = Number(NAME.exec(name)?.[1] ?? before) < before;
		if (isOld || (name.startsWith(".new-") && (await isAbandoned(join(dir, name), now))))
			await rm(join(dir, name), { recursive: true, force: true });
	}
}

async function isAbandoned(path: string, now: number): Promise<boolean> {
	const found = await stat(path).catch(() => undefined); // it has just been renamed
	return found !== undefined && now - found.mtimeMs > HOUR_MS;
}

/** Makes the rename durable. Windows cannot sync a directory. */
async function syncDir(dir: string): Promise<void> {
	if (process.platform === "win32") return;
	const handle = await open(dir, "r");
	await handle.sync();
	await handle.close();
}

/** A line of a journal. */
export type Line =
	| { kind: "entry"; entry: JobEntry; by: unknown; n: unknown }
	| { kind: "begin"; size: number }
	/** Nothing after it counts. */
	| { kind: "seal" }
	| { kind: "damaged" };

export const SEAL_LINE = JSON.stringify({ type: "seal" });

/** `by` and `n` let the writer recognize its own line. */
export const entryLine = (entry: JobEntry, by: string, n: number) => JSON.stringify({ ...entry, by, n });

/** The first lines of a journal. */
export function beginLines(jobs: Iterable<StoredJob>): string[] {
	const lines = Array.from(jobs, (job) => JSON.stringify({ type: "job", job }));
	return [JSON.stringify({ type: "begin", size: lines.join("\n").length }), ...lines];
}

export function readLine(text: string): Line {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return { kind: "damaged" };
	}
	if (isEntry(value)) {
		const { by, n, ...entry } = value as JobEntry & { by?: unknown; n?: unknown };
		return { kind: "entry", entry, by, n };
	}
	const { type, size } = (value ?? {}) as { type?: unknown; size?: unknown };
	if (type === "seal") return { kind: "seal" };
	return type === "begin" && typeof size === "number" ? { kind: "begin", size } : { kind: "damaged" };
}
