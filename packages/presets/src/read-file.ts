/**
 * Reads one small text file without ever waiting on a pipe or a device, and knows when it has not changed.
 * Uses callbacks: with promises per system call, a thousand files take twice as long.
 */
import { isUtf8 } from "node:buffer";
import { constants, type Stats } from "node:fs";
import { atOnce, type Files, later } from "./files.ts";

/** What a file looked like when it was read. A file is unchanged while all of it is equal. */
export interface Stamp {
	readonly dev: number;
	readonly ino: number;
	readonly size: number;
	readonly mtimeMs: number;
	readonly ctimeMs: number;
}

/** What reading gave. `stamp` is absent when the file could not even be looked at. */
export type FileRead =
	| { readonly type: "gone" }
	| { readonly type: "text"; readonly text: string; readonly stamp?: Stamp }
	| { readonly type: "unusable"; readonly message: string; readonly stamp?: Stamp };

/** How to read. */
export interface ReadOptions {
	readonly maxBytes: number;
	/** Whether the directory says that this is a regular file; only then is it opened without a look at it first. */
	readonly isRegular: boolean;
}

// Without O_NONBLOCK, opening a FIFO waits for a writer. It means nothing to a regular file.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Reads one file. Never rejects. */
export function readSmallFile(path: string, options: ReadOptions): Promise<FileRead> {
	return new Promise((resolve) => lookAndRead(later, path, options, resolve));
}

/** The same without a promise, for a file that is surely near: the event loop waits for it. */
export function readSmallFileNow(path: string, options: ReadOptions): FileRead {
	let result: FileRead = { type: "gone" };
	lookAndRead(atOnce, path, options, (read) => {
		result = read;
	});
	return result;
}

/** Whether a file still looks as it did. Never rejects. */
export function isUnchanged(path: string, stamp: Stamp): Promise<boolean> {
	return new Promise((resolve) => look(later, path, stamp, resolve));
}

/** The same without a promise. */
export function isUnchangedNow(path: string, stamp: Stamp): boolean {
	let isUnchanged = false;
	look(atOnce, path, stamp, (answer) => {
		isUnchanged = answer;
	});
	return isUnchanged;
}

function look(files: Files, path: string, stamp: Stamp, done: (isUnchanged: boolean) => void): void {
	files.stat(path, (error, stats) => done(error === null && isSame(stamp, stats)));
}

function lookAndRead(files: Files, path: string, options: ReadOptions, done: (result: FileRead) => void): void {
	const { maxBytes, isRegular } = options;
	if (isRegular) {
		openAndRead(files, path, maxBytes, done);
		return;
	}
	files.stat(path, (error, stats) => {
		if (error) done(failed(error, isRegular));
		else if (!stats.isFile()) done({ type: "unusable", message: notAFile(stats), stamp: stampOf(stats) });
		else openAndRead(files, path, maxBytes, done, stampOf(stats));
	});
}

function openAndRead(
	files: Files,
	path: string,
	maxBytes: number,
	done: (result: FileRead) => void,
	stamp?: Stamp,
): void {
	files.open(path, flags, (error, fd) => {
		if (error) {
			const result = failed(error, true);
			return done(result.type === "unusable" && stamp !== undefined ? { ...result, stamp } : result);
		}
		const finish = (result: FileRead): void => files.close(fd, () => done(result));
		// What was looked at may not be what was opened, so look again through the descriptor.
		files.fstat(fd, (error, stats) => {
			if (error) return finish(failed(error, true));
			const stamp = stampOf(stats);
			if (!stats.isFile()) return finish({ type: "unusable", message: notAFile(stats), stamp });
			if (stats.size > maxBytes) {
				const message = `the file has ${Math.ceil(stats.size / 1024)} KB: make it smaller than ${maxBytes / 1024} KB`;
				return finish({ type: "unusable", message, stamp });
			}
			const buffer = files.room(stats.size);
			fill(files, fd, buffer, 0, (error, length) => {
				if (error) return finish(failed(error, true));
				const bytes = length === buffer.length ? buffer : buffer.subarray(0, length);
				if (isUtf8(bytes)) return finish({ type: "text", text: bytes.toString("utf8"), stamp });
				finish({ type: "unusable", message: "the file is not UTF-8 text: save it as UTF-8", stamp });
			});
		});
	});
}

/** Reads until the buffer is full or the file ends, whichever is first; so a growing file cannot keep us. */
function fill(
	files: Files,
	fd: number,
	buffer: Buffer,
	at: number,
	done: (error: NodeJS.ErrnoException | null, length: number) => void,
): void {
	if (at === buffer.length) {
		done(null, at);
		return;
	}
	files.read(fd, buffer, at, (error, count) => {
		if (error !== null || count === 0) done(error, at);
		else fill(files, fd, buffer, at + count, done);
	});
}

function failed(error: NodeJS.ErrnoException, isRegular: boolean): FileRead {
	switch (error.code) {
		case "ENOENT":
			if (isRegular) return { type: "gone" }; // removed since the directory was read
			return { type: "unusable", message: "the link leads to no file: correct or remove it" };
		case "ELOOP":
			return { type: "unusable", message: "the link leads back to itself: correct or remove it" };
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
