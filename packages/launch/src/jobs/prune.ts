/** Deletes the jobs of deleted sessions. Does not load the rest of the scheduler. */
import { readdir, rm, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { isMissing } from "@pi-subagents/core/internal/base";
import { namesIn, readSmallFile } from "@pi-subagents/core/internal/files";
import { SESSION_FILE } from "./directory.ts";

export interface PruneSchedulesOptions {
	/** Holds a directory for each session. */
	dir: string;
	/** How long they are kept after the last write; 0 is forever. */
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

/** The session file's path is stored with the jobs. */
async function isSessionThere(path: string): Promise<boolean> {
	const file = (await readSmallFile(join(path, SESSION_FILE)))?.trim();
	const isPath = file !== undefined && isAbsolute(file) && !file.includes("\0"); // the file may be corrupt
	return isPath && (await stampOf(file)) !== undefined;
}

/** The last write anywhere below. */
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
