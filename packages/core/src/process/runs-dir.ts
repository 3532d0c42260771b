/** The directory that holds a directory for each run's files: in the project, or elsewhere if that cannot be. */
import { createHash } from "node:crypto";
import { access, chmod, constants, lstat, mkdir, mkdtemp, realpath, statfs, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
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

/**
 * Makes `.pi/subagents/runs` below `root`, which nobody else may read and git does not see. Where that cannot be made
 * or written, a directory below `fallback` takes its place; the system's place for temporary files, when absent.
 *
 * @example
 * ```ts
 * const { dir, warning } = await prepareRunsDir(projectRoot);
 * ```
 */
export async function prepareRunsDir(root: string, fallback: string = tmpdir()): Promise<RunsDir> {
	try {
		return { dir: await withinProject(root) };
	} catch (error) {
		const why = messageOf(error);
		const dir = await elsewhere(root, fallback).catch((alas) => {
			throw new Error(`There is no place for the files of agents: ${why}; ${messageOf(alas)}`);
		});
		return { dir, warning: `The files of agents are kept in ${dir}, since the project has no place for them: ${why}` };
	}
}

async function withinProject(root: string): Promise<string> {
	const realRoot = await realpath(root);
	const above = join(root, ".pi", "subagents");
	for (const dir of [join(root, ".pi"), above]) {
		await makeDir(dir, 0o755);
		// Before anything is made in it: a repository may bring a link to anywhere.
		if (!isWithin(await realpath(dir), realRoot)) throw new Error(`${dir} is a link that leads out of the project`);
	}
	const dir = join(above, "runs");
	await makeDir(dir, 0o700);
	const found = await lstat(dir);
	if (!found.isDirectory()) throw new Error(`${dir} is not a directory`);
	if (found.mode & 0o077) await chmod(dir, 0o700);
	await assertWritable(dir);
	await unlessThere(() => writeFile(join(dir, ".gitignore"), "*\n", { flag: "wx" }));
	return dir;
}

async function assertWritable(dir: string): Promise<void> {
	await access(dir, constants.W_OK | constants.X_OK);
	const { blocks, bavail, bsize } = await statfs(dir);
	// A file system without any blocks does not count them.
	if (blocks > 0 && bavail * bsize < MIN_FREE_BYTES) throw new Error(`the disk of ${dir} is full`);
}

/** Always the same for a project, so that what was left there can be found again and deleted. */
async function elsewhere(root: string, parent: string): Promise<string> {
	const project = createHash("sha256").update(root).digest("hex").slice(0, 12);
	const dir = join(parent, `pi-subagents-${userInfo().uid}-${project}`);
	await makeDir(dir, 0o700);
	// Everybody may make things in such a place, also under this name.
	return (await isOursAlone(dir)) ? dir : mkdtemp(`${dir}-`);
}

async function isOursAlone(dir: string): Promise<boolean> {
	const found = await lstat(dir);
	const isOurs = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o077) === 0);
	return found.isDirectory() && isOurs;
}

async function makeDir(dir: string, mode: number): Promise<void> {
	await unlessThere(() => mkdir(dir, { mode }));
}

async function unlessThere(make: () => Promise<unknown>): Promise<void> {
	try {
		await make();
	} catch (error) {
		if (codeOf(error) !== "EEXIST") throw error;
	}
}
