/** Real git repositories, apart from whatever the machine's own git is set up to do. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { onTestFinished } from "vitest";
import { type Git, gitWith, type OpenOptions, openWorktree, type WorktreeRecord } from "../src/index.ts";

export interface Repo {
	/** Holds everything of the test. */
	home: string;
	/** The user's checkout. */
	main: string;
	/** Where the worktrees are. */
	dir: string;
	env: NodeJS.ProcessEnv;
	git: Git;
	/** Runs the user's own git, in their checkout unless told otherwise. */
	run(args: readonly string[], cwd?: string): Promise<string>;
	write(path: string, text: string, root?: string): Promise<void>;
	read(path: string, root?: string): Promise<string>;
	open(options?: Partial<OpenOptions>): Promise<WorktreeRecord>;
	/** Everything that the user has: files, index and refs, other than those of agents. */
	state(): Promise<Record<string, string>>;
	branches(): Promise<string[]>;
}

export async function repo({ isEmpty = false } = {}): Promise<Repo> {
	const temp = await createTempDir();
	onTestFinished(temp.remove);
	const main = join(temp.path, "app");
	const env: NodeJS.ProcessEnv = {
		PATH: process.env.PATH ?? "",
		HOME: temp.path,
		GIT_CONFIG_GLOBAL: join(temp.path, "gitconfig"),
		GIT_CONFIG_NOSYSTEM: "1",
	};
	await writeFile(
		join(temp.path, "gitconfig"),
		'[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n',
	);
	const run = async (args: readonly string[], cwd = main) =>
		(await promisify(execFile)("git", args, { cwd, env })).stdout.trim();
	const write = async (path: string, text: string, root = main) => {
		await mkdir(dirname(join(root, path)), { recursive: true });
		await writeFile(join(root, path), text);
	};
	const git = gitWith(env);
	const dir = join(temp.path, "agent", "state", "subagents", "worktrees");
	await mkdir(main);
	await run(["init", "--quiet"]);
	if (!isEmpty) {
		await write("src/a.txt", "one\ntwo\nthree\n");
		await write(".gitignore", "ignored/\n");
		await run(["add", "."]);
		await run(["commit", "--quiet", "-m", "first"]);
	}
	return {
		home: temp.path,
		main,
		dir,
		env,
		git,
		run,
		write,
		read: (path, root = main) => readFile(join(root, path), "utf8"),
		open: (options) =>
			openWorktree({
				cwd: main,
				dir,
				id: "a1",
				run: 1,
				base: "head",
				about: { type: "coder", description: "mend the parser", task: "Mend it." },
				sessionCwd: main,
				git,
				...options,
			}),
		async state() {
			const files = await filesIn(main, (path) => path !== ".git");
			const refs = (await run(["for-each-ref", "--format=%(refname) %(objectname)"]))
				.split("\n")
				.filter((line) => !line.startsWith("refs/heads/pi-subagents"))
				.join("\n");
			const index = await readFile(join(main, ".git", "index")).catch(() => Buffer.alloc(0));
			const stash = await readFile(join(main, ".git", "logs", "refs", "stash"), "utf8").catch(() => "");
			return {
				...files,
				" index": digest(index),
				" refs": refs,
				" HEAD": await readFile(join(main, ".git", "HEAD"), "utf8"),
				" stash": stash,
			};
		},
		branches: async () => {
			const listed = await run(["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
			return listed.split("\n").filter((name) => name !== "");
		},
	};
}

async function filesIn(root: string, isWanted: (path: string) => boolean): Promise<Record<string, string>> {
	const found: Record<string, string> = {};
	const visit = async (below: string): Promise<void> => {
		for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
			const path = join(below, entry.name);
			if (!isWanted(path)) continue;
			if (entry.isDirectory()) await visit(path);
			else
				found[path] = entry.isSymbolicLink()
					? await readlink(join(root, path))
					: digest(await readFile(join(root, path)));
		}
	};
	await visit("");
	return found;
}

function digest(bytes: Buffer): string {
	return createHash("sha256").update(bytes).digest("hex");
}

/** A git that cannot write a byte to any file, as on a full disk. */
export async function withFullDisk({ home, env }: Repo): Promise<Git> {
	const bin = join(home, "full-disk");
	await mkdir(bin, { recursive: true });
	const script = join(bin, "git");
	const real = (await promisify(execFile)("sh", ["-c", "command -v git"], { env })).stdout.trim();
	await writeFile(script, `#!/bin/sh\ntrap '' XFSZ\nulimit -f 0\nexec ${real} "$@"\n`);
	await chmod(script, 0o755);
	return gitWith({ ...env, PATH: `${bin}:${env.PATH}` });
}
