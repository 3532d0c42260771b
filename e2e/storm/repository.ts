/** The user's repository in a storm: agents have checkouts of it, and it stays as it is. */
import { execFile } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PiEnv } from "@pi-subagents-dev/testkit";
import { jsonOf } from "../support/detached.ts";
import { filesBelow } from "./files.ts";
import { LAGS, patiently } from "./patience.ts";

export interface Repository {
	/** What is different from before the storms, as sentences. */
	changes(): Promise<string[]>;
	/** What agents have left of their checkouts and should not have; and what they wrote and is nowhere. */
	leftovers(expected: Expected): Promise<string[]>;
	/** Throws the agents' branches and checkouts away. */
	reset(): Promise<void>;
}

interface Expected {
	/** Names of files that agents have written. */
	written: readonly string[];
	/** Those that must have come back from the other machine on a branch. */
	returned: readonly string[];
	/** Somebody was killed, or a file that says whose a checkout is was spoiled: one may be left without a word. */
	wasHarmed: boolean;
}

/** With work that is not committed: staged, not staged, and new. */
export async function createRepository(env: PiEnv): Promise<Repository> {
	const { cwd, agentDir } = env;
	const gitIn = async (dir: string, ...args: string[]): Promise<string> => {
		const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "--no-optional-locks"];
		return (await promisify(execFile)("git", [...who, ...args], { cwd: dir })).stdout;
	};
	const git = (...args: string[]) => gitIn(cwd, ...args);
	const checkouts = join(agentDir, "state", "subagents", "worktrees");
	const far = join(agentDir, "state", "subagents", "worker");
	await git("init", "--quiet", "--initial-branch=main");
	await git("add", ".");
	await git("commit", "--quiet", "-m", "first");
	await writeFile(join(cwd, "staged.txt"), "Staged.\n");
	await git("add", "staged.txt");
	await writeFile(join(cwd, "new.txt"), "New.\n");
	await writeFile(join(cwd, "staged.txt"), "Staged, and changed.\n");

	const branches = async (): Promise<string[]> =>
		(await git("for-each-ref", "--format=%(refname)", "refs/heads")).split("\n").filter((name) => name !== "");
	const isAgents = (ref: string) => /^refs\/heads\/(?:pi-subagents[/-]|pi\/)/.test(ref);
	/** What the user would miss or wonder about. */
	const look = async (): Promise<Map<string, string>> => {
		const seen = new Map<string, string>();
		for (const path of await filesBelow(cwd)) {
			const isOurs = path.startsWith(join(cwd, ".git")) || path.startsWith(join(cwd, ".pi", "subagents", "runs"));
			if (!isOurs) seen.set(path, await readFile(path, "latin1"));
		}
		for (const name of ["HEAD", "index", "config"])
			seen.set(`.git/${name}`, await readFile(join(cwd, ".git", name), "latin1"));
		seen.set("the status", await git("status", "--porcelain=v2", "--branch"));
		seen.set("the stash", await git("stash", "list"));
		seen.set("the branches", (await branches()).filter((ref) => !isAgents(ref)).join(" "));
		return seen;
	};
	const before = await look();

	/** Those that nobody speaks of any more, or that are still being removed. */
	const unexplained = async (wasHarmed: boolean): Promise<string[]> => {
		const names = await readdir(checkouts, { withFileTypes: true }).catch(() => []);
		const found: string[] = [];
		for (const { name } of names.filter((entry) => entry.isDirectory())) {
			const place = await jsonOf<{ report?: { path?: string }; failure?: string }>(
				join(checkouts, `${name}.json`),
			).catch(() => undefined);
			const isKept = place?.report?.path !== undefined || place?.failure !== undefined;
			if (!isKept && !wasHarmed) found.push(`The worktree ${name} was left: ${JSON.stringify(place)}.`);
		}
		const listed = (await git("worktree", "list", "--porcelain")).split("\n\n");
		if (!wasHarmed)
			for (const entry of listed)
				if (entry.includes("prunable")) found.push(`git knows a worktree that is gone: ${entry.split("\n")[0]}.`);
		return found;
	};
	return {
		async changes() {
			const after = await look();
			const all = [...new Set([...before.keys(), ...after.keys()])];
			const changed = all.filter((what) => before.get(what) !== after.get(what));
			return changed.map((what) => `${what} was changed, from ${before.get(what)} to ${after.get(what)}.`);
		},
		async leftovers({ written, returned, wasHarmed }) {
			const left = await patiently(() => unexplained(wasHarmed), LAGS.commits);
			const onBranches = new Set<string>();
			for (const ref of (await branches()).filter(isAgents))
				for (const name of (await git("ls-tree", "-r", "--name-only", ref)).split("\n")) onBranches.add(name);
			const elsewhere = [...(await filesBelow(checkouts)), ...(await filesBelow(far))];
			const there = await committedIn(far, gitIn);
			const kept = new Set([...onBranches, ...there, ...elsewhere.map((path) => path.split("/").at(-1) ?? "")]);
			const lost = written.filter((name) => !kept.has(name));
			const missing = returned.filter((name) => !onBranches.has(name));
			return [
				...left,
				...lost.map((name) => `${name} was written by an agent, and is nowhere.`),
				...missing.map((name) => `${name} was written on the other machine, and has not come back.`),
			];
		},
		async reset() {
			await rm(checkouts, { recursive: true, force: true });
			await git("worktree", "prune");
			const left = await patiently(async () => {
				const refs = (await branches()).filter(isAgents);
				const gone = await Promise.allSettled(refs.map((ref) => git("update-ref", "-d", ref)));
				return gone.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : [])); // an agent's git is ending
			});
			if (left.length > 0) throw new Error(left.join("\n"));
		},
	};
}

/** What is on branches of the other machine: it keeps the commits of a run that nobody fetched. */
async function committedIn(far: string, git: (dir: string, ...args: string[]) => Promise<string>): Promise<string[]> {
	const found: string[] = [];
	for (const key of await readdir(join(far, "checkouts")).catch(() => [])) {
		const main = join(far, "checkouts", key, "main");
		const refs = (await git(main, "for-each-ref", "--format=%(refname)", "refs/heads").catch(() => "")).split("\n");
		for (const ref of refs.filter((name) => name !== ""))
			found.push(...(await git(main, "ls-tree", "-r", "--name-only", ref)).split("\n"));
	}
	return found;
}
