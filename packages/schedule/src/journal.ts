/**
 * One generation of a file store: a file that only grows, in a directory that appears with it at once. Knows lines and
 * places, not what they mean.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, mkdtemp, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const FILE = "entries.jsonl";
const NAME = /^journal-([1-9]\d{0,8})$/;
const CHUNK = 1 << 20;
const LONGEST_LINE = 1 << 20;
const LARGEST_FILE = 256 << 20;
const HOUR_MS = 3_600_000;

class NoJournal extends Error {}

/** Whether a journal will never open, other than one that the system cannot open right now or not for us. */
export function isUnusable(error: unknown): boolean {
	if (error instanceof NoJournal) return true;
	return ["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "ENXIO"].includes((error as NodeJS.ErrnoException).code ?? "");
}

export class Journal {
	readonly path: string;
	readonly #handle: FileHandle;
	#offset = 0;
	/** The beginning of a line whose end is not there yet. */
	#rest: Buffer = Buffer.alloc(0);

	private constructor(path: string, handle: FileHandle) {
		this.path = path;
		this.#handle = handle;
	}

	/** Throws what the system says, and for anything that is not a file of this directory. */
	static async open(dir: string): Promise<Journal> {
		const file = join(dir, FILE);
		if (!(await lstat(dir)).isDirectory()) throw new NoJournal(`${dir} is not a directory`);
		// No link is followed, and a pipe must not hold us up.
		const flags = constants.O_RDWR | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
		const handle = await open(file, flags);
		const found = await handle.stat();
		if (found.isFile() && found.size <= LARGEST_FILE) return new Journal(file, handle);
		await handle.close();
		throw new NoJournal(found.isFile() ? `${file} has ${found.size} bytes` : `${file} is not a file`);
	}

	get size(): number {
		return this.#offset;
	}

	/**
	 * Adds lines behind whatever is there, and has them on disk when it returns. The system gives each call a place of its
	 * own. What a process that was killed left unfinished is ended by the first line break.
	 */
	async append(lines: readonly string[]): Promise<void> {
		const bytes = Buffer.from(`\n${lines.join("\n")}\n`);
		for (let at = 0; at < bytes.length; ) at += (await this.#handle.write(bytes, at)).bytesWritten;
		await this.#handle.datasync();
	}

	/** The lines that came since the last time, piece by piece. One that is too long to be ours is cut. */
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

	/** Whether there is a line that has no end: somebody was killed while writing it, or still writes. */
	get isTorn(): boolean {
		return this.#rest.length > 0;
	}

	/** Whether the file was cut or removed under us. */
	async isLost(): Promise<boolean> {
		const { size, nlink } = await this.#handle.stat();
		return size < this.#offset || nlink === 0;
	}

	async close(): Promise<void> {
		await this.#handle.close();
	}

	#split(chunk: Buffer): string[] {
		const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
		const lines: string[] = [];
		let from = 0;
		for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
			if (end > from) lines.push(bytes.toString("utf8", from, Math.min(end, from + LONGEST_LINE)));
			from = end + 1;
		}
		this.#rest = Buffer.from(bytes.subarray(from, from + LONGEST_LINE));
		return lines;
	}
}

/**
 * The number of the newest generation in a directory; 0 when there is none. What only has such a name counts, too: it is
 * in the way of a generation, and `Journal.open`, which follows no link, finds out.
 */
export async function newest(dir: string): Promise<number> {
	const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return [];
		throw error;
	});
	return Math.max(0, ...names.flatMap((name) => NAME.exec(name)?.slice(1).map(Number) ?? []));
}

export const generationDir = (dir: string, generation: number) => join(dir, `journal-${generation}`);

/**
 * Makes a generation with these lines, unless there is one: a directory cannot be renamed onto one that holds something,
 * on any system, so the first who does it wins and nobody ever sees half of it.
 */
export async function publish(dir: string, generation: number, lines: readonly string[]): Promise<void> {
	await mkdir(dir, { recursive: true, mode: 0o700 });
	const made = await mkdtemp(join(dir, ".new-"));
	try {
		const file = await open(join(made, FILE), "wx", 0o600);
		try {
			await file.writeFile(lines.map((line) => `${line}\n`).join(""));
			await file.sync();
		} finally {
			await file.close(); // also on a full disk
		}
		await rename(made, generationDir(dir, generation));
		await syncDir(dir);
	} catch (error) {
		await rm(made, { recursive: true, force: true });
		if ((await newest(dir)) < generation) throw error;
	}
}

/** Removes what newer generations have replaced, and what a killed process left half made. */
export async function sweep(dir: string, before: number, now: number): Promise<void> {
	for (const name of await readdir(dir)) {
		const isOld = Number(NAME.exec(name)?.[1] ?? before) < before;
		if (isOld || (name.startsWith(".new-") && (await isLeft(join(dir, name), now))))
			await rm(join(dir, name), { recursive: true, force: true });
	}
}

async function isLeft(path: string, now: number): Promise<boolean> {
	const found = await stat(path).catch(() => undefined); // its maker has just renamed it
	return found !== undefined && now - found.mtimeMs > HOUR_MS;
}

/** Not every system lets a directory be synced; then its journal keeps the new name for itself. */
async function syncDir(dir: string): Promise<void> {
	if (process.platform === "win32") return;
	const handle = await open(dir, "r");
	await handle.sync();
	await handle.close();
}
