/**
 * Reads one small text file without ever waiting on a pipe or a device, and knows when it has not changed.
 * Uses callbacks: with promises per system call, a thousand files take twice as long.
 */
import { isUtf8 } from "node:buffer";
import { close, constants, fstat, open, read, type Stats, stat } from "node:fs";

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

const statsAtOnce = 1024;
// Without O_NONBLOCK, opening a FIFO waits for a writer. It means nothing to a regular file.
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Reads one file. Never rejects. */
export function readSmallFile(path: string, { maxBytes, isRegular }: ReadOptions): Promise<FileRead> {
	return new Promise((resolve) => {
		if (isRegular) return openAndRead(path, maxBytes, resolve);
		stat(path, (error, stats) => {
			if (error) resolve(failed(error, isRegular));
			else if (!stats.isFile()) resolve({ type: "unusable", message: notAFile(stats), stamp: stampOf(stats) });
			else openAndRead(path, maxBytes, resolve, stampOf(stats));
		});
	});
}

/**
 * Which of these files still look as they did. All are asked for at once, because one wait for each group is what
 * makes a thousand questions as quick as synchronous ones.
 */
export async function stillSame(
	files: readonly { readonly path: string; readonly stamp: Stamp }[],
): Promise<Set<string>> {
	const same = new Set<string>();
	for (let at = 0; at < files.length; at += statsAtOnce) {
		const group = files.slice(at, at + statsAtOnce);
		let waiting = group.length;
		await new Promise<void>((resolve) => {
			for (const { path, stamp } of group) {
				stat(path, (error, stats) => {
					if (error === null && isSame(stamp, stats)) same.add(path);
					if (--waiting === 0) resolve();
				});
			}
		});
	}
	return same;
}

function openAndRead(path: string, maxBytes: number, resolve: (result: FileRead) => void, stamp?: Stamp): void {
	open(path, flags, (error, fd) => {
		if (error) {
			const result = failed(error, true);
			resolve(result.type === "unusable" && stamp !== undefined ? { ...result, stamp } : result);
			return;
		}
		const finish = (result: FileRead): void => close(fd, () => resolve(result));
		// What was looked at may not be what was opened, so look again through the descriptor.
		fstat(fd, (error, stats) => {
			if (error) return finish(failed(error, true));
			const stamp = stampOf(stats);
			if (!stats.isFile()) return finish({ type: "unusable", message: notAFile(stats), stamp });
			if (stats.size > maxBytes) {
				const message = `the file has ${Math.ceil(stats.size / 1024)} KB: make it smaller than ${maxBytes / 1024} KB`;
				return finish({ type: "unusable", message, stamp });
			}
			const buffer = Buffer.allocUnsafe(stats.size);
			fill(fd, buffer, 0, (error, length) => {
				if (error) return finish(failed(error, true));
				const bytes = length === buffer.length ? buffer : buffer.subarray(0, length);
				if (isUtf8(bytes)) return finish({ type: "text", text: bytes.toString("utf8"), stamp });
				finish({ type: "unusable", message: "the file is not UTF-8 text: save it as UTF-8", stamp });
			});
		});
	});
}

/** Reads until the buffer is full or the file ends, whichever is first; so a growing file cannot keep us. */
function fill(fd: number, buffer: Buffer, at: number, done: (error: Error | null, length: number) => void): void {
	if (at === buffer.length) {
		done(null, at);
		return;
	}
	read(fd, buffer, at, buffer.length - at, at, (error, count) => {
		if (error !== null || count === 0) done(error, at);
		else fill(fd, buffer, at + count, done);
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
