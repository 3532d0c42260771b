/**
 * Reads one small text file, never blocks on a pipe or a device, and tells whether a file has changed since.
 * Uses callbacks: with a promise per system call, a thousand files take twice as long.
 */
import { isUtf8 } from "node:buffer";
import { constants, type Stats } from "node:fs";
import { backgroundFs, type FileSystem, syncFs } from "./file-system.ts";

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

/** How to read. */
export interface ReadOptions {
	readonly maxBytes: number;
	/** Whether the directory lists a regular file. Anything else is examined before it is opened. */
	readonly isRegular: boolean;
}

// Without O_NONBLOCK, opening a FIFO waits for a writer. It has no effect on a regular file.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Reads one file. Never rejects. */
export function readSmallFile(path: string, options: ReadOptions): Promise<FileRead> {
	return new Promise((resolve) => examineAndRead(backgroundFs, path, options, resolve));
}

/** The same synchronously, for a file that is probably cached: it blocks the event loop. */
export function readSmallFileSync(path: string, options: ReadOptions): FileRead {
	let result: FileRead = { type: "gone" };
	examineAndRead(syncFs, path, options, (read) => {
		result = read;
	});
	return result;
}

/** Whether a file has not changed since its stamp was taken. Never rejects. */
export function isUnchanged(path: string, stamp: Stamp): Promise<boolean> {
	return new Promise((resolve) => compare(backgroundFs, path, stamp, resolve));
}

/** The same synchronously. */
export function isUnchangedSync(path: string, stamp: Stamp): boolean {
	let isUnchanged = false;
	compare(syncFs, path, stamp, (answer) => {
		isUnchanged = answer;
	});
	return isUnchanged;
}

function compare(fs: FileSystem, path: string, stamp: Stamp, done: (isUnchanged: boolean) => void): void {
	fs.stat(path, (error, stats) => done(error === null && isSame(stamp, stats)));
}

function examineAndRead(fs: FileSystem, path: string, options: ReadOptions, done: (result: FileRead) => void): void {
	const { maxBytes, isRegular } = options;
	if (isRegular) {
		openAndRead(fs, path, maxBytes, done);
		return;
	}
	fs.stat(path, (error, stats) => {
		if (error) done(failed(error, isRegular));
		else if (!stats.isFile()) done({ type: "unusable", message: notAFile(stats), stamp: stampOf(stats) });
		else openAndRead(fs, path, maxBytes, done, stampOf(stats));
	});
}

function openAndRead(
	fs: FileSystem,
	path: string,
	maxBytes: number,
	done: (result: FileRead) => void,
	stamp?: Stamp,
): void {
	fs.open(path, flags, (error, fd) => {
		if (error) {
			const result = failed(error, true);
			return done(result.type === "unusable" && stamp !== undefined ? { ...result, stamp } : result);
		}
		const finish = (result: FileRead): void => fs.close(fd, () => done(result));
		// The path may have been replaced since it was examined, so examine the descriptor again.
		fs.fstat(fd, (error, stats) => {
			if (error) return finish(failed(error, true));
			const stamp = stampOf(stats);
			if (!stats.isFile()) return finish({ type: "unusable", message: notAFile(stats), stamp });
			if (stats.size > maxBytes) {
				const message = `the file has ${Math.ceil(stats.size / 1024)} KB: make it smaller than ${maxBytes / 1024} KB`;
				return finish({ type: "unusable", message, stamp });
			}
			const buffer = fs.allocate(stats.size);
			fill(fs, fd, buffer, 0, (error, length) => {
				if (error) return finish(failed(error, true));
				const bytes = length === buffer.length ? buffer : buffer.subarray(0, length);
				if (isUtf8(bytes)) return finish({ type: "text", text: bytes.toString("utf8"), stamp });
				finish({ type: "unusable", message: "the file is not UTF-8 text: save it as UTF-8", stamp });
			});
		});
	});
}

/** Reads until the buffer is full or the file ends, so that a growing file cannot be read for ever. */
function fill(
	fs: FileSystem,
	fd: number,
	buffer: Buffer,
	at: number,
	done: (error: NodeJS.ErrnoException | null, length: number) => void,
): void {
	if (at === buffer.length) {
		done(null, at);
		return;
	}
	fs.read(fd, buffer, at, (error, count) => {
		if (error !== null || count === 0) done(error, at);
		else fill(fs, fd, buffer, at + count, done);
	});
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
