/**
 * Runs git for us: without a shell, in the repository that is meant and no other, and so that nothing waits for a person.
 * Hooks do not run and nothing is signed: what is kept here must be kept, whatever the repository is set up to do.
 */
import { execFile } from "node:child_process";
import { devNull } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

export interface GitOptions {
	/** The directory it is about. */
	cwd: string;
	/** The repository's own directory of this checkout, where what lies in `cwd` must not decide: an agent may have changed it. */
	gitDir?: string | undefined;
	/** The file that is taken for the index. */
	index?: string | undefined;
	/** Settings that count for this call, by name. */
	config?: Readonly<Record<string, string>> | undefined;
	input?: string | undefined;
	signal?: AbortSignal | undefined;
	timeoutMs?: number | undefined;
}

/** What git wrote to its output, without the last line break. Rejects with a `GitError`. */
export type Git = (args: readonly string[], options: GitOptions) => Promise<string>;

export class GitError extends Error {
	override readonly name = "GitError";
	/** There is no git to run. */
	readonly isMissing: boolean;
	/** What git said. */
	readonly stderr: string;
	readonly stdout: string;
	/** How it ended, where it did so by itself. */
	readonly status: number | undefined;

	constructor(message: string, about: Pick<GitError, "isMissing" | "stderr" | "stdout" | "status">) {
		super(message);
		this.isMissing = about.isMissing;
		this.stderr = about.stderr;
		this.stdout = about.stdout;
		this.status = about.status;
	}
}

/** Longer than any real work of this kind takes: a checkout of a huge repository on a slow disk. */
const LONGEST_MS = 10 * 60_000;

/** A status of more than that is of no use to anybody. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Of the variables that git knows, those that say who the user is and where git itself and its settings are. */
const KEPT =
	/^GIT_(?:EXEC_PATH|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL))$/;

const ALWAYS: Readonly<Record<string, string>> = {
	"core.hooksPath": devNull,
	"core.fsmonitor": "false",
	"core.quotePath": "false",
	// A mixture of line ends is the agent's business, and no reason to keep nothing.
	"core.safecrlf": "false",
	"core.splitIndex": "false",
	// Many agents may end at once; each waits for the others.
	"core.packedRefsTimeout": "10000",
	"core.filesRefLockTimeout": "10000",
	"commit.gpgSign": "false",
	"gc.auto": "0",
	"maintenance.auto": "false",
	"submodule.recurse": "false",
	"i18n.commitEncoding": "utf-8",
};

/** `env` is where git and the user's settings are found; that of this process when absent. */
export function gitWith(env: NodeJS.ProcessEnv = process.env): Git {
	const kept = Object.entries(env).filter(([name]) => !name.startsWith("GIT_") || KEPT.test(name));
	const base: NodeJS.ProcessEnv = {
		...Object.fromEntries(kept),
		LC_ALL: "C",
		GIT_TERMINAL_PROMPT: "0",
		GIT_OPTIONAL_LOCKS: "0", // a look must not get in the way of the user's own git
		GIT_LFS_SKIP_SMUDGE: "1",
	};
	return (args, options) => patiently(() => run(base, args, options), options.signal);
}

/** What another git, which makes or removes a checkout in this very moment, can cause. It is over when that one is done. */
const PASSING =
	/failed to read \S*worktrees\/|\.lock': File exists|cannot lock ref '[^']*': Unable to create|could not lock config/i;

/** A lock that is there for longer was left by a git that was killed, and will not go away. */
const PATIENCE_MS = 20_000;

async function patiently(work: () => Promise<string>, signal: AbortSignal | undefined): Promise<string> {
	const beganAt = performance.now();
	for (let attempt = 1; ; attempt++) {
		try {
			return await work();
		} catch (error) {
			const isPassing = error instanceof GitError && PASSING.test(error.stderr);
			if (!isPassing || performance.now() - beganAt > PATIENCE_MS) throw error;
		}
		// Of several that wait for each other not all should come back at the same time.
		await sleep(10 + Math.random() * 10 * attempt, undefined, signal ? { signal } : {});
	}
}

function run(base: NodeJS.ProcessEnv, args: readonly string[], options: GitOptions): Promise<string> {
	const { cwd, gitDir, index, config = {}, input, signal, timeoutMs = LONGEST_MS } = options;
	const env = {
		...base,
		...configVariables({ ...ALWAYS, ...config }),
		...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
	};
	const place = gitDir === undefined ? [] : [`--git-dir=${gitDir}`, `--work-tree=${cwd}`];
	return new Promise((resolve, reject) => {
		if (signal?.aborted) return reject(signal.reason);
		const child = execFile(
			"git",
			["-C", cwd, ...place, ...args],
			{
				cwd: "/", // one that is gone would be taken for a missing git
				env,
				encoding: "utf8",
				maxBuffer: MOST_BYTES,
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
		// Asked to, git takes its locks away before it ends. Only then is anything else done: it may still write.
		const end = () => {
			child.kill("SIGTERM");
			unheard = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
		};
		const tooLong = setTimeout(end, timeoutMs);
		signal?.addEventListener("abort", end, { once: true });
		child.stdin?.on("error", () => undefined); // it ended without reading; how it ended is what counts
		child.stdin?.end(input ?? "");
	});
}

const GRACE_MS = 2_000;

/** As variables and not as arguments, since a name may hold anything. */
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
): GitError {
	const isMissing = error.code === "ENOENT" || error.code === "EACCES";
	const about = { isMissing, stdout, stderr, status: typeof error.code === "number" ? error.code : undefined };
	if (isMissing) return new GitError("git could not be started: it is not installed, or not in PATH.", about);
	const why = error.killed ? `it took longer than ${timeoutMs / 1_000} s` : lastLines(stderr) || error.message;
	return new GitError(`git ${args[0]} failed: ${why}`, about);
}

/** What git calls an error; without such a line, what stands at the end, behind progress and hints. */
function lastLines(stderr: string): string {
	const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("hint:"));
	const errors = lines.filter((line) => /^(?:fatal|error): /.test(line));
	return (errors.length > 0 ? errors : lines).slice(-3).join("; ").slice(-500);
}

/** The output, or nothing where git says no. */
export async function tryGit(git: Git, args: readonly string[], options: GitOptions): Promise<string | undefined> {
	try {
		return await git(args, options);
	} catch (error) {
		if (error instanceof GitError && !error.isMissing) return undefined;
		throw error;
	}
}
