/**
 * Presets on disk, kept fresh: every read looks at all files, but reads and parses only those that changed.
 * Asynchronous throughout, and it gives the event loop back every few milliseconds.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type ListedFile, type Listing, locate } from "./locate.ts";
import { merge, type Shelf } from "./merge.ts";
import { maxFileBytes, parsePreset, unusable } from "./parse.ts";
import type { ParseResult, Presets, Problem } from "./preset.ts";
import { type FileRead, readSmallFile, type Stamp, stillSame } from "./read-file.ts";
import { type Source, subagentsDirs } from "./sources.ts";

/** Where to look. */
export interface DiscoverOptions {
	/** Project directories are looked for from here upwards. */
	readonly cwd: string;
	/** pi's own directory, usually `~/.pi/agent`. */
	readonly agentDir: string;
	/** Default: `subagentsDirs()`. Order does not matter; each source has its precedence. */
	readonly sources?: readonly Source[];
	/** Milliseconds since 1970, for tests. */
	readonly now?: () => number;
}

/** Presets that stay fresh. */
export interface Catalogue {
	/** All presets as they are on disk now, whatever is there; the same object again when nothing changed. */
	read(): Promise<Presets>;
}

/** What is remembered of a file. */
interface Known {
	readonly from: Source;
	/** Absent when the file must be read again. */
	readonly stamp: Stamp | undefined;
	readonly result: ParseResult;
}

/** A file, and where it was listed. */
interface Todo {
	readonly from: Source;
	readonly file: ListedFile;
}

const batchSize = 64;
const sliceMs = 4;
// File times tick every few milliseconds: a file changed this shortly before it was read may change again unseen.
const settledMs = 50;

/**
 * A catalogue of the presets of some sources.
 *
 * @example
 * const catalogue = createCatalogue({ cwd: process.cwd(), agentDir: "/home/me/.pi/agent" });
 * const { presets, problems } = await catalogue.read();
 */
export function createCatalogue(options: DiscoverOptions): Catalogue {
	const sources = [...(options.sources ?? subagentsDirs())].sort((a, b) => a.rank - b.rank);
	const now = options.now ?? Date.now;
	let known: ReadonlyMap<string, Known> = new Map();
	let last: { readonly results: readonly ParseResult[]; readonly presets: Presets } | undefined;
	return {
		async read() {
			const problems: Problem[] = [];
			const located = await Promise.all(sources.map((source) => locate(source, options, problems)));
			const listings = withoutRepeats(located.flat());
			const next = await readAll(listings, known, now);
			known = next;
			const shelves = listings.map(({ files }): Shelf => ({ results: resultsOf(files, next) }));
			const results = shelves.flatMap((shelf) => shelf.results);
			if (last !== undefined && problems.length === 0 && isEqual(results, last.results)) return last.presets;
			const presets = merge(shelves, problems);
			last = problems.length === 0 ? { results, presets } : undefined;
			return presets;
		},
	};
}

/**
 * Reads all presets once. A caller that asks again and again should keep a catalogue.
 *
 * @example
 * const { presets, problems } = await discoverPresets({ cwd: process.cwd(), agentDir: "/home/me/.pi/agent" });
 */
export function discoverPresets(options: DiscoverOptions): Promise<Presets> {
	return createCatalogue(options).read();
}

/** A directory that two sources name belongs to the lower one: the user's own directory is not a project's. */
function withoutRepeats(listings: readonly Listing[]): Listing[] {
	const seen = new Set<string>();
	return listings.map(({ from, files }) => {
		const fresh = files.filter(({ path }) => !seen.has(path));
		for (const { path } of fresh) seen.add(path);
		return { from, files: fresh };
	});
}

/** What is known of each file now: as before where nothing changed, else read and parsed. */
async function readAll(
	listings: readonly Listing[],
	known: ReadonlyMap<string, Known>,
	now: () => number,
): Promise<Map<string, Known>> {
	const todo = listings.flatMap(({ from, files }) => files.map((file) => ({ from, file })));
	const same = await stillSame(
		todo.flatMap(({ from, file: { path } }) => {
			const before = known.get(path);
			return before?.stamp !== undefined && before.from === from ? [{ path, stamp: before.stamp }] : [];
		}),
	);
	const next = new Map<string, Known>();
	const changed: Todo[] = [];
	for (const item of todo) {
		const before = known.get(item.file.path);
		const isSame =
			before !== undefined && (same.has(item.file.path) || (item.file.text !== undefined && before.from === item.from));
		if (isSame) next.set(item.file.path, before);
		else changed.push(item);
	}
	await readChanged(changed, next, now);
	return next;
}

/** Reads in batches, the next one while this one is parsed; parses one by one, so that no slice is long. */
async function readChanged(todo: readonly Todo[], next: Map<string, Known>, now: () => number): Promise<void> {
	const start = (at: number) => Promise.all(todo.slice(at, at + batchSize).map(({ file }) => readListed(file)));
	let pending = start(0);
	let sliceStart = performance.now();
	for (let at = 0; at < todo.length; at += batchSize) {
		const reads = await pending;
		pending = start(at + batchSize);
		for (const [index, read] of reads.entries()) {
			const item = todo[at + index];
			if (item === undefined || read.type === "gone") continue;
			next.set(item.file.path, learn(item, read, now));
			if (performance.now() - sliceStart < sliceMs) continue;
			await nextTurn();
			sliceStart = performance.now();
		}
	}
}

function readListed({ path, text, isRegular }: ListedFile): Promise<FileRead> | FileRead {
	return text === undefined ? readSmallFile(path, { maxBytes: maxFileBytes, isRegular }) : { type: "text", text };
}

function learn({ file, from }: Todo, read: Exclude<FileRead, { type: "gone" }>, now: () => number): Known {
	const { path } = file;
	if (read.type === "text") {
		const stamp = read.stamp !== undefined && now() - read.stamp.mtimeMs < settledMs ? undefined : read.stamp;
		return { from, stamp, result: parsePreset(read.text, { path, source: from.source, linked: file.isLink }) };
	}
	return { from, stamp: read.stamp, result: unusable(path, read.message) };
}

function resultsOf(files: readonly ListedFile[], known: ReadonlyMap<string, Known>): ParseResult[] {
	return files.flatMap(({ path }) => known.get(path)?.result ?? []);
}

function isEqual(a: readonly ParseResult[], b: readonly ParseResult[]): boolean {
	return a.length === b.length && a.every((result, index) => result === b[index]);
}
