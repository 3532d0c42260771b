/** The directory that holds a directory for each run's files: in the project, or elsewhere if that cannot be. */
import { createHash } from "node:crypto";
import {
	accessSync,
	chmodSync,
	constants,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	realpathSync,
	statfsSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { lstat } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import { messageOf } from "../best-effort.ts";
import { codeOf } from "./code-of.ts";
import { isWithin } from "./within.ts";

export interface RunsDir {
	dir: string;
	/** Why it is not where it is expected, and where it is. */
	warning?: string;
}

/** With less than this left, files would be cut off. */
const MIN_FREE_BYTES = 1024 * 1024;

const PLACE = [".pi", "subagents", "runs"] as const;

/**
 * Makes `.pi/subagents/runs` below `root`, which nobody else may read and git does not see. Where that cannot be made
 * or written, or where somebody else could put another in its place, a directory below `fallback` is used; the system's
 * place for temporary files, when absent. Every launch waits for it, so it looks synchronously: a dozen looks one after
 * the other take a fraction of the time that they take in other threads.
 *
 * @example
 * ```ts
 * const { dir, warning } = await prepareRunsDir(projectRoot);
 * ```
 */
export async function prepareRunsDir(root: string, fallback: string = tmpdir()): Promise<RunsDir> {
	try {
		return { dir: withinProject(root) };
	} catch (error) {
		const why = messageOf(error);
		const dir = elsewhere(root, fallback, why);
		return { dir, warning: `The files of agents are kept in ${dir}, since the project has no place for them: ${why}` };
	}
}

/**
 * Whether a path that stands in a file, which anybody may have edited, can be the directory of this run: in a place that
 * `prepareRunsDir` gives. Nothing else is read as a run's. Only looks at the path itself.
 */
export function isRunPath(path: string, runId: string): boolean {
	const runs = dirname(path);
	const isPlain = isAbsolute(path) && !path.split(/[\\/]/).includes("..") && basename(path) === runId;
	return isPlain && (runs.endsWith(sep + join(...PLACE)) || ELSEWHERE.test(basename(runs)));
}

/**
 * Whether it also leads there and is ours, so that something may be written to it. One that is gone counts, too.
 *
 * @example
 * ```ts
 * if (!(await isRunDir(entry.artifacts, entry.runId))) forget(entry.artifacts);
 * ```
 */
export async function isRunDir(path: string, runId: string): Promise<boolean> {
	return isRunPath(path, runId) && (await isOurs(dirname(path))) && (await isOurs(path));
}

/** A link is nobody's. */
async function isOurs(dir: string): Promise<boolean> {
	try {
		const found = await lstat(dir);
		return found.isDirectory() && !isStrangers(found.uid);
	} catch (error) {
		if (codeOf(error) === "ENOENT") return true;
		throw error;
	}
}

/** `others` are users who may have made it as well. */
function isStrangers(uid: number, ...others: number[]): boolean {
	return process.getuid !== undefined && ![process.getuid(), ...others].includes(uid);
}

function withinProject(root: string): string {
	const realRoot = realpathSync.native(root);
	const owner = statSync(realRoot).uid;
	const above = [join(root, PLACE[0]), join(root, PLACE[0], PLACE[1])];
	const open: string[] = [];
	for (const dir of above) {
		makeDir(dir, 0o755);
		// Before anything is made in it: a repository may bring a link to anywhere.
		if (!isWithin(realpathSync.native(dir), realRoot))
			throw new Error(`${dir} is a link that leads out of the project`);
		const { uid, mode } = statSync(dir);
		if (isStrangers(uid, ROOT, owner)) throw new Error(`${dir} belongs to another user than the project`);
		if (mode & EVERYBODY_WRITES && !(mode & ONLY_ONES_OWN)) open.push(dir);
	}
	const dir = join(root, ...PLACE);
	makeDir(dir, 0o700);
	const found = lstatSync(dir);
	if (!found.isDirectory()) throw new Error(`${dir} is not a directory`);
	if (isStrangers(found.uid)) throw new Error(`${dir} belongs to another user`);
	if (found.mode & 0o077) chmodSync(dir, 0o700);
	// A file system that keeps no rights says this of everything, and it means nothing.
	if (open.length > 0 && (lstatSync(dir).mode & 0o077) === 0)
		throw new Error(`everybody can write in ${open[0]}, and put something else there: chmod o-w ${open[0]}`);
	assertWritable(dir);
	const ignore = join(dir, ".gitignore");
	if (!isThere(ignore)) unlessThere(() => writeFileSync(ignore, "*\n", { flag: "wx" }));
	return dir;
}

const ROOT = 0;
const EVERYBODY_WRITES = 0o002;
/** As in places for temporary files, where everybody may add something, and take away only their own. */
const ONLY_ONES_OWN = 0o1000;

function assertWritable(dir: string): void {
	accessSync(dir, constants.W_OK | constants.X_OK);
	const { blocks, bavail, bsize } = statfsSync(dir);
	// A file system without any blocks does not count them.
	if (blocks > 0 && bavail * bsize < MIN_FREE_BYTES) throw new Error(`the disk of ${dir} is full`);
}

const ELSEWHERE = /^pi-subagents--?\d+-[0-9a-f]{12}(-\w{6})?$/;

/** Always the same for a project, so that what was left there can be found again and deleted. */
function elsewhere(root: string, parent: string, why: string): string {
	const project = createHash("sha256").update(root).digest("hex").slice(0, 12);
	const dir = join(parent, `pi-subagents-${userInfo().uid}-${project}`);
	try {
		makeDir(dir, 0o700);
		// Everybody may make things in such a place, also under this name.
		return isOursAlone(dir) ? dir : mkdtempSync(`${dir}-`);
	} catch (alas) {
		throw new Error(`There is no place for the files of agents: ${why}; ${messageOf(alas)}`);
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

/** A link counts, also one that leads nowhere. */
function isThere(path: string): boolean {
	return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** For what somebody else may make in the same moment. */
function unlessThere(make: () => void): void {
	try {
		make();
	} catch (error) {
		if (codeOf(error) !== "EEXIST") throw error;
	}
}
