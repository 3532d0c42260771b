/** A transcript of a pi session file. Holds the positions of its entries, never their content. */
import { existsSync, type FSWatcher, watch } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Report, Transcript, TranscriptEntry } from "@pi-subagents/core";
import { bestEffort, defined, ifMissing, isObject } from "@pi-subagents/core/internal/base";
import { MAX_GROWING_BYTES, newestFile, openPlain } from "@pi-subagents/core/internal/files";
import { MAX_LINE_BYTES } from "@pi-subagents/progress";
import { conversationDir } from "./conversation.ts";
import { LineIndex, type LineSpan } from "./line-index.ts";

export interface TranscriptFile {
	/** The directory it is in. */
	dir: string;
	/** Its name. Default: the newest session file there, or the first to appear. */
	name?: string;
	/** Longer entries are not read. Default 8 MB. */
	maxEntryBytes?: number;
	report?: Report;
}

export interface FileTranscript extends Transcript {
	/** Checks whether the file has grown. Listeners need this only if the directory appears later. */
	refresh(): Promise<void>;
	/** The file's path; undefined while unknown. */
	path(): Promise<string | undefined>;
}

/** The conversation of an agent of a host with this `sessionDir`. Empty until the first answer. */
export function openTranscript(sessionDir: string, agentId: string, report?: Report): Promise<FileTranscript> {
	return openTranscriptFile({ dir: conversationDir(sessionDir, agentId), ...defined({ report }) });
}

/** Reads the file once, in pieces. A missing file counts as empty, and may appear. */
export async function openTranscriptFile(options: TranscriptFile): Promise<FileTranscript> {
	const transcript = new SessionFileTranscript(options);
	await transcript.refresh();
	return transcript;
}

class SessionFileTranscript implements FileTranscript {
	readonly #options: TranscriptFile;
	readonly #listeners = new Set<(length: number) => void>();
	#index = new LineIndex();
	#identity: string | undefined;
	#watcher: FSWatcher | undefined;
	#refreshing: Promise<void> | undefined;
	#next: Promise<void> | undefined;

	constructor(options: TranscriptFile) {
		this.#options = options;
	}

	get length(): number {
		return this.#index.length;
	}

	async read(from: number, count: number): Promise<TranscriptEntry[]> {
		const { maxEntryBytes = MAX_LINE_BYTES } = this.#options;
		const spans: LineSpan[] = [];
		const first = Math.max(0, from);
		for (let index = first; index < Math.min(first + count, this.length); index++) {
			const span = this.#index.at(index);
			if (span) spans.push(span);
		}
		if (spans.length === 0) return [];
		const file = await this.#open();
		if (!file) return spans.map(unreadable);
		try {
			const entries: TranscriptEntry[] = [];
			for (const span of spans) entries.push(await readEntry(file, span, maxEntryBytes));
			return entries;
		} finally {
			await file.close();
		}
	}

	onAppend(listener: (length: number) => void): () => void {
		const own = (length: number) => listener(length); // so that the same function may listen twice
		this.#listeners.add(own);
		this.#watch();
		this.#look(); // what was written before we watched
		return () => {
			this.#listeners.delete(own);
			if (this.#listeners.size > 0) return;
			this.#watcher?.close();
			this.#watcher = undefined;
		};
	}

	/** Calls during a refresh share the next one. */
	refresh(): Promise<void> {
		if (!this.#refreshing) {
			this.#refreshing = this.#catchUp().finally(() => {
				this.#refreshing = undefined;
			});
			return this.#refreshing;
		}
		const again = () => {
			this.#next = undefined;
			return this.refresh();
		};
		this.#next ??= this.#refreshing.then(again, again);
		return this.#next;
	}

	async path(): Promise<string | undefined> {
		const { dir } = this.#options;
		const name = this.#options.name ?? newestFile(dir);
		return name === undefined || name === "" ? undefined : join(dir, name);
	}

	async #catchUp(): Promise<void> {
		const before = this.length;
		const file = await this.#open();
		if (!file) return;
		if (this.#listeners.size > 0) this.#watch();
		try {
			const { ino, birthtimeNs, size } = await file.stat({ bigint: true });
			const end = Math.min(Number(size), MAX_GROWING_BYTES);
			const identity = `${ino} ${birthtimeNs}`; // a new file may reuse the inode of a removed one
			// Another file under the same name, or a truncated one: start over.
			if (identity !== this.#identity || size < this.#index.scanned) this.#index = new LineIndex();
			this.#identity = identity;
			const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
			for (;;) {
				const length = Math.min(buffer.length, end - this.#index.scanned);
				const { bytesRead } = await file.read(buffer, 0, Math.max(0, length), this.#index.scanned);
				if (bytesRead === 0) break;
				this.#index.push(buffer.subarray(0, bytesRead));
			}
		} finally {
			await file.close();
		}
		if (this.length !== before) for (const listener of [...this.#listeners]) listener(this.length);
	}

	async #open(): Promise<FileHandle | undefined> {
		const path = await this.path();
		return path === undefined ? undefined : openPlain(path).catch(ifMissing(undefined));
	}

	/** The directory, since the file may not exist yet. If that is missing, too, it is tried again with the file. */
	#watch(): void {
		if (this.#watcher) return;
		const { dir, report = () => undefined } = this.#options;
		void bestEffort("watching a transcript", report, () => {
			if (!existsSync(dir)) return;
			const watcher = watch(dir, { persistent: false }, () => this.#look());
			watcher.on("error", (error) => report(`watching a transcript: ${error.message}`));
			this.#watcher = watcher;
		});
	}

	#look(): void {
		const { report = () => undefined } = this.#options;
		void bestEffort("reading a transcript", report, () => this.refresh());
	}
}

const CHUNK_BYTES = 256 * 1024;

async function readEntry(file: FileHandle, span: LineSpan, maxBytes: number): Promise<TranscriptEntry> {
	const length = span.end - span.start;
	if (length > maxBytes) return unreadable(span);
	const buffer = Buffer.allocUnsafe(length);
	const { bytesRead } = await file.read(buffer, 0, length, span.start);
	try {
		return entryOf(JSON.parse(buffer.toString("utf8", 0, bytesRead))) ?? unreadable(span);
	} catch (error) {
		if (error instanceof SyntaxError) return unreadable(span); // a truncated line, from a full disk
		throw error;
	}
}

function entryOf(line: unknown): TranscriptEntry | undefined {
	if (!isObject(line)) return undefined;
	const timestamp = typeof line.timestamp === "string" ? { timestamp: line.timestamp } : {};
	if (line.type === "compaction" && typeof line.summary === "string") {
		return { type: "compaction", ...timestamp, summary: line.summary };
	}
	if (line.type === "message" && isObject(line.message))
		return { type: "message", ...timestamp, message: line.message };
	if (line.type !== "custom_message") return undefined;
	const { customType, content } = line;
	return { type: "message", ...timestamp, message: { role: "custom", customType, content } };
}

function unreadable({ start, end }: LineSpan): TranscriptEntry {
	return { type: "unreadable", bytes: end - start };
}
