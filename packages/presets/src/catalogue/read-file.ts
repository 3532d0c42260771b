/** Reads one small text file, never blocks on a pipe or a device, and tells whether a file has changed since. */
import { isUtf8 } from "node:buffer";
import { constants, type Stats, statSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";

/** The identity and times of a file when it was read. The file is unchanged while all of them are equal. */
export interface Stamp {
	readonly dev: number;
	readonly ino: number;
	readonly size: number;
	readonly mtimeMs: number;
	readonly ctimeMs: number;
}

/** The result of a read. `stamp` is absent when the file could not be examined. */
export type FileRead =
	| { readonly type: "gone" }
	| { readonly type: "text"; readonly text: string; readonly stamp?: Stamp }
	| { readonly type: "unusable"; readonly message: string; readonly stamp?: Stamp };

export interface ReadOptions {
	readonly maxBytes: number;
	/** Whether the directory lists a regular file. Anything else is examined before it is opened. */
	readonly isRegular: boolean;
}

// Without O_NONBLOCK, opening a FIFO waits for a writer. It has no effect on a regular file.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Reads one file. Never rejects. */
export async function readSmallFile(path: string, { maxBytes, isRegular }: ReadOptions): Promise<FileRead> {
	let stamp: Stamp | undefined;
	if (!isRegular) {
		try {
			const stats = await stat(path);
			stamp = stampOf(stats);
			if (!stats.isFile()) return { type: "unusable", message: notAFile(stats), stamp };
		} catch (error) {
			return failed(error as NodeJS.ErrnoException, isRegular);
		}
	}
	let handle: FileHandle | undefined;
	try {
		handle = await open(path, flags);
		stamp = undefined; // a read that fails is tried again the next time
		return await readOpen(handle, maxBytes);
	} catch (error) {
		const result = failed(error as NodeJS.ErrnoException, true);
		return result.type === "unusable" && stamp !== undefined ? { ...result, stamp } : result;
	} finally {
		await handle?.close().catch(() => undefined);
	}
}

/** Whether a file has not changed since its stamp was taken. Never rejects. */
export async function isUnchanged(path: string, stamp: Stamp): Promise<boolean> {
	return stat(path).then(
		(stats) => isSame(stamp, stats),
		() => false,
	);
}

/** The same, but blocks. */
export function isUnchangedSync(path: string, stamp: Stamp): boolean {
	try {
		const stats = statSync(path, { throwIfNoEntry: false });
		return stats !== undefined && isSame(stamp, stats);
	} catch {
		return false;
	}
}

/** Examines the descriptor again: the path may have been replaced since it was examined. */
async function readOpen(handle: FileHandle, maxBytes: number): Promise<FileRead> {
	const stats = await handle.stat();
	const stamp = stampOf(stats);
	if (!stats.isFile()) return { type: "unusable", message: notAFile(stats), stamp };
	if (stats.size > maxBytes) {
		const message = `the file has ${Math.ceil(stats.size / 1024)} KB: make it smaller than ${maxBytes / 1024} KB`;
		return { type: "unusable", message, stamp };
	}
	const bytes = await fill(handle, Buffer.allocUnsafe(stats.size));
	if (isUtf8(bytes)) return { type: "text", text: bytes.toString("utf8"), stamp };
	return { type: "unusable", message: "the file is not UTF-8 text: save it as UTF-8", stamp };
}

/** Reads until the buffer is full or the file ends, so that a growing file cannot be read for ever. */
async function fill(handle: FileHandle, buffer: Buffer): Promise<Buffer> {
	let at = 0;
	while (at < buffer.length) {
		const { bytesRead } = await handle.read(buffer, at, buffer.length - at, at);
		if (bytesRead === 0) break;
		at += bytesRead;
	}
	return buffer.subarray(0, at);
}

function failed(error: NodeJS.ErrnoException, isRegular: boolean): FileRead {
	switch (error.code) {
		case "ENOENT":
			if (isRegular) return { type: "gone" }; // removed since the directory was read
			return { type: "unusable", message: "the link points to no file: fix or remove it" };
		case "ELOOP":
			return { type: "unusable", message: "the link points to itself: fix or remove it" };
		case "EACCES":
		case "EPERM":
			return { type: "unusable", message: "the file cannot be read: check its permissions" };
		default:
			return { type: "unusable", message: `the file cannot be read (${error.code ?? error.message})` };
	}
}

function notAFile(stats: Stats): string {
	if (stats.isDirectory()) return "this is a directory: rename it, or move its files up";
	const kind = stats.isFIFO() ? "a pipe" : stats.isSocket() ? "a socket" : "a device";
	return `this is ${kind}, not a regular file: remove it`;
}

function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): Stamp {
	return { dev, ino, size, mtimeMs, ctimeMs };
}

function isSame(known: Stamp, { dev, ino, size, mtimeMs, ctimeMs }: Stats): boolean {
	return (
		known.mtimeMs === mtimeMs &&
		known.size === size &&
		known.ino === ino &&
		known.ctimeMs === ctimeMs &&
		known.dev === dev
	);
}
