/** Deletes the jobs of sessions that are gone: nobody can open those again. Loaded with nothing else of schedules. */
import { readdir, rm, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { isMissing, namesIn, readSmallFile } from "../small-file.ts";
import { SESSION_FILE } from "./place.ts";

export interface PruneSchedulesOptions {
	/** Holds a directory for each session. */
	dir: string;
	/** For how long after the last write they are kept all the same; 0 is for ever. */
	days: number;
	/** Milliseconds since the epoch. */
	now: number;
	/** Whether this session is open here. */
	isLive: (sessionId: string) => boolean;
}

const DAY_MS = 24 * 60 * 60_000;

export async function pruneSchedules({ dir, days, now, isLive }: PruneSchedulesOptions): Promise<void> {
	if (days === 0) return;
	for (const sessionId of await namesIn(dir)) {
		const path = join(dir, sessionId);
		if (isLive(sessionId) || (await isSessionThere(path))) continue;
		if (now - (await touchedAt(path)) > days * DAY_MS) await rm(path, { recursive: true, force: true });
	}
}

/** Its jobs say where it is kept. */
async function isSessionThere(path: string): Promise<boolean> {
	const file = (await readSmallFile(join(path, SESSION_FILE)))?.trim();
	const isPath = file !== undefined && isAbsolute(file) && !file.includes("\0"); // or somebody has spoiled the file
	return isPath && (await stampOf(file)) !== undefined;
}

/** When anything below was written last. */
async function touchedAt(path: string): Promise<number> {
	const below = await readdir(path, { recursive: true }).catch((): string[] => []); // a file among directories
	const stamps = await Promise.all(["", ...below].map((name) => stampOf(join(path, name))));
	return Math.max(...stamps.map((stamp) => stamp ?? 0));
}

async function stampOf(path: string): Promise<number | undefined> {
	try {
		return (await stat(path)).mtimeMs;
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw error;
	}
}
