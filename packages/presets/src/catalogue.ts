/**
 * Presets on disk, kept fresh: every read looks at all files, but reads and parses only those that changed.
 * It gives the event loop back every few milliseconds, and does not keep it waiting for a disk that is slow.
 */
import { type ListedFile, type Listing, locate } from "./locate.ts";
import { merge, type Shelf } from "./merge.ts";
import { Pace } from "./pace.ts";
import { maxFileBytes, parsePreset, unusable } from "./parse.ts";
import type { ParseResult, Presets, Problem } from "./preset.ts";
import {
	type FileRead,
	isUnchanged,
	isUnchangedNow,
	readSmallFile,
	readSmallFileNow,
	type Stamp,
} from "./read-file.ts";
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
	const next = new Map<string, Known>();
	const pace = new Pace();
	for (let at = 0; at < todo.length; at += batchSize) {
		const batch = todo.slice(at, at + batchSize);
		const isNear = pace.nextBatch() === "at once";
		// A link may lead anywhere, so it is never waited for.
		const far = batch.filter(({ file }) => !(isNear && file.isRegular));
		const seenLater = new Map<Todo, Seen>();
		await Promise.all(far.map(async (item) => seenLater.set(item, await lookLater(item, known))));
		for (const item of batch) {
			const seen =
				seenLater.get(item) ?? (pace.isSlow ? await lookLater(item, known) : pace.ask(() => lookNow(item, known)));
			if (seen.type === "same") next.set(item.file.path, seen.before);
			else if (seen.type !== "gone") next.set(item.file.path, learn(item, seen, now));
			if (pace.isTired) await pace.rest();
		}
	}
	return next;
}

/** What a look at a file gives: that it is as before, or what it holds now. */
type Seen = { readonly type: "same"; readonly before: Known } | FileRead;

function lookNow({ from, file }: Todo, known: ReadonlyMap<string, Known>): Seen {
	const { path, text, isRegular } = file;
	const before = knownFrom(from, known.get(path));
	if (text !== undefined) return before === undefined ? { type: "text", text } : { type: "same", before };
	if (before?.stamp !== undefined && isUnchangedNow(path, before.stamp)) return { type: "same", before };
	return readSmallFileNow(path, { maxBytes: maxFileBytes, isRegular });
}

async function lookLater({ from, file }: Todo, known: ReadonlyMap<string, Known>): Promise<Seen> {
	const { path, text, isRegular } = file;
	const before = knownFrom(from, known.get(path));
	if (text !== undefined) return before === undefined ? { type: "text", text } : { type: "same", before };
	if (before?.stamp !== undefined && (await isUnchanged(path, before.stamp))) return { type: "same", before };
	return readSmallFile(path, { maxBytes: maxFileBytes, isRegular });
}

/** A file that another source lists now is read anew. */
function knownFrom(from: Source, before: Known | undefined): Known | undefined {
	return before?.from === from ? before : undefined;
}

function learn({ file, from }: Todo, read: Exclude<FileRead, { type: "gone" }>, now: () => number): Known {
	const { path, result } = file;
	if (result !== undefined) return { from, stamp: undefined, result };
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
