/**
 * The few questions that reading needs, asked in the background or at once. Both answer through callbacks, so that there
 * is one way to read. In the background each costs a trip to another thread, which for a file in memory is most of the
 * work; but whoever asks at once waits, however slow the disk is.
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

/** What a question gives: an error, or the answer. */
type Answer<T> = (error: NodeJS.ErrnoException | null, value: T) => void;

export interface Files {
	stat(path: string, done: Answer<Stats>): void;
	open(path: string, flags: number, done: Answer<number>): void;
	fstat(fd: number, done: Answer<Stats>): void;
	/** Reads from `at` on, into the same place of the buffer, and tells how many bytes. */
	read(fd: number, buffer: Buffer, at: number, done: Answer<number>): void;
	close(fd: number, done: () => void): void;
	/** Room for a file; may be the room of the one before. */
	room(size: number): Buffer;
}

export const later: Files = {
	stat,
	open,
	fstat,
	read: (fd, buffer, at, done) => read(fd, buffer, at, buffer.length - at, at, done),
	close: (fd, done) => close(fd, done),
	room: (size) => Buffer.allocUnsafe(size),
};

let shared = Buffer.alloc(0);

export const atOnce: Files = {
	stat: (path, done) => answer(() => statSync(path), done),
	open: (path, flags, done) => answer(() => openSync(path, flags), done),
	fstat: (fd, done) => answer(() => fstatSync(fd), done),
	read: (fd, buffer, at, done) => answer(() => readSync(fd, buffer, at, buffer.length - at, at), done),
	close: (fd, done) => answer(() => closeSync(fd), done),
	room(size) {
		if (shared.length < size) shared = Buffer.allocUnsafeSlow(size);
		return shared.subarray(0, size);
	},
};

function answer<T>(ask: () => T, done: Answer<T>): void {
	let value: T;
	try {
		value = ask();
	} catch (error) {
		done(error as NodeJS.ErrnoException, undefined as T); // nobody looks at an answer beside an error
		return;
	}
	done(null, value);
}
