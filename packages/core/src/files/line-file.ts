/**
 * The one way to append lines to a file that others read while it grows. A line begins on a line of its own, even after
 * half a line that a full disk or a killed process left; a short write is completed; links, pipes and devices in the
 * file's place are refused. Every caller says how durable its lines must be.
 */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { codeOf } from "../base/error-code.ts";
import { openPlain, openPlainSync, type PlainOptions } from "./plain-file.ts";

export interface LineOptions {
	/** Written lines survive the end of this process anyway. Whether they must survive a power failure, which takes longer. */
	durable: boolean;
	/** Other processes append to it, too, and one may leave half a line at any time: each call begins a new line. */
	isShared?: boolean;
}

/** A file that stays open. Synchronous, so that other processes find a line before anything follows from it. */
export class LineFile {
	readonly #path: string;
	readonly #options: LineOptions;
	#descriptor: number | undefined;
	/** The file may end with half a line. */
	#isTorn = false;

	/** The file is created or opened with the first line. */
	constructor(path: string, options: LineOptions) {
		this.#path = path;
		this.#options = options;
	}

	/** Throws if not all of it could be written. It may be tried again: space may become free. */
	append(data: string | Uint8Array): void {
		const file = this.#open();
		const bytes = typeof data === "string" ? Buffer.from(data) : data;
		const isApart = this.#isTorn || (this.#options.isShared === true && fstatSync(file).size > 0);
		let written = 0;
		try {
			const all = isApart ? Buffer.concat([LF, bytes]) : bytes;
			while (written < all.length) written += writeSync(file, all, written); // a full disk takes a part, then fails
			this.#isTorn = false;
		} catch (error) {
			this.#isTorn ||= written > 0;
			throw error;
		}
		if (this.#options.durable) fdatasyncSync(file);
	}

	/** Empties it. */
	startOver(): void {
		ftruncateSync(this.#open(), 0);
		this.#isTorn = false;
	}

	close(): void {
		if (this.#descriptor !== undefined) closeSync(this.#descriptor);
		this.#descriptor = undefined;
	}

	#open(): number {
		if (this.#descriptor !== undefined) return this.#descriptor;
		const descriptor = openPlainSync(this.#path, { use: "append" });
		this.#isTorn = endsInLine(descriptor);
		this.#descriptor = descriptor;
		return descriptor;
	}
}

/** Appends to a file that is opened for this only. Rejects if not all of it could be written. */
export async function appendLines(path: string, text: string, { durable, isShared }: LineOptions): Promise<void> {
	const file = await openPlain(path, { use: "append" });
	try {
		const { size } = await file.stat();
		const isApart = size > 0 && (isShared || (await lastByte(file, size)) !== LF[0]);
		await file.appendFile(isApart ? `\n${text}` : text);
		if (durable) await file.datasync();
	} finally {
		await file.close();
	}
}

/** The same, synchronous: when this returns, a reader finds the text even if this process is killed. */
export function appendLinesSync(path: string, text: string, options: LineOptions): void {
	const file = new LineFile(path, options);
	try {
		file.append(text);
	} finally {
		file.close();
	}
}

/** Ends half a line that a full disk left in another program's file, so that what it writes next is not lost with it. */
export function endHalfLine(path: string, options: Pick<PlainOptions, "followsLinks"> = {}): void {
	try {
		const reader = openPlainSync(path, options);
		try {
			if (!endsInLine(reader)) return;
		} finally {
			closeSync(reader);
		}
	} catch (error) {
		if (codeOf(error) === "ENOENT") return;
		throw error;
	}
	const writer = openPlainSync(path, { ...options, use: "append" });
	try {
		writeSync(writer, LF);
	} finally {
		closeSync(writer);
	}
}

/** Whether the last line has no end. */
function endsInLine(descriptor: number): boolean {
	const { size } = fstatSync(descriptor);
	if (size === 0) return false;
	const last = Buffer.from(LF);
	readSync(descriptor, last, { position: size - 1 });
	return last[0] !== LF[0];
}

async function lastByte(file: FileHandle, size: number): Promise<number | undefined> {
	const { buffer } = await file.read(Buffer.from(LF), 0, 1, size - 1);
	return buffer[0];
}

const LF = Buffer.from("\n");
