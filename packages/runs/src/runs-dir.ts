/** The parent directory of all runs' files: in the project, or elsewhere if that is not possible. */

import { createHash } from "node:crypto";
import { accessSync, constants, lstatSync, mkdirSync, mkdtempSync, realpathSync, statfsSync, statSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import { codeOf, messageOf } from "@pi-subagents/core/internal/base";
import {
	createFileSync,
	fallbackName,
	hideDirectory,
	IGNORE_ALL,
	isFallbackName,
	isWithin,
	RUNS_PATH,
} from "@pi-subagents/core/internal/files";
import { checkArguments } from "@pi-subagents/progress";
import { RUN_FILES } from "./format/layout.ts";

export interface RunsDir {
	dir: string;
	/** Why it is not in the usual place, and where it is. */
	warning?: string;
}

/** With less free space, files would be truncated. */
const MIN_FREE_BYTES = 1024 * 1024;

/**
 * Creates `.pi/subagents/runs` in `root`, private and hidden from git. If it cannot be created or written, or another
 * user could replace it, a directory in `fallback` is used (default: the system's temporary directory). Every launch
 * waits for it, so it is synchronous: a dozen calls in a row are much faster than through other threads.
 *
 * @example
 * ```ts
 * const { dir, warning } = await prepareRunsDir(projectRoot);
 * ```
 */
export async function prepareRunsDir(root: string, fallback: string = tmpdir()): Promise<RunsDir> {
	checkArguments({ root: [root, "string"] });
	try {
		return { dir: withinProject(root) };
	} catch (error) {
		const why = messageOf(error);
		const dir = elsewhere(root, fallback, why);
		return {
			dir,
			warning: `Agents' files are stored in ${dir}, because the project's directory cannot be used: ${why}`,
		};
	}
}

/**
 * Whether a path from a file that anyone may have edited can be the directory of this run: in a directory that
 * `prepareRunsDir` gives. Nothing else is read as a run. Checks only the path itself.
 */
export function isRunPath(path: string, runId: string): boolean {
	const runs = dirname(path);
	const isPlain = isAbsolute(path) && !path.split(/[\\/]/).includes("..") && basename(path) === runId;
	return isPlain && (runs.endsWith(sep + join(...RUNS_PATH)) || isFallbackName(basename(runs)));
}

/**
 * Whether it also really leads there and is ours, so that it may be written. A missing one counts, too.
 *
 * @example
 * ```ts
 * if (!(await isRunDir(entry.artifacts, entry.runId))) forget(entry.artifacts);
 * ```
 */
export async function isRunDir(path: string, runId: string): Promise<boolean> {
	return isRunPath(path, runId) && (await isOurs(dirname(path))) && (await isOurs(path));
}

/** A link is never ours. */
async function isOurs(dir: string): Promise<boolean> {
	try {
		const found = await lstat(dir);
		return found.isDirectory() && !isStrangers(found.uid);
	} catch (error) {
		if (codeOf(error) === "ENOENT") return true;
		throw error;
	}
}

/** `others`: users who may own it as well. */
function isStrangers(uid: number, ...others: number[]): boolean {
	return process.getuid !== undefined && ![process.getuid(), ...others].includes(uid);
}

function withinProject(root: string): string {
	const realRoot = realpathSync.native(root);
	const owner = statSync(realRoot).uid;
	const above = [join(root, RUNS_PATH[0]), join(root, RUNS_PATH[0], RUNS_PATH[1])];
	const open: string[] = [];
	for (const dir of above) {
		makeDir(dir, 0o755);
		// Before creating anything in it: a repository may contain a link to anywhere.
		if (!isWithin(realpathSync.native(dir), realRoot))
			throw new Error(`${dir} is a link that leads out of the project`);
		const { uid, mode } = statSync(dir);
		if (isStrangers(uid, ROOT, owner)) throw new Error(`${dir} belongs to another user than the project`);
		if (mode & EVERYBODY_WRITES && !(mode & ONLY_ONES_OWN)) open.push(dir);
	}
	const dir = join(root, ...RUNS_PATH);
	makeDir(dir, 0o700);
	const found = lstatSync(dir);
	if (!found.isDirectory()) throw new Error(`${dir} is not a directory`);
	if (isStrangers(found.uid)) throw new Error(`${dir} belongs to another user`);
	if (found.mode & 0o077) hideDirectory(dir);
	// A file system without permissions reports this for everything.
	if (open.length > 0 && (lstatSync(dir).mode & 0o077) === 0)
		throw new Error(`everyone can write in ${open[0]} and replace it: chmod o-w ${open[0]}`);
	assertWritable(dir);
	// One that came with the project may say something else and stays: each run has its own, too.
	const ignore = join(dir, RUN_FILES.ignore);
	if (!isThere(ignore)) unlessThere(() => createFileSync(ignore, IGNORE_ALL));
	return dir;
}

const ROOT = 0;
const EVERYBODY_WRITES = 0o002;
/** As in temporary directories: everyone may add files, but delete only their own. */
const ONLY_ONES_OWN = 0o1000;

function assertWritable(dir: string): void {
	accessSync(dir, constants.W_OK | constants.X_OK);
	const { blocks, bavail, bsize } = statfsSync(dir);
	// A file system that reports no blocks does not count them.
	if (blocks > 0 && bavail * bsize < MIN_FREE_BYTES) throw new Error(`the disk of ${dir} is full`);
}

/** The same for a project each time, so that leftovers can be found and deleted. */
function elsewhere(root: string, parent: string, why: string): string {
	const project = createHash("sha256").update(root).digest("hex").slice(0, 12);
	const dir = join(parent, fallbackName(userInfo().uid, project));
	try {
		makeDir(dir, 0o700);
		// Anyone may create a directory of this name there.
		return isOursAlone(dir) ? dir : mkdtempSync(`${dir}-`);
	} catch (alas) {
		throw new Error(`Agents' files cannot be stored: ${why}; ${messageOf(alas)}`);
	}
}

function isOursAlone(dir: string): boolean {
	const found = lstatSync(dir);
	const isOurs = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o077) === 0);
	return found.isDirectory() && isOurs;
}

function makeDir(dir: string, mode: number): void {
	if (!isThere(dir)) unlessThere(() => mkdirSync(dir, { mode }));
}

/** A link counts, even a dangling one. */
function isThere(path: string): boolean {
	return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Ignores that another process was first. */
function unlessThere(make: () => void): void {
	try {
		make();
	} catch (error) {
		if (codeOf(error) !== "EEXIST") throw error;
	}
}
