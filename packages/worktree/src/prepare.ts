/**
 * Makes a new checkout ready to work in: links to directories of the user's checkout, copies of files that git ignores,
 * and a command. Everything it brings is ignored by git, so none of it enters a commit; links lead only into the user's
 * checkout, and removing the new one removes the links alone.
 */
import type { Stats } from "node:fs";
import { lstat, mkdir, readdir, realpath, symlink } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import type { Clock } from "@pi-subagents/core";
import { AgentError } from "@pi-subagents/core";
import { ifMissing, quoted } from "@pi-subagents/core/internal/base";
import { copyPlain, isWithin, leadsInto, readPlain } from "@pi-subagents/core/internal/files";
import type { WorktreeSetup } from "@pi-subagents/core/internal/run";
import { commandText, runCommand } from "@pi-subagents/core/shell";
import { type Git, tryGit } from "./git.ts";
import type { WorktreeRecord } from "./worktree-record.ts";

export interface PrepareOptions {
	git: Git;
	clock: Clock;
	signal?: AbortSignal | undefined;
}

/** In the user's checkout: patterns of files to copy, as in `.gitignore`. */
const INCLUDE_FILE = ".worktreeinclude";
const MAX_INCLUDE_BYTES = 64 * 1024;
const MAX_FILES = 10_000;
const MAX_BYTES = 500 * 1024 * 1024;

/** Returns notes for the agent. Rejects if it cannot be made ready: then it must not be used. */
export async function prepareCheckout(
	record: WorktreeRecord & { gitDir: string },
	setup: WorktreeSetup,
	options: PrepareOptions,
): Promise<string[]> {
	const links = await linkAll(record, setup.link ?? [], options);
	const copied = await copyAll(record, [...(setup.include ?? []), ...(await patternsIn(record, setup))], options);
	await runSetup(record, setup, options);
	return [
		...(links.length > 0 ? [`${links.join(", ")}: linked from ${record.main}; do not change what is in there.`] : []),
		...(copied > 0
			? [`${copied === 1 ? "One ignored file was" : `${copied} ignored files were`} copied from there.`]
			: []),
	];
}

/** A directory becomes a directory of links, since `name/` in `.gitignore` matches no link. */
async function linkAll(
	{ main, root, gitDir }: WorktreeRecord & { gitDir: string },
	wanted: readonly string[],
	{ git, signal }: PrepareOptions,
): Promise<string[]> {
	const made: string[] = [];
	for (const given of wanted) {
		const path = insidePath(given, "link");
		const from = join(main, path);
		const found = await lookAt(from);
		if (!found) continue; // not everybody has it
		if (!isWithin(await realpath(from), await realpath(main)))
			throw refused(`link: ${quoted(given)} leads out of ${main}`);
		const to = join(root, path);
		if (await lookAt(to)) continue; // git has it
		const asked = ["check-ignore", "--quiet", "--no-index", found.isDirectory() ? `${path}/` : path];
		if ((await tryGit(git, asked, { cwd: root, gitDir, signal })) === undefined)
			throw refused(
				`link: git does not ignore ${quoted(given)}, so it would be committed; add it to .gitignore and commit that`,
			);
		await mkdirInside(root, dirname(to));
		if (found.isDirectory()) {
			await mkdir(to);
			for (const name of await readdir(from)) await symlink(join(from, name), join(to, name));
		} else await symlink(from, to);
		made.push(path);
	}
	return made;
}

/** Only files that git ignores: all others are in the checkout, or the user has not decided about them. */
async function copyAll(
	{ main, root }: WorktreeRecord,
	patterns: readonly string[],
	{ git, signal }: PrepareOptions,
): Promise<number> {
	if (patterns.length === 0) return 0;
	for (const pattern of patterns)
		if (pattern.split("/").includes("..") || /^[A-Za-z]:[\\/]/.test(pattern) || pattern.startsWith("~"))
			throw refused(`include: ${quoted(pattern)} leaves the checkout`);
	if (patterns.some((pattern) => pattern.includes("\0"))) throw refused("include: a pattern has a NUL character");
	const here = { cwd: main, signal };
	const excludes = patterns.map((pattern) => `--exclude=${pattern}`);
	const matching = await git(["ls-files", "--others", "--ignored", "-z", ...excludes], here);
	if (matching === "") return 0;
	// Exits with 1 if none is ignored.
	const ignored = (await tryGit(git, ["check-ignore", "-z", "--stdin"], { ...here, input: matching })) ?? "";
	const paths = ignored.split("\0").filter((path) => path !== "");
	if (paths.length > MAX_FILES)
		throw refused(`include: ${paths.length} files match, more than ${MAX_FILES}; link the directory`);
	let bytes = 0;
	let count = 0;
	for (const path of paths) {
		signal?.throwIfAborted();
		const found = await lookAt(join(main, path));
		const to = join(root, insidePath(path, "include"));
		if (!found?.isFile() || (await lookAt(to))) continue; // links and sockets are not copied
		if (bytes + found.size > MAX_BYTES) throw refused("include: the files are larger than 500 MB together");
		await mkdirInside(root, dirname(to));
		bytes += (await copyPlain(join(main, path), to, { maxBytes: MAX_BYTES - bytes })).size;
		count++;
	}
	return count;
}

async function patternsIn({ main }: WorktreeRecord, { readsIncludeFile }: WorktreeSetup): Promise<string[]> {
	if (!readsIncludeFile) return [];
	const bytes = await readPlain(join(main, INCLUDE_FILE), MAX_INCLUDE_BYTES).catch(ifMissing(undefined));
	const lines = (bytes?.toString("utf8") ?? "").split("\n").map((line) => line.trim());
	return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

async function runSetup(
	{ cwd, root }: WorktreeRecord,
	{ setup, setupTimeoutMs }: WorktreeSetup,
	{ clock, signal }: PrepareOptions,
): Promise<void> {
	if (setup === undefined) return;
	await mkdir(cwd, { recursive: true });
	const end = await runCommand({ command: setup, cwd: root, clock, timeoutMs: setupTimeoutMs, signal });
	signal?.throwIfAborted();
	if (end.how === "exited" && end.code === 0) return;
	const why = end.how === "timed_out" ? "took too long" : (end.why ?? `exited with code ${end.code}`);
	throw refused(`setup: ${commandText(setup)} ${why}${end.tail === "" ? "" : `\n${end.tail}`}`);
}

/** A relative path that stays below the checkout and out of `.git`. A file that git lists may begin with a tilde. */
function insidePath(given: string, field: "link" | "include"): string {
	const path = normalize(given).replace(/[\\/]+$/, "");
	const parts = path.split(sep);
	const isHome = field === "link" && path.startsWith("~");
	const isInside = path !== "" && path !== "." && !isAbsolute(path) && !isHome && !parts.includes("..");
	if (!isInside || parts.some((part) => part.toLowerCase() === ".git"))
		throw refused(`${field}: ${quoted(given)} leaves the checkout`);
	return path;
}

/** A tracked link must not lead what is written out of the checkout. */
async function mkdirInside(root: string, dir: string): Promise<void> {
	if (!leadsInto(root, dir)) throw refused(`${quoted(dir)} leads out of the checkout`);
	await mkdir(dir, { recursive: true });
}

/** Undefined if nothing is there; rejects if that is unknown. */
export async function lookAt(path: string): Promise<Stats | undefined> {
	return lstat(path).catch(ifMissing(undefined));
}

function refused(why: string): AgentError {
	return new AgentError("no_worktree", `The agent's worktree cannot be made ready. ${why}.`);
}
