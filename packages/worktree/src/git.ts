/**
 * Runs git without a shell, in the intended repository only, and never waiting for a person. Hooks do not run and
 * nothing is signed: saving work must not depend on the repository's setup. None of its own settings may run or
 * contact anything unless allowed (`own-config.ts`).
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { defined, isShortage, whyNotStarted } from "@pi-subagents/core/internal/base";
import { signalChild } from "@pi-subagents/core/internal/signals";
import { type Allowed, LIST_SETTINGS, type OwnSettings, ownSettings, readSettings } from "./own-config.ts";

export interface GitOptions {
	/** The working directory. */
	cwd: string;
	/** The git directory of this checkout, if what is in `cwd` must not decide: an agent may have changed it. */
	gitDir?: string | undefined;
	/** The index file to use. */
	index?: string | undefined;
	/** Settings for this call, by name. */
	config?: Readonly<Record<string, string>> | undefined;
	/** How to treat the repository's own settings. When absent, they are read and none is allowed. */
	own?: OwnSettings | undefined;
	input?: string | undefined;
	signal?: AbortSignal | undefined;
	timeoutMs?: number | undefined;
}

/** git's output without the final line break. Rejects with `GitError` or `GitNotStarted`. */
export type Git = (args: readonly string[], options: GitOptions) => Promise<string>;

export class GitError extends Error {
	override readonly name = "GitError";
	/** git is not installed. */
	readonly isMissing: boolean;
	/** git's error output. */
	readonly stderr: string;
	readonly stdout: string;
	/** The exit code, if it exited by itself. */
	readonly status: number | undefined;

	constructor(message: string, about: Pick<GitError, "isMissing" | "stderr" | "stdout" | "status">) {
		super(message);
		this.isMissing = about.isMissing;
		this.stderr = about.stderr;
		this.stdout = about.stdout;
		this.status = about.status;
	}
}

/** Resources were short, for example too many open files. Not a `GitError`, since git did not refuse. */
export class GitNotStarted extends Error {
	override readonly name = "GitNotStarted";
}

/** Longer than any real operation: a checkout of a huge repository on a slow disk. */
const LONGEST_MS = 10 * 60_000;

/** A longer status is of no use. */
const MAX_BYTES = 64 * 1024 * 1024;

/** git's variables that identify the user and locate git and its settings. */
const KEPT_VARIABLES =
	/^GIT_(?:EXEC_PATH|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL))$/;

const ALWAYS: Readonly<Record<string, string>> = {
	// A directory that looks like a repository may be part of a stranger's files.
	"safe.bareRepository": "explicit",
	"core.hooksPath": devNull,
	"core.fsmonitor": "false",
	"core.quotePath": "false",
	// Mixed line ends are the agent's business, and no reason to lose work.
	"core.safecrlf": "false",
	"core.splitIndex": "false",
	// Many agents may end at once and wait for each other's locks.
	"core.packedRefsTimeout": "10000",
	"core.filesRefLockTimeout": "10000",
	"commit.gpgSign": "false",
	"gc.auto": "0",
	"maintenance.auto": "false",
	// git would run inside them, with their settings and without these.
	"submodule.recurse": "false",
	"diff.submodule": "short",
	"diff.ignoreSubmodules": "dirty",
	"i18n.commitEncoding": "utf-8",
};

/** `env` locates git and the user's settings; default: this process's environment. */
export function gitWith(env: NodeJS.ProcessEnv = process.env): Git {
	const kept = Object.entries(env).filter(([name]) => !name.startsWith("GIT_") || KEPT_VARIABLES.test(name));
	const base: NodeJS.ProcessEnv = {
		...Object.fromEntries(kept),
		LC_ALL: "C",
		GIT_TERMINAL_PROMPT: "0",
		GIT_EDITOR: ":",
		GIT_PAGER: "cat",
		GIT_OPTIONAL_LOCKS: "0", // reading must not disturb the user's own git
		GIT_LFS_SKIP_SMUDGE: "1",
	};
	const git: Git = (args, options) => retryLocked(() => run(base, args, options), options.signal);
	return async (args, options) => git(args, { ...options, own: options.own ?? (await ownFor(git, args, options, [])) });
}

/** The same git with the allowed settings of the repository. They are read once per checkout. */
export function allowing(git: Git, allowed: Allowed): Git {
	const known = new Map<string, Promise<string>>();
	const remembering: Git = (args, options) => {
		if (args !== LIST_SETTINGS) return git(args, options);
		const key = `${options.cwd}\0${options.gitDir ?? ""}`;
		const listed = known.get(key) ?? git(args, options);
		known.set(key, listed);
		listed.catch(() => known.delete(key)); // this call rejects; the next one reads again
		return listed;
	};
	return async (args, options) =>
		remembering(args, { ...options, own: options.own ?? (await ownFor(remembering, args, options, allowed)) });
}

/** They only read files or names, which these settings do not affect. */
const LOOKS: ReadonlySet<string> = new Set(["config", "rev-parse"]);

const NOTHING_OWN: OwnSettings = { config: {}, reachesOut: false };

async function ownFor(git: Git, args: readonly string[], options: GitOptions, allowed: Allowed): Promise<OwnSettings> {
	if (LOOKS.has(args[0] ?? "")) return NOTHING_OWN;
	return ownSettings(await readSettings(git, options), allowed);
}

/** Errors that a concurrent git causes while it adds or removes a checkout. They pass when it is done. */
const PASSING =
	/failed to read \S*worktrees\/|\.lock': File exists|cannot lock ref '[^']*': Unable to create|could not lock config/i;

/** An older lock was left by a killed git and will not go away. */
const LOCK_TIMEOUT_MS = 20_000;

async function retryLocked(work: () => Promise<string>, signal: AbortSignal | undefined): Promise<string> {
	const beganAt = performance.now();
	for (let attempt = 1; ; attempt++) {
		try {
			return await work();
		} catch (error) {
			const isPassing = error instanceof GitError && PASSING.test(error.stderr);
			if (!isPassing || performance.now() - beganAt > LOCK_TIMEOUT_MS) throw error;
		}
		// Randomized, so that waiting processes do not retry at the same time.
		await sleep(10 + Math.random() * 10 * attempt, undefined, signal ? { signal } : {});
	}
}

function run(base: NodeJS.ProcessEnv, args: readonly string[], options: GitOptions): Promise<string> {
	const { cwd, gitDir, index, config = {}, own = NOTHING_OWN, input, signal, timeoutMs = LONGEST_MS } = options;
	const env = {
		...base,
		...(own.reachesOut ? {} : UNCONNECTED),
		...configVariables({ ...ALWAYS, ...own.config, ...config }),
		...defined({ GIT_INDEX_FILE: index }),
	};
	const directories = gitDir === undefined ? [] : [`--git-dir=${gitDir}`, `--work-tree=${cwd}`];
	return new Promise((resolve, reject) => {
		if (signal?.aborted) return reject(signal.reason);
		const child = execFile(
			"git",
			["-C", cwd, ...directories, ...plain(args)],
			{
				cwd: "/", // a missing cwd would look like a missing git
				env,
				encoding: "utf8",
				maxBuffer: MAX_BYTES,
				windowsHide: true,
			},
			(error, stdout, stderr) => {
				clearTimeout(tooLong);
				clearTimeout(unheard);
				signal?.removeEventListener("abort", end);
				if (!error) return resolve(stdout.replace(/\n$/, ""));
				if (signal?.aborted) return reject(signal.reason);
				reject(failure(args, error, { stdout, stderr, timeoutMs }));
			},
		);
		let unheard: NodeJS.Timeout | undefined;
		// On SIGTERM git removes its locks. Wait for its exit: it may still write.
		const end = () => {
			signalChild(child, "SIGTERM");
			unheard = setTimeout(() => signalChild(child, "SIGKILL"), GRACE_MS);
		};
		const tooLong = setTimeout(end, timeoutMs);
		signal?.addEventListener("abort", end, { once: true });
		child.stdin?.on("error", () => undefined); // it ended without reading; its exit counts
		child.stdin?.end(input ?? "");
	});
}

const GRACE_MS = 2_000;

/** Older gits know only the first: missing objects of a partial clone are then not fetched over any protocol. */
const UNCONNECTED: NodeJS.ProcessEnv = { GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" };

/** git's own diff, not that of a program the repository configures. */
function plain([command = "", ...rest]: readonly string[]): string[] {
	return [command, ...(command === "diff" ? ["--no-ext-diff", "--no-textconv"] : []), ...rest];
}

/** As variables, since a name may contain anything. */
function configVariables(config: Readonly<Record<string, string>>): Record<string, string> {
	const entries = Object.entries(config);
	const variables = entries.map(([name, value], index) => [
		[`GIT_CONFIG_KEY_${index}`, name],
		[`GIT_CONFIG_VALUE_${index}`, value],
	]);
	return { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(variables.flat()) };
}

function failure(
	args: readonly string[],
	error: Error & { code?: unknown; killed?: boolean },
	{ stdout, stderr, timeoutMs }: { stdout: string; stderr: string; timeoutMs: number },
): Error {
	if (isShortage(error)) return new GitNotStarted(`git could not be started: ${whyNotStarted(error)}`);
	const isMissing = error.code === "ENOENT" || error.code === "EACCES";
	const about = { isMissing, stdout, stderr, status: typeof error.code === "number" ? error.code : undefined };
	if (isMissing) return new GitError("git could not be started: it is not installed, or not in PATH.", about);
	const why = error.killed ? `it took longer than ${timeoutMs / 1_000} s` : lastLines(stderr) || error.message;
	return new GitError(`git ${args[0]} failed: ${why}`, about);
}

/** git's error lines; without any, the last lines without hints. */
function lastLines(stderr: string): string {
	const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("hint:"));
	const errors = lines.filter((line) => /^(?:fatal|error): /.test(line));
	return (errors.length > 0 ? errors : lines).slice(-3).join("; ").slice(-500);
}

/** The output; undefined if git refuses. */
export async function tryGit(git: Git, args: readonly string[], options: GitOptions): Promise<string | undefined> {
	try {
		return await git(args, options);
	} catch (error) {
		if (error instanceof GitError && !error.isMissing) return undefined;
		throw error;
	}
}

/** The commit or tree with this name; undefined if there is none. */
export function objectOf(git: Git, name: string, options: GitOptions): Promise<string | undefined> {
	return tryGit(git, ["rev-parse", "--verify", "--quiet", name], options);
}

/** For files that git needs during the work, such as an index. */
export async function withTempDir<Result>(work: (dir: string) => Promise<Result>): Promise<Result> {
	const dir = await mkdtemp(join(tmpdir(), "pi-subagents-git-"));
	try {
		return await work(dir);
	} finally {
		await rm(dir, { recursive: true, force: true });
	}
}
