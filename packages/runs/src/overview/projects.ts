/**
 * The user's index of the directories that hold runs, for programs outside pi. One small file per directory, whose
 * content is the directory's path and nothing else. It is a hint: every path is checked before use, and a lost index is
 * made again from pi's sessions.
 */

import { createHash } from "node:crypto";
import { lstat, mkdir, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, sep } from "node:path";
import { codeOf, ifMissing, isMissing, parseJson } from "@pi-subagents/core/internal/base";
import {
	createWhole,
	isFallbackName,
	isWithin,
	namesIn,
	openPlain,
	RUNS_PATH,
	readPlain,
	touchPlain,
} from "@pi-subagents/core/internal/files";
import { checkArguments } from "@pi-subagents/progress";
import { isRunPath } from "../runs-dir.ts";

/** More projects than a person works on; the ones used longest ago are forgotten first. */
const MAX_PROJECTS = 500;
const MAX_PATH_BYTES = 16 * 1024;

function projectsDir(agentDir: string): string {
	return join(agentDir, "state", "subagents", "projects");
}

/**
 * Adds a directory from `prepareRunsDir` to the index, or marks it as used again.
 *
 * @example
 * ```ts
 * const { dir } = await prepareRunsDir(projectRoot);
 * await rememberRunsDir(agentDir, dir);
 * ```
 */
export async function rememberRunsDir(agentDir: string, dir: string): Promise<void> {
	const index = projectsDir(agentDir);
	const path = join(index, createHash("sha256").update(dir).digest("hex").slice(0, 16));
	try {
		return await touchPlain(path);
	} catch (error) {
		if (!isMissing(error)) throw error;
	}
	await mkdir(index, { recursive: true, mode: 0o700 });
	await createWhole(path, `${dir}\n`, { isDurable: false });
	await forgetOldest(index);
}

async function forgetOldest(index: string): Promise<void> {
	const names = await namesIn(index);
	if (names.length <= MAX_PROJECTS) return;
	const dated = await Promise.all(names.map(async (name) => ({ name, usedAt: await changedAt(join(index, name)) })));
	const newestFirst = dated.toSorted((one, other) => other.usedAt - one.usedAt);
	for (const { name } of newestFirst.slice(MAX_PROJECTS)) await rm(join(index, name), { force: true });
}

async function changedAt(path: string): Promise<number> {
	return stat(path).then(({ mtimeMs }) => mtimeMs, ifMissing(0));
}

/**
 * All directories with runs that are known to the user's index, or lie above `cwd`. Only those that really are the
 * user's are returned, so their runs may be read.
 *
 * @example
 * ```ts
 * for (const dir of await findRunsDirs({ agentDir, cwd: process.cwd() })) console.log(dir);
 * ```
 */
export async function findRunsDirs(options: { agentDir: string; cwd: string }): Promise<string[]> {
	checkArguments({
		options: [options, "object"],
		"options.agentDir": [options?.agentDir, "string"],
		"options.cwd": [options?.cwd, "string"],
	});
	const { agentDir, cwd } = options;
	const known = (await readIndex(agentDir)) ?? (await rebuildIndex(agentDir));
	const candidates = [...new Set([...known, ...(await runsDirsAbove(cwd))])];
	const checked = await Promise.all(candidates.map(async (dir) => ((await isRunsDir(dir)) ? [dir] : [])));
	return checked.flat();
}

/** Undefined if there is no index. */
async function readIndex(agentDir: string): Promise<string[] | undefined> {
	const index = projectsDir(agentDir);
	const names = (await namesIn(index)).filter((name) => /^[0-9a-f]{16}$/.test(name)).slice(0, 2 * MAX_PROJECTS);
	if (names.length === 0) return undefined;
	const paths = await Promise.all(names.map((name) => readPath(join(index, name))));
	return paths.filter((path) => path !== undefined);
}

/** Anything may be in the file: a broken one is as good as none. */
async function readPath(file: string): Promise<string | undefined> {
	try {
		return (await readPlain(file, MAX_PATH_BYTES))?.toString("utf8").replace(/\n$/, "");
	} catch (error) {
		if (codeOf(error) === undefined) throw error;
		return undefined;
	}
}

/** From the directories in which pi's sessions were, and from the temporary directory. */
async function rebuildIndex(agentDir: string): Promise<string[]> {
	const found = new Set<string>();
	const sessions = join(agentDir, "sessions");
	for (const name of (await namesIn(sessions)).slice(0, 2 * MAX_PROJECTS)) {
		const cwd = await cwdOfSessions(join(sessions, name));
		for (const dir of cwd === undefined ? [] : await runsDirsAbove(cwd)) found.add(dir);
	}
	for (const name of await namesIn(tmpdir())) if (isFallbackName(name)) found.add(join(tmpdir(), name));
	const ours = (await Promise.all([...found].map(async (dir) => ((await isRunsDir(dir)) ? [dir] : [])))).flat();
	for (const dir of ours.slice(0, MAX_PROJECTS)) await rememberRunsDir(agentDir, dir);
	return ours;
}

/** Sessions in one directory of pi's have the same working directory, which is in the first line of each. */
async function cwdOfSessions(dir: string): Promise<string | undefined> {
	try {
		const newest = (await namesIn(dir))
			.filter((name) => name.endsWith(".jsonl"))
			.toSorted()
			.at(-1);
		const header = newest === undefined ? undefined : parseJson(await firstLine(join(dir, newest)));
		const cwd = typeof header === "object" && header !== null && "cwd" in header ? header.cwd : undefined;
		return typeof cwd === "string" && isAbsolute(cwd) ? cwd : undefined;
	} catch (error) {
		if (codeOf(error) === undefined) throw error;
		return undefined; // not a directory, or not a file
	}
}

async function firstLine(path: string): Promise<string> {
	const file = await openPlain(path);
	try {
		const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_PATH_BYTES), 0, MAX_PATH_BYTES, 0);
		return buffer.subarray(0, bytesRead).toString("utf8").split("\n", 1)[0] ?? "";
	} finally {
		await file.close();
	}
}

/** A project keeps its runs in its root, which may lie above the session's directory. */
async function runsDirsAbove(cwd: string): Promise<string[]> {
	const found: string[] = [];
	for (let at = cwd, above = ""; at !== above; above = at, at = dirname(at)) {
		const dir = join(at, ...RUNS_PATH);
		if (await isDirectory(dir)) found.push(dir);
	}
	return found;
}

/** Whether a path from a file that anyone may have edited is a directory of runs, ours, and where it claims to be. */
async function isRunsDir(dir: string): Promise<boolean> {
	if (!isRunPath(join(dir, "any"), "any") || !(await isDirectory(dir))) return false;
	const suffix = sep + join(...RUNS_PATH);
	const root = dir.endsWith(suffix) ? dir.slice(0, -suffix.length) || sep : dirname(dir);
	return isWithin(await realpath(dir), await realpath(root));
}

/** Ours, and no link. */
async function isDirectory(path: string): Promise<boolean> {
	try {
		const found = await lstat(path);
		return found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid());
	} catch (error) {
		if (codeOf(error) === undefined) throw error;
		return false;
	}
}
