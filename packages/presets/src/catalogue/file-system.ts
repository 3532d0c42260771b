/**
 * The few file system calls that reading needs, as a background and a synchronous version. Both answer through
 * callbacks, so that `read-file.ts` is written once. In the background each call costs a trip to another thread, which is
 * most of the work for a cached file; a synchronous call blocks for as long as the disk takes.
 */
import {
	close,
	closeSync,
	fstat,
	fstatSync,
	open,
	openSync,
	read,
	readSync,
	type Stats,
	stat,
	statSync,
} from "node:fs";

/** Receives the error or the value of a call. */
type Callback<T> = (error: NodeJS.ErrnoException | null, value: T) => void;

export interface FileSystem {
	stat(path: string, done: Callback<Stats>): void;
	open(path: string, flags: number, done: Callback<number>): void;
	fstat(fd: number, done: Callback<Stats>): void;
	/** Reads from offset `at` into the same offset of the buffer; the value is the number of bytes. */
	read(fd: number, buffer: Buffer, at: number, done: Callback<number>): void;
	close(fd: number, done: () => void): void;
	/** A buffer for a file; the synchronous version reuses one buffer for all files. */
	allocate(size: number): Buffer;
}

export const backgroundFs: FileSystem = {
	stat,
	open,
	fstat,
	read: (fd, buffer, at, done) => read(fd, buffer, at, buffer.length - at, at, done),
	close: (fd, done) => close(fd, done),
	allocate: (size) => Buffer.allocUnsafe(size),
};

let shared = Buffer.alloc(0);

export const syncFs: FileSystem = {
	stat: (path, done) => settle(() => statSync(path), done),
	open: (path, flags, done) => settle(() => openSync(path, flags), done),
	fstat: (fd, done) => settle(() => fstatSync(fd), done),
	read: (fd, buffer, at, done) => settle(() => readSync(fd, buffer, at, buffer.length - at, at), done),
	close: (fd, done) => settle(() => closeSync(fd), done),
	allocate(size) {
		if (shared.length < size) shared = Buffer.allocUnsafeSlow(size);
		return shared.subarray(0, size);
	},
};

function settle<T>(call: () => T, done: Callback<T>): void {
	let value: T;
	try {
		value = call();
	} catch (error) {
		done(error as NodeJS.ErrnoException, undefined as T); // the value is not read when there is an error
		return;
	}
	done(null, value);
}
