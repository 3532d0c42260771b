/**
 * Reads a range of lines from a text file that may be huge and still grow. All lines are counted, only the range is
 * held. Lines end with LF; a last line without one is not written yet.
 */
import type { FileHandle } from "node:fs/promises";
import { isMissing, messageOf } from "@pi-subagents/core/internal/base";
import { MAX_GROWING_BYTES, openPlain } from "@pi-subagents/core/internal/files";
import { createLineSplitter, formatCount, sanitize } from "@pi-subagents/progress";

interface Wanted {
	/** Start after this line. When absent, the end of the file. */
	after: number | undefined;
	/** About this much, but at least one line. */
	bytes: number;
}

export interface LineRange {
	/** Sanitized, without line ends. */
	texts: string[];
	/** The number of the first of them. */
	first: number;
	/** How many lines the file has. */
	total: number;
	/** The file does not exist (yet). */
	isMissing: boolean;
}

const CHUNK_BYTES = 64 * 1024;
/** Longer lines are only mentioned. */
const LINE_BYTES = 1024 * 1024;
const LF = 0x0a;

export async function readLineRange(path: string, wanted: Wanted, signal?: AbortSignal): Promise<LineRange> {
	const file = await openFile(path);
	if (!file) return { texts: [], first: 1, total: 0, isMissing: true };
	try {
		const { total, end, start } = await measure(file, wanted, signal);
		const texts = await readTexts(file, { from: start.offset, end, bytes: wanted.bytes }, signal);
		return { texts, first: start.number, total, isMissing: false };
	} finally {
		await file.close();
	}
}

/** A pipe or a device could hang, and a link could show another file. */
async function openFile(path: string): Promise<FileHandle | undefined> {
	try {
		return await openPlain(path);
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw new Error(`${path} cannot be read: ${messageOf(error)}`);
	}
}

/** A line, and where it begins. */
interface LineStart {
	number: number;
	offset: number;
}

/** The number of complete lines, the end of the last one, and the start of the range. */
async function measure(file: FileHandle, { after, bytes }: Wanted, signal: AbortSignal | undefined) {
	const size = Math.min((await file.stat()).size, MAX_GROWING_BYTES); // later lines come with the next look
	let total = 0;
	let end = 0;
	let lastOffset = 0;
	let start: LineStart | undefined;
	for await (const { at, chunk } of chunksOf(file, { from: 0, end: size }, signal)) {
		for (let lf = chunk.indexOf(LF); lf >= 0; lf = chunk.indexOf(LF, lf + 1)) {
			const isWanted = after === undefined ? end >= size - bytes : total >= after;
			if (isWanted && !start) start = { number: total + 1, offset: end };
			lastOffset = end;
			end = at + lf + 1;
			total++;
		}
	}
	const hasLast = after === undefined && total > 0; // longer than requested, but better than nothing
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

/** Each chunk is valid until the next one. */
async function* chunksOf(
	file: FileHandle,
	{ from, end }: { from: number; end: number },
	signal: AbortSignal | undefined,
): AsyncGenerator<{ at: number; chunk: Uint8Array }> {
	const buffer = new Uint8Array(CHUNK_BYTES);
	for (let at = from; at < end; ) {
		signal?.throwIfAborted();
		const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK_BYTES, end - at), at);
		if (bytesRead === 0) return; // it was truncated
		yield { at, chunk: buffer.subarray(0, bytesRead) };
		at += bytesRead;
	}
}
