/**
 * Opens files whose names anybody may have given to something else: a link, a pipe, a device. Only a regular file is
 * ever read or written, and nothing here waits for another process.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "./code-of.ts";

/** A pipe without somebody at its other end would hold one of the few threads that all file access shares. */
const CAREFULLY = constants.O_NONBLOCK | constants.O_NOFOLLOW;
const MEGABYTE = 1024 * 1024;

/**
 * Opens a file for reading. Rejects if it is not there, or not a regular file; a link is none, nor is what lies in a
 * directory that was put there as a link.
 */
export async function openPlain(path: string): Promise<FileHandle> {
	await assertReal(dirname(path));
	return checked(await open(path, constants.O_RDONLY | CAREFULLY));
}

/** All of the file; undefined if it is not there. Rejects if it is larger than that, or not a regular file. */
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

/** As `readPlain`, for a process that is about to end. */
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

/** Adds to a file that only we may read. Rejects if something else has its name. */
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
