/**
 * An up-to-date view of the presets on disk: every `read` checks all files, but reads and parses only those that changed.
 */

import { setImmediate } from "node:timers/promises";
import type { ParseResult, Presets, Problem } from "../model/preset.ts";
import { maxFileBytes, parsePreset, unusable } from "../parse/parse.ts";
import type { ParseContext } from "../parse/reader.ts";
import { type ListedFile, type Listing, locate } from "./locate.ts";
import { type DirectoryResults, merge } from "./merge.ts";
import { type FileRead, isUnchanged, readSmallFile, type Stamp } from "./read-file.ts";
import { type Source, subagentsDirs } from "./sources.ts";

/** Where to search. */
export interface DiscoverOptions {
	/** Project directories are searched from here upwards. */
	readonly cwd: string;
	/** pi's own directory, usually `~/.pi/agent`. */
	readonly agentDir: string;
	/** Default: `subagentsDirs()`. Order does not matter; each source has its precedence. */
	readonly sources?: readonly Source[];
	/** Milliseconds since 1970, for tests. */
	readonly now?: () => number;
}

/** Presets that can be read again and again. */
export interface Catalogue {
	/** All presets that are on disk now. Never rejects. Returns the same object when nothing changed. */
	read(): Promise<Presets>;
}

/** The cached result of a file. */
interface CachedFile {
	readonly from: Source;
	/** Absent when the file must be read again. */
	readonly stamp: Stamp | undefined;
	readonly result: ParseResult;
}

/** A file and the source that lists it. */
interface FileOfSource {
	readonly from: Source;
	readonly file: ListedFile;
}

/** How many files are looked at, or read and parsed, before other work gets its turn: a few milliseconds at most. */
const batchSize = 64;
// File times have a resolution of some milliseconds: a second change within that time could go unnoticed.
const timestampMs = 50;

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
	let cache: ReadonlyMap<string, CachedFile> = new Map();
	let last: { readonly results: readonly ParseResult[]; readonly presets: Presets } | undefined;
	return {
		async read() {
			const problems: Problem[] = [];
			const located = await Promise.all(sources.map((source) => locate(source, options, problems)));
			const listings = withoutRepeats(located.flat());
			const next = await readAll(listings, cache, now);
			cache = next;
			const directories = listings.map(({ files }): DirectoryResults => ({ results: resultsOf(files, next) }));
			const results = directories.flatMap((directory) => directory.results);
			if (last !== undefined && problems.length === 0 && isEqual(results, last.results)) return last.presets;
			const presets = merge(directories, problems);
			last = problems.length === 0 ? { results, presets } : undefined;
			return presets;
		},
	};
}

/**
 * Reads all presets once. Callers that read repeatedly should keep a catalogue.
 *
 * @example
 * const { presets, problems } = await discoverPresets({ cwd: process.cwd(), agentDir: "/home/me/.pi/agent" });
 */
export function discoverPresets(options: DiscoverOptions): Promise<Presets> {
	return createCatalogue(options).read();
}

/** A file listed by two sources belongs to the lower one: the user's own directory is not a project's. */
function withoutRepeats(listings: readonly Listing[]): Listing[] {
	const seen = new Set<string>();
	return listings.map(({ from, files }) => {
		const fresh = files.filter(({ path }) => !seen.has(path));
		for (const { path } of fresh) seen.add(path);
		return { from, files: fresh };
	});
}

/** The result of each file: the cached one where nothing changed, else read and parsed again. */
async function readAll(
	listings: readonly Listing[],
	cache: ReadonlyMap<string, CachedFile>,
	now: () => number,
): Promise<Map<string, CachedFile>> {
	const files = listings.flatMap(({ from, files }) => files.map((file) => ({ from, file })));
	const next = new Map<string, CachedFile>();
	for (const [at, item] of files.entries()) {
		if (at % batchSize === batchSize - 1) await setImmediate();
		const found = check(item, cache);
		if (found.type === "unchanged") next.set(item.file.path, found.cached);
		else if (found.type !== "gone") next.set(item.file.path, parsed(item, found, now));
	}
	return next;
}

/** A file that has not changed, or its content. */
type Checked = { readonly type: "unchanged"; readonly cached: CachedFile } | FileRead;

function check({ from, file }: FileOfSource, cache: ReadonlyMap<string, CachedFile>): Checked {
	const { path, text, isRegular } = file;
	const cached = cachedFrom(from, cache.get(path));
	if (text !== undefined) return cached === undefined ? { type: "text", text } : { type: "unchanged", cached };
	if (cached?.stamp !== undefined && isUnchanged(path, cached.stamp)) return { type: "unchanged", cached };
	return readSmallFile(path, { maxBytes: maxFileBytes, isRegular });
}

/** A file that is now listed by another source is parsed again. */
function cachedFrom(from: Source, cached: CachedFile | undefined): CachedFile | undefined {
	return cached?.from === from ? cached : undefined;
}

function parsed(
	{ file, from }: FileOfSource,
	read: Exclude<FileRead, { type: "gone" }>,
	now: () => number,
): CachedFile {
	const { path, result } = file;
	if (result !== undefined) return { from, stamp: undefined, result };
	if (read.type === "text") {
		const stamp = read.stamp !== undefined && now() - read.stamp.mtimeMs < timestampMs ? undefined : read.stamp;
		return { from, stamp, result: parsePreset(read.text, contextOf(file, from)) };
	}
	return { from, stamp: read.stamp, result: unusable(path, read.message) };
}

function contextOf({ path, isLink, isNested = false }: ListedFile, { source }: Source): ParseContext {
	return { path, source, linked: isLink, nested: isNested };
}

function resultsOf(files: readonly ListedFile[], cache: ReadonlyMap<string, CachedFile>): ParseResult[] {
	return files.flatMap(({ path }) => cache.get(path)?.result ?? []);
}

function isEqual(a: readonly ParseResult[], b: readonly ParseResult[]): boolean {
	return a.length === b.length && a.every((result, index) => result === b[index]);
}
