/**
 * Opens files that anyone may have replaced with a link, a pipe or a device. Only regular files are read or written,
 * and nothing here waits for another process.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "../base/error-code.ts";

/** Opening a pipe without a writer would block one of the few threads that serve all file access. */
const CAREFULLY = constants.O_NONBLOCK | constants.O_NOFOLLOW;
const MEGABYTE = 1024 * 1024;

/**
 * Opens a file for reading. Rejects if it does not exist or is not a regular file; links, and files in linked
 * directories, are refused.
 */
export async function openPlain(path: string): Promise<FileHandle> {
	await assertReal(dirname(path));
	return checked(await open(path, constants.O_RDONLY | CAREFULLY));
}

/** The whole file; undefined if it does not exist. Rejects if it is larger or not a regular file. */
export async function readPlain(path: string, maxBytes: number): Promise<Buffer | undefined> {
	let file: FileHandle;
	try {
		file = await openPlain(path);
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

/** Synchronous, for a process that is about to end. */
export function readPlainSync(path: string, maxBytes: number): Buffer {
	const descriptor = openSync(path, constants.O_RDONLY | CAREFULLY);
	try {
		const found = fstatSync(descriptor);
		if (!found.isFile()) throw notPlain();
		const bytes = bufferFor(found.size, maxBytes);
		return bytes.subarray(0, readSync(descriptor, bytes));
	} finally {
		closeSync(descriptor);
	}
}

/** Appends to a file that only the user may read. Rejects if it is not a regular file. */
export async function appendPlain(path: string, text: string): Promise<void> {
	await assertReal(dirname(path));
	const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | CAREFULLY;
	const file = await checked(await open(path, flags, 0o600));
	try {
		await file.appendFile(text);
	} finally {
		await file.close();
	}
}

async function assertReal(dir: string): Promise<void> {
	if ((await lstat(dir)).isSymbolicLink()) throw withCode("EINVAL", `${dir} is a link`);
}

async function checked(file: FileHandle): Promise<FileHandle> {
	if ((await file.stat()).isFile()) return file;
	await file.close();
	throw notPlain();
}

function bufferFor(size: number, maxBytes: number): Buffer {
	if (size <= maxBytes) return Buffer.allocUnsafe(size);
	throw withCode("EFBIG", `it is larger than ${maxBytes / MEGABYTE} MB`);
}

function notPlain(): Error {
	return withCode("EINVAL", "it is not a regular file");
}

function withCode(code: string, message: string): Error {
	return Object.assign(new Error(message), { code });
}
