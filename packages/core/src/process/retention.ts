/**
 * Bounds what agents leave behind, by age and by size, the oldest first. Deletes only files that we made, by their
 * names, and nothing that may still be in use. All in small steps, so that nobody has to wait for it.
 */
import { lstat, readdir, readFile, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../best-effort.ts";
import { codeOf } from "./code-of.ts";
import { UNFINISHED } from "./create.ts";
import { isAlive } from "./identity.ts";
import { RUN_FILES } from "./layout.ts";
import { parseJson, readWrapper } from "./read.ts";

export interface PruneOptions {
	/** What is not there is empty. */
	dir: string;
	/** For how long after the last write something is kept; 0 is no limit. */
	days: number;
	/** How much is kept in all; 0 is no limit. */
	megabytes: number;
	/** Milliseconds since the epoch. */
	now: number;
	/** Whether this one goes on in this process: for runs their id, for conversations the name of the session's directory. */
	isLive: (id: string) => boolean;
	/** Those that must stay, whatever their age. */
	keep?: ReadonlySet<string>;
}

export interface Pruned {
	/** The ids of those that are gone. */
	removed: string[];
	freedBytes: number;
	/** What could not be deleted, and why. */
	problems: string[];
}

/** A directory of files that we made. */
interface Leftover {
	/** Its own name. */
	id: string;
	path: string;
	/** The names of the files; those of others are not among them. */
	files: readonly string[];
	bytes: number;
	/** When the last of them was written. */
	touchedAt: number;
}

interface Kind {
	/** By what whoever uses it knows it. */
	nameOf(found: Leftover): string;
	/** How far below the given directory they are. */
	depth: number;
	/** Whether we made a file with this name. */
	isOurFile(name: string): boolean;
	isOurs(found: Leftover): Promise<boolean>;
	/** Whether another process may still work with it. */
	isInUse(found: Leftover, now: number): Promise<boolean>;
	remove(found: Leftover): Promise<void>;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const MEGABYTE = 1024 * 1024;
const MAX_META_BYTES = 16 * MEGABYTE;

/**
 * Deletes the files of runs below a directory that `prepareRunsDir` gave.
 *
 * @example
 * ```ts
 * const isLive = (runId: string) => liveRuns.has(runId);
 * const { freedBytes } = await pruneRuns({ dir, days: 14, megabytes: 500, now: Date.now(), isLive });
 * ```
 */
export function pruneRuns(options: PruneOptions): Promise<Pruned> {
	return prune(options, RUNS);
}

/** Deletes agents' conversations. The directory holds one for each session, and that one for each agent. */
export function pruneConversations(options: PruneOptions): Promise<Pruned> {
	return prune(options, CONVERSATIONS);
}

async function prune({ dir, now, isLive, keep, ...bounds }: PruneOptions, kind: Kind): Promise<Pruned> {
	const pruned: Pruned = { removed: [], freedBytes: 0, problems: [] };
	const attempt = async (path: string, work: () => Promise<void>): Promise<void> => {
		try {
			await work();
		} catch (error) {
			if (codeOf(error) !== "ENOENT") pruned.problems.push(`${path}: ${messageOf(error)}`); // else somebody was faster
		}
	};
	let paths = [dir];
	for (let depth = 0; depth < kind.depth; depth++) {
		const below: string[] = [];
		for (const path of paths) await attempt(path, async () => void below.push(...(await directoriesIn(path))));
		paths = below;
	}
	const found: Leftover[] = [];
	for (const path of paths) {
		await attempt(path, async () => {
			const leftover = await survey(path, kind.isOurFile);
			if (await kind.isOurs(leftover)) found.push(leftover);
		});
	}
	for (const leftover of outOfBounds(found, { ...bounds, now })) {
		const { id, path, bytes } = leftover;
		await attempt(path, async () => {
			if (isLive(kind.nameOf(leftover)) || keep?.has(id) || (await kind.isInUse(leftover, now))) return;
			await kind.remove(leftover);
			pruned.removed.push(id);
			pruned.freedBytes += bytes;
		});
	}
	return pruned;
}

/** The oldest first. */
function outOfBounds(found: Leftover[], { days, megabytes, now }: Pick<PruneOptions, "days" | "megabytes" | "now">) {
	let bytes = 0;
	const newestFirst = found.toSorted((one, other) => other.touchedAt - one.touchedAt);
	const gone = newestFirst.filter((leftover) => {
		bytes += leftover.bytes;
		const isOld = days > 0 && now - leftover.touchedAt > days * DAY_MS;
		return isOld || (megabytes > 0 && bytes > megabytes * MEGABYTE);
	});
	return gone.reverse();
}

async function survey(path: string, isOurFile: (name: string) => boolean): Promise<Leftover> {
	const leftover = { id: basename(path), path, files: [] as string[], bytes: 0, touchedAt: 0 };
	for (const entry of await readdir(path, { withFileTypes: true })) {
		if (!entry.isFile() || !isOurFile(entry.name)) continue; // a link is not ours, whatever its name
		const { size, mtimeMs } = await lstat(join(path, entry.name));
		leftover.files.push(entry.name);
		leftover.bytes += size;
		leftover.touchedAt = Math.max(leftover.touchedAt, mtimeMs);
	}
	if (leftover.files.length === 0) leftover.touchedAt = (await lstat(path)).mtimeMs;
	return leftover;
}

/** As we make them, and as none is that came with a repository: git knows no such rights. */
async function isClosedToOthers(dir: string): Promise<boolean> {
	const { uid, mode } = await lstat(dir);
	return process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
}

/** Real ones only: a link may lead anywhere. */
async function directoriesIn(dir: string): Promise<string[]> {
	const entries = await readdir(dir, { withFileTypes: true });
	return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(dir, name));
}

/** What others have put there stays, and so does the directory. */
async function removeIfEmpty(dir: string): Promise<void> {
	try {
		await rmdir(dir);
	} catch (error) {
		if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(codeOf(error) ?? "")) throw error;
	}
}

/**
 * What goes last: as long as there is a result, nobody takes the run for one that goes on, and as long as it is
 * described, the next round knows that it is ours.
 */
const LAST: readonly string[] = [RUN_FILES.result, RUN_FILES.meta];
const RUN_FILE_NAMES: ReadonlySet<string> = new Set(Object.values(RUN_FILES));

const RUNS: Kind = {
	nameOf: ({ id }) => id,
	depth: 1,
	isOurFile(name) {
		const isUnfinished = name.endsWith(UNFINISHED) && /^(?:meta|result|wrapper|owner-\d+)\.json\./.test(name);
		return RUN_FILE_NAMES.has(name) || /^owner-\d+\.json$/.test(name) || isUnfinished;
	},
	async isOurs({ id, path, files }) {
		if (!files.includes(RUN_FILES.meta) || !(await isClosedToOthers(path))) return false;
		const meta = join(path, RUN_FILES.meta);
		if ((await lstat(meta)).size > MAX_META_BYTES) return false;
		const said = parseJson(await readFile(meta, "utf8"));
		if (typeof said !== "object" || said === null || !("createdBy" in said) || !("runId" in said)) return false;
		return said.createdBy === "pi-subagents" && said.runId === id; // a copy under another name is somebody's own
	},
	async isInUse({ path, files, touchedAt }, now) {
		if (files.includes(RUN_FILES.result)) return false;
		if (now - touchedAt < DAY_MS) return true; // perhaps inside another pi, where no process tells of it
		const wrapper = files.includes(RUN_FILES.wrapper) ? await readWrapper(path) : undefined;
		return wrapper?.type === "started" && (await isAlive(wrapper));
	},
	async remove({ path, files }) {
		for (const name of files.toSorted((one, other) => LAST.indexOf(one) - LAST.indexOf(other))) {
			await rm(join(path, name), { force: true });
		}
		await removeIfEmpty(path);
	},
};

const CONVERSATIONS: Kind = {
	nameOf: ({ path }) => basename(dirname(path)), // who has a session open may resume any of its agents
	depth: 2,
	isOurFile: (name) => name.endsWith(".jsonl"),
	isOurs: async () => true, // nobody else keeps anything there
	isInUse: async ({ touchedAt }, now) => now - touchedAt < DAY_MS, // perhaps inside another pi
	async remove({ path, files }) {
		for (const name of files) await rm(join(path, name), { force: true });
		await removeIfEmpty(path);
		await removeIfEmpty(dirname(path));
	},
};
