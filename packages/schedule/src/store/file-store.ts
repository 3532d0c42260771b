/**
 * Jobs in a directory that several processes share without a lock. All append to one journal; the system orders the
 * appends, and a process reads up to its own entry to learn whether it was applied. A journal that has grown is sealed by
 * an entry, after which nothing in it counts; the next journal starts with the current jobs.
 */
import type { FSWatcher } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { applyEntry, idOf, type JobEntry, type StoredJob } from "../jobs/job-reducer.ts";
import {
	beginLines,
	entryLine,
	generationDir,
	isUnusable,
	Journal,
	type Line,
	newestGeneration,
	publishGeneration,
	readLine,
	removeOldGenerations,
	SEAL_LINE,
} from "./journal.ts";
import type { JobStore, RecordResult } from "./store.ts";

export interface FileStoreOptions {
	/** Called with a sentence about what could not be read. Everything else continues. */
	onProblem?: (problem: string) => void;
	/** A journal is rewritten when it has grown by this many bytes and to four times its initial size. */
	growth?: number;
}

/** The journal in use. */
interface Current {
	file: Journal;
	watcher: FSWatcher | undefined;
	/** The size of the jobs it started with. */
	initialSize: number;
	/** A partial line at the end was terminated. */
	isEnded?: boolean;
	/** It contains lines that cannot be read. */
	isDamaged?: boolean;
}

/** A journal without jobs may grow to this size. */
const MIN_GROWTH = 1_000;
const MAX_ATTEMPTS = 5;

type Pending = { entry: JobEntry } & Pick<PromiseWithResolvers<RecordResult>, "resolve" | "reject">;

/**
 * Creates nothing before the first entry is recorded. Needs a local file system: on a network file system, appends of two
 * machines can overwrite each other.
 *
 * @example
 * ```ts
 * const store = fileJobStore(join(projectDir, "schedules"), { onProblem: console.warn });
 * ```
 */
export function fileJobStore(dir: string, options: FileStoreOptions = {}): JobStore {
	return new FileJobStore(dir, options);
}

class FileJobStore implements JobStore {
	readonly #dir: string;
	readonly #onProblem: (problem: string) => void;
	readonly #growth: number;
	/** Marks the lines that this store wrote. */
	readonly #writerId = crypto.randomUUID().slice(0, 8);
	#jobs = new Map<string, StoredJob>();
	readonly #changed = new Set<string>();
	readonly #listeners = new Set<(ids: readonly string[]) => void>();
	#journal: Current | undefined;
	#isClosed = false;
	#queue: Pending[] = [];
	/** Entries that were written and not yet read back, by the number in their line. */
	readonly #written = new Map<number, Pending>();
	#count = 0;
	#last: Promise<void> = Promise.resolve();
	#next: Promise<void> | undefined;

	constructor(dir: string, { onProblem = () => undefined, growth = 1 << 20 }: FileStoreOptions) {
		this.#dir = dir;
		this.#onProblem = onProblem;
		this.#growth = Math.max(growth, MIN_GROWTH);
	}

	async read(): Promise<ReadonlyMap<string, StoredJob>> {
		await this.#sync();
		return this.#jobs;
	}

	async record(entry: JobEntry): Promise<RecordResult> {
		const result = new Promise<RecordResult>((resolve, reject) => this.#queue.push({ entry, resolve, reject }));
		this.#sync().catch(() => undefined); // the error also rejects `result`
		return result;
	}

	watch(changed: (ids: readonly string[]) => void): () => void {
		this.#listeners.add(changed);
		return () => this.#listeners.delete(changed);
	}

	async close(): Promise<void> {
		await this.#sync().catch((error) => this.#onProblem(`${this.#dir} could not be synchronized: ${error}`));
		this.#isClosed = true;
		this.#listeners.clear();
		await this.#closeJournal();
	}

	/** Batches: everything requested during one flush is done together in the next. */
	#sync(): Promise<void> {
		this.#next ??= this.#last.then(() => {
			this.#next = undefined;
			const done = this.#flush();
			this.#last = done.catch(() => undefined); // the caller gets the error
			return done;
		});
		return this.#next;
	}

	async #flush(): Promise<void> {
		try {
			if (this.#isClosed) throw new Error(`The job store in ${this.#dir} is closed.`);
			while (!(await this.#step()) || this.#queue.length > 0);
		} catch (error) {
			for (const { reject } of [...this.#queue, ...this.#written.values()]) reject(error);
			this.#queue = [];
			this.#written.clear();
			throw error;
		} finally {
			this.#notify();
		}
	}

	/** Writes the queue and reads new lines. `false`: another step is needed, usually on another journal. */
	async #step(): Promise<boolean> {
		const journal = this.#journal ?? (await this.#openOrCreate());
		if (!journal) return true;
		if (await journal.file.isTruncatedOrRemoved()) {
			if (await this.#catchUp(journal)) {
				this.#onProblem(`${journal.file.path} was truncated or removed. Its current content is used.`);
				await this.#closeJournal();
			}
			return false;
		}
		await this.#write(journal.file);
		if (!(await this.#catchUp(journal))) return false;
		if (!journal.isEnded && journal.file.hasPartialLine) {
			// Terminates a partial line, so that it counts as damaged. A process that is still writing it finishes first.
			journal.isEnded = true;
			await journal.file.append([]);
			return false;
		}
		if (!journal.isDamaged && journal.file.size <= this.#growth + 4 * journal.initialSize) return true;
		if (journal.isDamaged) await this.#backUp(journal);
		await journal.file.append([SEAL_LINE]);
		return false;
	}

	async #write(file: Journal): Promise<void> {
		if (this.#queue.length === 0) return;
		const entries = this.#queue;
		this.#queue = [];
		const lines = entries.map((pending) => {
			this.#written.set(++this.#count, pending);
			return entryLine(pending.entry, this.#writerId, this.#count);
		});
		await file.append(lines);
	}

	/** Applies the new lines of all processes. `false`: the journal is sealed and was closed. */
	async #catchUp(journal: Current): Promise<boolean> {
		for await (const lines of journal.file.read()) {
			for (const line of lines) {
				const parsed = readLine(line);
				if (parsed.kind === "entry") this.#apply(parsed);
				else if (parsed.kind === "begin") journal.initialSize = parsed.size;
				else if (parsed.kind === "damaged") journal.isDamaged = true;
				else {
					await this.#openNext(journal.file.generation);
					return false;
				}
			}
		}
		return true;
	}

	#apply({ entry, by, n }: Extract<Line, { kind: "entry" }>): void {
		const id = idOf(entry);
		const isApplied = applyEntry(this.#jobs, entry);
		if (isApplied) this.#changed.add(id);
		if (by !== this.#writerId || typeof n !== "number") return;
		this.#written.get(n)?.resolve({ isApplied, job: this.#jobs.get(id) });
		this.#written.delete(n);
	}

	/** After a seal: opens or creates the next generation, and queues again what was written after the seal. */
	async #openNext(sealed: number): Promise<void> {
		await this.#closeJournal();
		for (let attempt = 1; this.#journal === undefined; attempt++) {
			const next = await this.#openNewest();
			if (next && next.generation > sealed) this.#useJournal(next);
			else {
				await next?.close();
				if (attempt > MAX_ATTEMPTS) throw new Error(`The jobs in ${this.#dir} could not be rewritten.`);
				await publishGeneration(this.#dir, sealed + 1, beginLines(this.#jobs.values()));
			}
		}
		this.#queue = [...this.#written.values(), ...this.#queue];
		this.#written.clear();
		// Only after the next one is open: something else could have its name.
		await removeOldGenerations(this.#dir, this.#journal.file.generation, Date.now()).catch((error) => {
			this.#onProblem(`Old files of ${this.#dir} could not be removed: ${error}`);
		});
	}

	/** Opens the newest generation. Creates one only if there is something to write. */
	async #openOrCreate(): Promise<Current | undefined> {
		for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
			const found = await this.#openNewest();
			if (found) return this.#useJournal(found);
			this.#reset();
			if (this.#queue.length === 0) return undefined;
			await publishGeneration(this.#dir, 1, []); // others may have created newer ones meanwhile; only the newest counts
		}
		throw new Error(`No jobs could be stored in ${this.#dir}.`);
	}

	async #openNewest(): Promise<Journal | undefined> {
		for (let attempt = 1; ; attempt++) {
			const generation = await newestGeneration(this.#dir);
			if (generation === 0) return undefined;
			try {
				return await Journal.open(this.#dir, generation);
			} catch (error) {
				if (attempt > MAX_ATTEMPTS || !isUnusable(error)) throw error;
				await this.#quarantine(generation, error);
			}
		}
	}

	/** From now on the jobs are those of this generation, read from its start. */
	#useJournal(file: Journal): Current {
		this.#reset();
		this.#journal = { file, initialSize: 0, watcher: this.#watchFile(file) };
		return this.#journal;
	}

	#reset(): void {
		for (const id of this.#jobs.keys()) this.#changed.add(id);
		this.#jobs = new Map();
	}

	/** Renames a generation that cannot be opened, unless it has just been replaced. */
	async #quarantine(generation: number, error: unknown): Promise<void> {
		if ((await newestGeneration(this.#dir)) !== generation) return;
		const aside = `${generationDir(this.#dir, generation)}.corrupt-${Date.now()}`;
		await rename(generationDir(this.#dir, generation), aside);
		this.#onProblem(`Jobs could not be read and were moved to ${aside}: ${error}`);
	}

	#watchFile(file: Journal): FSWatcher | undefined {
		try {
			return file.watch(() => {
				if (this.#isClosed) return;
				this.#sync().catch((error) => this.#onProblem(`Jobs of ${this.#dir} could not be read: ${error}`));
			});
		} catch (error) {
			this.#onProblem(`${file.path} cannot be watched, so changes of other processes are noticed later: ${error}`);
			return undefined;
		}
	}

	/** Copies a journal with damaged lines, because the original is about to be rewritten without them. */
	async #backUp({ file }: Current): Promise<void> {
		const aside = join(this.#dir, `journal-${file.generation}.corrupt`);
		try {
			await file.copyTo(aside);
			this.#onProblem(`Some lines of ${file.path} could not be read. A copy of the file is in ${aside}.`);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		}
	}

	async #closeJournal(): Promise<void> {
		const journal = this.#journal;
		this.#journal = undefined;
		journal?.watcher?.close();
		await journal?.file.close();
	}

	#notify(): void {
		if (this.#changed.size === 0) return;
		const ids = [...this.#changed];
		this.#changed.clear();
		for (const listener of this.#listeners) listener(ids);
	}
}
