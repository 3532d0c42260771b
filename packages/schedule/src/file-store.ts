/**
 * Jobs in a directory that several processes share, without a lock. All append to one journal; the system puts every
 * append in its place, and a process learns whether its entry was taken by reading up to it. A journal that has grown
 * is sealed by an entry, after which nothing in it counts, and the next begins with the jobs as they stood.
 */
import { type FSWatcher, watch } from "node:fs";
import { constants, copyFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { generationDir, isUnusable, Journal, newest, publish, sweep } from "./journal.ts";
import { apply, type Entry, idOf, type StoredJob } from "./ledger.ts";
import { beginLines, entryLine, type Line, readLine, SEAL_LINE } from "./lines.ts";
import type { JobStore, Recorded } from "./store.ts";

export interface FileStoreOptions {
	/** Told, in a sentence, of what could not be read. The rest goes on. */
	onProblem?: (problem: string) => void;
	/** A journal is rewritten when it has grown by so many bytes, and to four times what it began with. */
	growth?: number;
}

interface Opened {
	file: Journal;
	generation: number;
}

/** The journal in use. */
interface Current extends Opened {
	watcher: FSWatcher | undefined;
	/** The size of the jobs it began with. */
	begunWith: number;
	/** An unfinished line was seen to. */
	isEnded?: boolean;
	/** It holds lines that cannot be read. */
	isDamaged?: boolean;
}

/** What a journal of no jobs at all may hold without being rewritten. */
const LEAST_GROWTH = 1_000;
const MOST_ATTEMPTS = 5;

interface Pending {
	entry: Entry;
	resolve: (recorded: Recorded) => void;
	reject: (error: unknown) => void;
}

/**
 * Nothing is made before something is recorded. Needs a file system of this machine: on network ones, appends of two
 * machines may overwrite each other.
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
	/** Marks this store's lines among those of others. */
	readonly #me = crypto.randomUUID().slice(0, 8);
	#jobs = new Map<string, StoredJob>();
	readonly #changed = new Set<string>();
	readonly #listeners = new Set<(ids: readonly string[]) => void>();
	#journal: Current | undefined;
	#isClosed = false;
	/** Waiting to be written. */
	#queue: Pending[] = [];
	/** Written, and not yet read back. By the number in the line. */
	readonly #written = new Map<number, Pending>();
	#count = 0;
	#last: Promise<void> = Promise.resolve();
	#next: Promise<void> | undefined;

	constructor(dir: string, { onProblem = () => undefined, growth = 1 << 20 }: FileStoreOptions) {
		this.#dir = dir;
		this.#onProblem = onProblem;
		this.#growth = Math.max(growth, LEAST_GROWTH);
	}

	async read(): Promise<ReadonlyMap<string, StoredJob>> {
		await this.#turn();
		return this.#jobs;
	}

	async record(entry: Entry): Promise<Recorded> {
		const verdict = new Promise<Recorded>((resolve, reject) => this.#queue.push({ entry, resolve, reject }));
		this.#turn().catch(() => undefined); // whoever waits for a verdict is told there
		return verdict;
	}

	watch(changed: (ids: readonly string[]) => void): () => void {
		this.#listeners.add(changed);
		return () => this.#listeners.delete(changed);
	}

	async close(): Promise<void> {
		await this.#turn().catch((error) => this.#onProblem(`${this.#dir} could not be brought up to date: ${error}`));
		this.#isClosed = true;
		this.#listeners.clear();
		await this.#leave();
	}

	/** Everything that is asked for while one turn works is done together in the next. */
	#turn(): Promise<void> {
		this.#next ??= this.#last.then(() => {
			this.#next = undefined;
			const done = this.#work();
			this.#last = done.catch(() => undefined); // whoever asked for it is told
			return done;
		});
		return this.#next;
	}

	async #work(): Promise<void> {
		try {
			if (this.#isClosed) throw new Error(`The job store in ${this.#dir} is closed.`);
			while (!(await this.#isUpToDate()) || this.#queue.length > 0);
		} catch (error) {
			for (const { reject } of [...this.#queue, ...this.#written.values()]) reject(error);
			this.#queue = [];
			this.#written.clear();
			throw error;
		} finally {
			this.#tell();
		}
	}

	/** One round: writes what waits and reads what came. `false`: another round is needed, mostly on another journal. */
	async #isUpToDate(): Promise<boolean> {
		const journal = this.#journal ?? (await this.#enter());
		if (!journal) return true;
		if (await journal.file.isLost()) {
			if (await this.#catchUp(journal)) {
				this.#onProblem(`${journal.file.path} was cut or removed by somebody. What is there now counts.`);
				await this.#leave();
			}
			return false;
		}
		await this.#write(journal.file);
		if (!(await this.#catchUp(journal))) return false;
		if (!journal.isEnded && journal.file.isTorn) {
			// A line without an end is ended, so that it is known for what it is. If somebody still writes it, he comes first.
			journal.isEnded = true;
			await journal.file.append([]);
			return false;
		}
		if (!journal.isDamaged && journal.file.size <= this.#growth + 4 * journal.begunWith) return true;
		if (journal.isDamaged) await this.#setAside(journal);
		await journal.file.append([SEAL_LINE]);
		return false;
	}

	async #write(file: Journal): Promise<void> {
		if (this.#queue.length === 0) return;
		const entries = this.#queue;
		this.#queue = [];
		const lines = entries.map((pending) => {
			this.#written.set(++this.#count, pending);
			return entryLine(pending.entry, this.#me, this.#count);
		});
		await file.append(lines);
	}

	/** Takes in what was appended, by anybody. `false`: the journal is sealed, and was left. */
	async #catchUp(journal: Current): Promise<boolean> {
		for await (const lines of journal.file.read()) {
			for (const line of lines) {
				const said = readLine(line);
				if (said.kind === "entry") this.#takeIn(said);
				else if (said.kind === "begin") journal.begunWith = said.size;
				else if (said.kind === "damaged") journal.isDamaged = true;
				else {
					await this.#moveOn(journal.generation);
					return false;
				}
			}
		}
		return true;
	}

	#takeIn({ entry, by, n }: Extract<Line, { kind: "entry" }>): void {
		const id = idOf(entry);
		const isTaken = apply(this.#jobs, entry);
		if (isTaken) this.#changed.add(id);
		if (by !== this.#me || typeof n !== "number") return;
		this.#written.get(n)?.resolve({ isTaken, job: this.#jobs.get(id) });
		this.#written.delete(n);
	}

	/** After a seal: the next generation is there, or is made here. What was written behind the seal is written again. */
	async #moveOn(sealed: number): Promise<void> {
		await this.#leave();
		for (let attempt = 1; this.#journal === undefined; attempt++) {
			const next = await this.#openNewest();
			if (next && next.generation > sealed) this.#begin(next);
			else {
				await next?.file.close();
				if (attempt > MOST_ATTEMPTS) throw new Error(`The jobs in ${this.#dir} could not be rewritten.`);
				await publish(this.#dir, sealed + 1, beginLines(this.#jobs.values()));
			}
		}
		this.#queue = [...this.#written.values(), ...this.#queue];
		this.#written.clear();
		// Not before the next one is open: whatever has its name need not be one.
		await sweep(this.#dir, this.#journal.generation, Date.now()).catch((error) => {
			this.#onProblem(`Old files of ${this.#dir} could not be removed: ${error}`);
		});
	}

	/** Goes to the newest generation. Makes one only to write into it. */
	async #enter(): Promise<Current | undefined> {
		for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
			const found = await this.#openNewest();
			if (found) return this.#begin(found);
			this.#forget();
			if (this.#queue.length === 0) return undefined;
			await publish(this.#dir, 1, []); // meanwhile others may have come and gone: only the newest counts
		}
		throw new Error(`No jobs could be kept in ${this.#dir}.`);
	}

	async #openNewest(): Promise<Opened | undefined> {
		for (let attempt = 1; ; attempt++) {
			const generation = await newest(this.#dir);
			if (generation === 0) return undefined;
			try {
				return { file: await Journal.open(generationDir(this.#dir, generation)), generation };
			} catch (error) {
				if (attempt > MOST_ATTEMPTS || !isUnusable(error)) throw error;
				await this.#giveUp(generation, error);
			}
		}
	}

	/** From here on the jobs are what this generation says, from its beginning. */
	#begin(opened: Opened): Current {
		this.#forget();
		this.#journal = { ...opened, begunWith: 0, watcher: this.#follow(opened.file.path) };
		return this.#journal;
	}

	#forget(): void {
		for (const id of this.#jobs.keys()) this.#changed.add(id);
		this.#jobs = new Map();
	}

	/** A generation that cannot be opened is set aside, unless it has just been replaced. */
	async #giveUp(generation: number, error: unknown): Promise<void> {
		if ((await newest(this.#dir)) !== generation) return;
		const aside = `${generationDir(this.#dir, generation)}.corrupt-${Date.now()}`;
		await rename(generationDir(this.#dir, generation), aside);
		this.#onProblem(`Jobs could not be read and were set aside as ${aside}: ${error}`);
	}

	#follow(file: string): FSWatcher | undefined {
		try {
			const watcher = watch(file, { persistent: false }, () => {
				if (this.#isClosed) return;
				this.#turn().catch((error) => this.#onProblem(`Jobs of ${this.#dir} could not be read: ${error}`));
			});
			watcher.on("error", () => watcher.close()); // then a change is seen when somebody reads
			return watcher;
		} catch (error) {
			this.#onProblem(`${file} cannot be watched, so changes by others are seen later: ${error}`);
			return undefined;
		}
	}

	/** Keeps a copy of a journal with lines that nobody can read; the original is about to be rewritten without them. */
	async #setAside({ file, generation }: Current): Promise<void> {
		const aside = join(this.#dir, `journal-${generation}.corrupt`);
		try {
			await copyFile(file.path, aside, constants.COPYFILE_EXCL);
			this.#onProblem(`Some lines of ${file.path} could not be read. The file was set aside as ${aside}.`);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		}
	}

	async #leave(): Promise<void> {
		const journal = this.#journal;
		this.#journal = undefined;
		journal?.watcher?.close();
		await journal?.file.close();
	}

	#tell(): void {
		if (this.#changed.size === 0) return;
		const ids = [...this.#changed];
		this.#changed.clear();
		for (const listener of this.#listeners) listener(ids);
	}
}
