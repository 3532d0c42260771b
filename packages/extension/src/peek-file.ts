/**
 * Some lines of a text file that may be huge and may still grow. All of it is counted, a stretch of it is read, and
 * never more than that is held. Lines end with LF; a last line without one is not written yet.
 */
import type { FileHandle } from "node:fs/promises";
import { messageOf } from "@pi-subagents/core";
import { openPlain } from "@pi-subagents/core/process";
import { createLineSplitter, formatCount, sanitize } from "@pi-subagents/progress";
import { isMissing } from "./small-file.ts";

interface Wanted {
	/** From the line after this one on. When absent, what the file ends with. */
	after: number | undefined;
	/** About so much, but one line at least. */
	bytes: number;
}

export interface Stretch {
	/** Cleaned, and without line ends. */
	texts: string[];
	/** The number of the first of them. */
	first: number;
	/** How many lines the file has. */
	total: number;
	/** There is no such file, or not yet. */
	isMissing: boolean;
}

const CHUNK_BYTES = 64 * 1024;
/** A longer line is only mentioned. */
const LINE_BYTES = 1024 * 1024;
const LF = 0x0a;

export async function readStretch(path: string, wanted: Wanted, signal?: AbortSignal): Promise<Stretch> {
	const file = await openFile(path);
	if (!file) return { texts: [], first: 1, total: 0, isMissing: true };
	try {
		const { total, end, start } = await survey(file, wanted, signal);
		const texts = await readTexts(file, { from: start.offset, end, bytes: wanted.bytes }, signal);
		return { texts, first: start.number, total, isMissing: false };
	} finally {
		await file.close();
	}
}

/** A pipe or a device could hang, and a link shows what is no log of ours. */
async function openFile(path: string): Promise<FileHandle | undefined> {
	try {
		return await openPlain(path);
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw new Error(`${path} cannot be read: ${messageOf(error)}`);
	}
}

/** A line, and where it begins. */
interface Place {
	number: number;
	offset: number;
}

/** How many whole lines there are, where the last of them ends, and where the wanted ones begin. */
async function survey(file: FileHandle, { after, bytes }: Wanted, signal: AbortSignal | undefined) {
	const { size } = await file.stat(); // what is written from now on comes with the next look
	let total = 0;
	let end = 0;
	let lastOffset = 0;
	let start: Place | undefined;
	for await (const { at, chunk } of chunksOf(file, { from: 0, end: size }, signal)) {
		for (let lf = chunk.indexOf(LF); lf >= 0; lf = chunk.indexOf(LF, lf + 1)) {
			const isWanted = after === undefined ? end >= size - bytes : total >= after;
			if (isWanted && !start) start = { number: total + 1, offset: end };
			lastOffset = end;
			end = at + lf + 1;
			total++;
		}
	}
	const hasLast = after === undefined && total > 0; // longer than what was wanted, but better than nothing
	start ??= hasLast ? { number: total, offset: lastOffset } : { number: total + 1, offset: end };
	return { total, end, start };
}

async function readTexts(
	file: FileHandle,
	{ from, end, bytes }: { from: number; end: number; bytes: number },
	signal: AbortSignal | undefined,
): Promise<string[]> {
	const texts: string[] = [];
	const splitter = createLineSplitter({
		maxBytes: LINE_BYTES,
		onLine: (text) => texts.push(sanitize(text)),
		onSkipped: (length) => texts.push(`[a line of ${formatCount(length, "byte")}, left out]`),
	});
	for await (const { at, chunk } of chunksOf(file, { from, end }, signal)) {
		splitter.push(chunk);
		if (at + chunk.length - from >= bytes && texts.length > 0) break;
	}
	return texts;
}

/** Each is good until the next is asked for. */
async function* chunksOf(
	file: FileHandle,
	{ from, end }: { from: number; end: number },
	signal: AbortSignal | undefined,
): AsyncGenerator<{ at: number; chunk: Uint8Array }> {
	const buffer = new Uint8Array(CHUNK_BYTES);
	for (let at = from; at < end; ) {
		signal?.throwIfAborted();
		const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK_BYTES, end - at), at);
		if (bytesRead === 0) return; // somebody has shortened it
		yield { at, chunk: buffer.subarray(0, bytesRead) };
		at += bytesRead;
	}
}
