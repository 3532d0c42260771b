/**
 * The one way to open a file that others may have replaced: by a link, a pipe, a socket, a device, a directory, or a
 * file without end. Only regular files are read or written, at most as much of them as the caller can use, and nothing
 * here waits for another process. What a path leads to is asked of the open file, never before: between a look and an
 * open it could be replaced; its permissions and times are changed there, too, since by a path they would be changed
 * through a link. `scripts/file-access.mjs` keeps the other ways out of the packages.
 */
import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, readSync, statSync } from "node:fs";
import { type FileHandle, lstat, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, ifMissing } from "../base/error-code.ts";

export interface PlainOptions {
	/** `append` and `write` create the file if it is missing, for the user alone. Default `read`. */
	use?: "read" | "append" | "write";
	/**
	 * Opens what a link leads to, and files in linked directories. For files that people keep and link themselves, such as
	 * settings; never for those of runs.
	 */
	followsLinks?: boolean;
}

/** No run writes this much into one file. What is longer was made to keep its reader busy. */
export const MAX_GROWING_BYTES = 1024 * 1024 * 1024;

/** Opening a pipe without a writer would block one of the few threads that serve all file access. */
const WITHOUT_WAITING = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const USES = {
	read: constants.O_RDONLY,
	append: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, // also read: whether it ends with half a line
	write: constants.O_WRONLY | constants.O_CREAT,
} as const;
const OWN_MODE = 0o600;
const OWN_DIR_MODE = 0o700;
const MEGABYTE = 1024 * 1024;

/**
 * Rejects if it does not exist (when it is to be read) or is not a regular file; links, and files in linked directories,
 * are refused.
 */
export async function openPlain(path: string, options: PlainOptions = {}): Promise<FileHandle> {
	const dir = options.followsLinks ? undefined : dirname(path);
	// Before, so that nothing is created elsewhere and no device is opened; and again after, since it may be another by then.
	if (dir !== undefined) requireReal(dir, await lstat(dir));
	if (options.followsLinks) requireRegular(await stat(path).catch(ifMissing(undefined)));
	const file = await open(path, flagsOf(options), OWN_MODE).catch((error: unknown) => {
		throw inPlainWords(error);
	});
	try {
		const [found, place] = await Promise.all([file.stat(), dir === undefined ? undefined : lstat(dir)]);
		requireRegular(found);
		if (dir !== undefined && place) requireReal(dir, place);
		return file;
	} catch (error) {
		await file.close();
		throw error;
	}
}

/** The same, synchronous: for lines that must be written before anything follows from them, and for a process that ends. */
export function openPlainSync(path: string, options: PlainOptions = {}): number {
	const dir = options.followsLinks ? undefined : dirname(path);
	if (dir !== undefined) requireReal(dir, lstatSync(dir));
	if (options.followsLinks) requireRegular(statSync(path, { throwIfNoEntry: false }));
	const descriptor = opened(path, options);
	try {
		requireRegular(fstatSync(descriptor));
		if (dir !== undefined) requireReal(dir, lstatSync(dir));
		return descriptor;
	} catch (error) {
		closeSync(descriptor);
		throw error;
	}
}

/** The whole file; undefined if it does not exist. Rejects if it is larger or not a regular file. */
export async function readPlain(
	path: string,
	maxBytes: number,
	options: Pick<PlainOptions, "followsLinks"> = {},
): Promise<Buffer | undefined> {
	let file: FileHandle;
	try {
		file = await openPlain(path, options);
	} catch (error) {
		if (codeOf(error) === "ENOENT") return undefined;
		throw error;
	}
	try {
		const bytes = bufferFor((await file.stat()).size, maxBytes);
		let length = 0;
		for (let read = -1; read !== 0 && length < bytes.length; length += read) {
			read = (await file.read(bytes, length, bytes.length - length, length)).bytesRead;
		}
		return bytes.subarray(0, length);
	} finally {
		await file.close();
	}
}

/** The same, synchronous; throws if the file does not exist. */
export function readPlainSync(
	path: string,
	maxBytes: number,
	options: Pick<PlainOptions, "followsLinks"> = {},
): Buffer {
	const descriptor = openPlainSync(path, options);
	try {
		const bytes = bufferFor(fstatSync(descriptor).size, maxBytes);
		let length = 0;
		for (let read = -1; read !== 0 && length < bytes.length; length += read) {
			read = readSync(descriptor, bytes, length, bytes.length - length, length);
		}
		return bytes.subarray(0, length);
	} finally {
		closeSync(descriptor);
	}
}

/** Makes a file readable for the user alone: the file in this place, never what a link in its place leads to. */
export async function hideFile(path: string): Promise<void> {
	const file = await openPlain(path);
	try {
		await file.chmod(OWN_MODE);
	} finally {
		await file.close();
	}
}

/** The same for a directory. Throws if it is a link or no directory. */
export function hideDirectory(path: string): void {
	const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
	if (O_DIRECTORY === undefined) return; // Windows has no such permissions, and opens no directories
	const descriptor = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	try {
		fchmodSync(descriptor, OWN_DIR_MODE);
	} finally {
		closeSync(descriptor);
	}
}

/** Sets when the file was last written to now. Rejects if it does not exist, or as `openPlain` does. */
export async function touchPlain(path: string): Promise<void> {
	const file = await openPlain(path);
	try {
		const now = new Date();
		await file.utimes(now, now);
	} finally {
		await file.close();
	}
}

interface CopyOptions extends Pick<PlainOptions, "followsLinks"> {
	maxBytes: number;
	/** The copy says that it was written when the original was, in whole seconds rounded down. Otherwise now. */
	keepsTime?: boolean;
}

/**
 * Copies a regular file to a path that must be free, with its permissions. Rejects, and leaves nothing, if it is larger.
 */
export async function copyPlain(
	from: string,
	to: string,
	{ maxBytes, keepsTime = false, ...options }: CopyOptions,
): Promise<{ size: number }> {
	const source = await openPlain(from, options);
	try {
		const { size, mode, mtimeMs } = await source.stat();
		if (size > maxBytes) throw tooLarge(maxBytes);
		const target = await open(to, "wx", mode & 0o777);
		try {
			const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(size, MEGABYTE)));
			for (let at = 0; at < size; ) {
				const { bytesRead } = await source.read(chunk, 0, Math.min(chunk.length, size - at), at);
				if (bytesRead === 0) break; // it was truncated
				for (let written = 0; written < bytesRead; )
					written += (await target.write(chunk, written, bytesRead - written, at + written)).bytesWritten;
				at += bytesRead;
			}
			const writtenAt = Math.floor(mtimeMs / 1_000);
			if (keepsTime) await target.utimes(writtenAt, writtenAt);
		} catch (error) {
			await rm(to, { force: true });
			throw error;
		} finally {
			await target.close();
		}
		return { size };
	} finally {
		await source.close();
	}
}

function opened(path: string, options: PlainOptions): number {
	try {
		return openSync(path, flagsOf(options), OWN_MODE);
	} catch (error) {
		throw inPlainWords(error);
	}
}

/** The system's words for a link, a pipe or a socket say nothing to people. The code stays. */
function inPlainWords(error: unknown): unknown {
	const code = codeOf(error) ?? "";
	if (code === "ELOOP") return withCode(code, "it is a link");
	return ["ENXIO", "EOPNOTSUPP"].includes(code) ? withCode(code, NOT_REGULAR) : error;
}

const NOT_REGULAR = "it is not a regular file";

function flagsOf({ use = "read", followsLinks = false }: PlainOptions): number {
	return USES[use] | WITHOUT_WAITING | (followsLinks ? 0 : (constants.O_NOFOLLOW ?? 0));
}

function requireReal(dir: string, found: { isSymbolicLink(): boolean }): void {
	if (found.isSymbolicLink()) throw withCode("EINVAL", `${dir} is a link`);
}

function requireRegular(found: { isFile(): boolean } | undefined): void {
	if (found && !found.isFile()) throw withCode("EINVAL", NOT_REGULAR);
}

function bufferFor(size: number, maxBytes: number): Buffer {
	if (size <= maxBytes) return Buffer.allocUnsafe(size);
	throw tooLarge(maxBytes);
}

function tooLarge(maxBytes: number): Error {
	const limit = maxBytes >= MEGABYTE ? `${Math.round(maxBytes / MEGABYTE)} MB` : `${Math.ceil(maxBytes / 1024)} KB`;
	return withCode("EFBIG", `it is larger than ${limit}`);
}

function withCode(code: string, message: string): Error {
	return Object.assign(new Error(message), { code });
}
