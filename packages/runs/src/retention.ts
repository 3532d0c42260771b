/**
 * Limits what agents leave on disk, by age and size, oldest first. Deletes only files that we made, by name, and
 * nothing that may be in use. In small steps, so that nothing has to wait for it.
 */
import { lstat, readdir, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { codeOf, messageOf, parseJson } from "@pi-subagents/core/internal/base";
import { readPlain, UNFINISHED } from "@pi-subagents/core/internal/files";
import { pruneProcesses } from "@pi-subagents/core/internal/signals";
import { betweenAttempts, LOST_DIR, RUN_FILES } from "./format/layout.ts";
import { livingWrapper } from "./living-wrapper.ts";
import { pruneProofs } from "./proof.ts";

export interface PruneOptions {
	/** A missing directory counts as empty. */
	dir: string;
	/** Days to keep after the last write; 0 is no limit. */
	days: number;
	/** Total size to keep; 0 is no limit. */
	megabytes: number;
	/** Milliseconds since the epoch. */
	now: number;
	/** Whether it is in use by this process: by run id, or for conversations by the name of the session's directory. */
	isLive: (id: string) => boolean;
	/** Ids to keep, whatever their age. */
	keep?: ReadonlySet<string>;
}

export interface Pruned {
	/** The deleted ids. */
	removed: string[];
	freedBytes: number;
	/** What could not be deleted, and why. */
	problems: string[];
}

/** A directory with files that we made. */
interface Leftover {
	/** The directory's name. */
	id: string;
	path: string;
	/** Names of our files only, those of a first attempt with their directory. */
	files: readonly string[];
	bytes: number;
	/** The latest write. */
	touchedAt: number;
}

interface Kind {
	/** The name that `isLive` knows. */
	nameOf(found: Leftover): string;
	/** How deep below the given directory. */
	depth: number;
	isOurFile(name: string): boolean;
	isOurs(found: Leftover): Promise<boolean>;
	/** Whether another process may still use it. */
	isInUse(found: Leftover, now: number): Promise<boolean>;
	remove(found: Leftover): Promise<void>;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const MEGABYTE = 1024 * 1024;
const MAX_META_BYTES = 16 * MEGABYTE;

/**
 * Deletes runs in a directory from `prepareRunsDir`. `agentDir`: pi's own directory, for the proofs of results.
 *
 * @example
 * ```ts
 * const isLive = (runId: string) => liveRuns.has(runId);
 * const { freedBytes } = await pruneRuns({ agentDir, dir, days: 14, megabytes: 500, now: Date.now(), isLive });
 * ```
 */
export async function pruneRuns({ agentDir, ...options }: PruneOptions & { agentDir: string }): Promise<Pruned> {
	const pruned = await prune(options, runsOf(agentDir));
	const journals = await pruneJournals(options);
	await pruneProcesses({ agentDir, now: options.now });
	await pruneProofs(agentDir);
	return { ...pruned, freedBytes: pruned.freedBytes + journals };
}

/** `<agent id>.workflow.jsonl`, beside the runs. Small, so only their age counts. Returns what was freed. */
async function pruneJournals({ dir, days, now, isLive, keep }: PruneOptions): Promise<number> {
	const entries = await readdir(dir, { withFileTypes: true }).catch(() => []); // `prune` reports what is wrong
	let freedBytes = 0;
	for (const entry of entries) {
		const id = entry.isFile() ? /^(.+)\.workflow\.jsonl$/.exec(entry.name)?.[1] : undefined;
		if (id === undefined || days === 0 || isLive(id) || keep?.has(id)) continue;
		const path = join(dir, entry.name);
		const { size, mtimeMs } = await lstat(path);
		if (now - mtimeMs <= days * DAY_MS) continue;
		await rm(path, { force: true });
		freedBytes += size;
	}
	return freedBytes;
}

/** Deletes agents' conversations: a directory per session, with one per agent. */
export function pruneConversations(options: PruneOptions): Promise<Pruned> {
	return prune(options, CONVERSATIONS);
}

async function prune({ dir, now, isLive, keep, ...bounds }: PruneOptions, kind: Kind): Promise<Pruned> {
	const pruned: Pruned = { removed: [], freedBytes: 0, problems: [] };
	const attempt = async (path: string, work: () => Promise<void>): Promise<void> => {
		try {
			await work();
		} catch (error) {
			if (codeOf(error) !== "ENOENT") pruned.problems.push(`${path}: ${messageOf(error)}`); // otherwise another process was faster
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
			const leftover = await inspect(path, kind.isOurFile);
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

async function inspect(path: string, isOurFile: (name: string) => boolean): Promise<Leftover> {
	const leftover = { id: basename(path), path, files: [] as string[], bytes: 0, touchedAt: 0 };
	const entries = await readdir(path, { withFileTypes: true });
	const hasLost = entries.some((entry) => entry.name === LOST_DIR && entry.isDirectory());
	const lost = hasLost ? await readdir(join(path, LOST_DIR), { withFileTypes: true }) : [];
	for (const entry of [...entries, ...lost]) {
		if (!entry.isFile() || !isOurFile(entry.name)) continue; // a link is never ours
		const file = join(entry.parentPath, entry.name);
		const { size, mtimeMs } = await lstat(file);
		leftover.files.push(relative(path, file));
		leftover.bytes += size;
		leftover.touchedAt = Math.max(leftover.touchedAt, mtimeMs);
	}
	if (leftover.files.length === 0) leftover.touchedAt = (await lstat(path)).mtimeMs;
	return leftover;
}

/** Our directories are private; git cannot create such permissions. */
async function isClosedToOthers(dir: string): Promise<boolean> {
	const { uid, mode } = await lstat(dir);
	return process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
}

/** Without links, which may lead anywhere. */
async function directoriesIn(dir: string): Promise<string[]> {
	const entries = await readdir(dir, { withFileTypes: true });
	return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(dir, name));
}

/** Files of others stay, and so does the directory. */
async function removeIfEmpty(dir: string): Promise<void> {
	try {
		await rmdir(dir);
	} catch (error) {
		if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(codeOf(error) ?? "")) throw error;
	}
}

/**
 * Deleted last: as long as there is a result, the run does not look unfinished, and as long as it has a meta file,
 * the next round knows that it is ours.
 */
const LAST: readonly string[] = [RUN_FILES.result, RUN_FILES.meta];
const RUN_FILE_NAMES: ReadonlySet<string> = new Set(Object.values(RUN_FILES));

const runsOf = (agentDir: string): Kind => ({
	nameOf: ({ id }) => id,
	depth: 1,
	isOurFile(name) {
		const isUnfinished = name.endsWith(UNFINISHED) && /^(?:meta|result|wrapper|remote|owner-\d+)\.json\./.test(name);
		return RUN_FILE_NAMES.has(name) || /^owner-\d+\.json$/.test(name) || isUnfinished;
	},
	async isOurs({ id, path, files }) {
		if (!files.includes(RUN_FILES.meta) || !(await isClosedToOthers(path))) return false;
		const meta = await readPlain(join(path, RUN_FILES.meta), MAX_META_BYTES).catch(() => undefined);
		const said = meta && parseJson(meta.toString("utf8"));
		if (typeof said !== "object" || said === null || !("createdBy" in said) || !("runId" in said)) return false;
		const ours = [said.runId, basename(betweenAttempts(String(said.runId)))]; // a renamed copy belongs to the user
		return said.createdBy === "pi-subagents" && ours.includes(id);
	},
	async isInUse({ path, files, touchedAt }, now) {
		if (files.includes(RUN_FILES.result)) return false;
		if (now - touchedAt < DAY_MS) return true; // perhaps inside another pi, which has no wrapper
		return (await livingWrapper({ agentDir, runDir: path })) !== undefined;
	},
	async remove({ path, files }) {
		for (const name of files.toSorted((one, other) => LAST.indexOf(one) - LAST.indexOf(other))) {
			await rm(join(path, name), { force: true });
		}
		if (files.some((name) => dirname(name) === LOST_DIR)) await removeIfEmpty(join(path, LOST_DIR));
		await removeIfEmpty(path);
	},
});

const CONVERSATIONS: Kind = {
	nameOf: ({ path }) => basename(dirname(path)), // an open session may resume any of its agents
	depth: 2,
	isOurFile: (name) => name.endsWith(".jsonl"),
	isOurs: async () => true, // nothing else is stored there
	isInUse: async ({ touchedAt }, now) => now - touchedAt < DAY_MS, // perhaps inside another pi
	async remove({ path, files }) {
		for (const name of files) await rm(join(path, name), { force: true });
		await removeIfEmpty(path);
		await removeIfEmpty(dirname(path));
	},
};
