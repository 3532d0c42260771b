/**
 * Reads one small text file, never waits for a pipe or a device, and tells whether a file has changed since. It blocks:
 * through other threads a file takes several times as long. Callers that read many files let other work run in between.
 */
import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";

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

/** Reads one file. Never throws. */
export function readSmallFile(path: string, { maxBytes, isRegular }: ReadOptions): FileRead {
	let stamp: Stamp | undefined;
	if (!isRegular) {
		try {
			const stats = statSync(path);
			stamp = stampOf(stats);
			if (!stats.isFile()) return { type: "unusable", message: notAFile(stats), stamp };
		} catch (error) {
			return failed(error as NodeJS.ErrnoException, isRegular);
		}
	}
	let descriptor: number | undefined;
	try {
		descriptor = openSync(path, flags);
		stamp = undefined; // a read that fails is tried again the next time
		return readOpen(descriptor, maxBytes);
	} catch (error) {
		const result = failed(error as NodeJS.ErrnoException, true);
		return result.type === "unusable" && stamp !== undefined ? { ...result, stamp } : result;
	} finally {
		if (descriptor !== undefined) close(descriptor);
	}
}

/** Whether a file has not changed since its stamp was taken. Never throws. */
export function isUnchanged(path: string, stamp: Stamp): boolean {
	try {
		const stats = statSync(path, { throwIfNoEntry: false });
		return stats !== undefined && isSame(stamp, stats);
	} catch {
		return false;
	}
}

function close(descriptor: number): void {
	try {
		closeSync(descriptor);
	} catch {
		// What was read is not worse because of it.
	}
}

/** Examines the descriptor again: the path may have been replaced since it was examined. */
function readOpen(descriptor: number, maxBytes: number): FileRead {
	const stats = fstatSync(descriptor);
	const stamp = stampOf(stats);
	if (!stats.isFile()) return { type: "unusable", message: notAFile(stats), stamp };
	if (stats.size > maxBytes) {
		const message = `the file has ${Math.ceil(stats.size / 1024)} KB: make it smaller than ${maxBytes / 1024} KB`;
		return { type: "unusable", message, stamp };
	}
	const bytes = fill(descriptor, Buffer.allocUnsafe(stats.size));
	if (isUtf8(bytes)) return { type: "text", text: bytes.toString("utf8"), stamp };
	return { type: "unusable", message: "the file is not UTF-8 text: save it as UTF-8", stamp };
}

/** Reads until the buffer is full or the file ends, so that reading a growing file ends. */
function fill(descriptor: number, buffer: Buffer): Buffer {
	let at = 0;
	while (at < buffer.length) {
		const bytesRead = readSync(descriptor, buffer, at, buffer.length - at, at);
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
