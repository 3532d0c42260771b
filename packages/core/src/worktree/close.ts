/**
 * Ends an agent's checkout: what it changed is committed to its branch, and the directory is removed. Changes are never
 * lost: where they cannot be committed, the directory stays, and the report says so. Closing again gives the same report.
 */
import { dirname, join } from "node:path";
import { sanitize, type WorktreeReport } from "@pi-subagents/progress";
import { bestEffort, messageOf, type Report } from "../best-effort.ts";
import { readPlain } from "../process/plain-file.ts";
import { flagsFile } from "./flags.ts";
import { type Git, GitError, gitWith, tryGit } from "./git.ts";
import { exists, isCheckout } from "./open.ts";
import { type Place, readPlace, writePlace } from "./place.ts";
import { removeCheckout } from "./remove.ts";
import { commitTree, snapshotOf } from "./snapshot.ts";

export interface CloseOptions {
	git?: Git;
	/** Hears of what went wrong beside it. */
	report?: Report;
}

/** Never rejects. */
export async function closeWorktree(place: Place, options: CloseOptions = {}): Promise<WorktreeReport> {
	const { git = gitWith(), report = () => undefined } = options;
	try {
		return await closed(place, { git, report });
	} catch (error) {
		const failure = `Its changes could not be committed: ${messageOf(error).replace(/\.+$/, "")}. They are in ${place.root}; close it in /agents when that is mended.`;
		await bestEffort("noting that a worktree could not be closed", report, () => writePlace({ ...place, failure }));
		const { branch, root: path, base } = place;
		return {
			branch,
			path,
			base,
			files: 0,
			insertions: 0,
			deletions: 0,
			problems: [failure, ...(await flagsOf(place))],
		};
	}
}

/** How often somebody else may be faster. */
const ATTEMPTS = 3;

async function closed(place: Place, options: Required<CloseOptions>, attempt = 1): Promise<WorktreeReport> {
	const { git, report } = options;
	const known = (await readPlace(place.root)) ?? place;
	if (known.report) {
		// Whoever wrote that may have been killed before the directory was gone.
		if (known.report.path === undefined && (await exists(known.root)))
			await bestEffort("removing a worktree", report, () => removeCheckout(known, git));
		return known.report;
	}
	try {
		return await finish(known, git);
	} catch (error) {
		// Several may close it at once. What the first one says of it counts; if that was killed, there is little left to do.
		const isClosed = (await readPlace(place.root))?.report !== undefined;
		const isOvertaken = error instanceof GitError && /cannot lock ref '[^']*': is at /.test(error.stderr);
		if (isClosed || (isOvertaken && attempt < ATTEMPTS)) return closed(place, options, attempt + 1);
		throw error;
	}
}

async function finish(place: Place, git: Git): Promise<WorktreeReport> {
	const held = await keep(place, git);
	const stat = held.tip === undefined ? NOTHING : await statOf(place, held.tip, git);
	const problems = [...held.problems, ...(await flagsOf(place))];
	const report: WorktreeReport = {
		...(held.branch === undefined ? {} : { branch: held.branch, merge: mergeCommand(place, held.branch) }),
		...(held.isLeft ? { path: place.root } : {}),
		base: place.base,
		...stat,
		...(problems.length > 0 ? { problems } : {}),
	};
	await writePlace({ ...place, report });
	if (held.isLeft) {
		// Otherwise git there would show what was committed as if it were undone.
		await tryGit(git, ["reset", "--quiet"], { cwd: place.root, gitDir: place.gitDir });
		return report;
	}
	try {
		await removeCheckout(place, git);
		return report;
	} catch (error) {
		const problem = `The directory ${place.root} could not be removed: ${messageOf(error)}`;
		const changed = { ...report, path: place.root, problems: [...problems, problem] };
		await writePlace({ ...place, report: changed });
		return changed;
	}
}

/** Where the agent's work is. */
interface Held {
	/** Absent when it changed nothing. */
	branch?: string;
	tip?: string;
	/** The directory must stay: it holds what no commit does. */
	isLeft: boolean;
	problems: string[];
}

async function keep(place: Place, git: Git): Promise<Held> {
	const { root, gitDir, base, branch, main } = place;
	const ask = (...args: string[]) => tryGit(git, args, { cwd: main });
	const own = await ask("rev-parse", "--verify", "--quiet", `refs/heads/${branch}`);
	if (gitDir === undefined || !(await isCheckout(root))) {
		await assertOpen(root);
		const isChanged = own !== undefined && own !== base;
		if (own === base) await ask("update-ref", "-d", `refs/heads/${branch}`, base);
		const problems = [`The directory ${root} is gone; what was not committed there is lost.`];
		return {
			...(isChanged ? { branch, tip: own } : {}),
			isLeft: false,
			problems: gitDir === undefined ? [] : problems,
		};
	}
	const here = { cwd: root, gitDir };
	const head = await tryGit(git, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], here);
	const on = (await tryGit(git, ["symbolic-ref", "--quiet", "HEAD"], here))?.replace(/^refs\/heads\//, "");
	const { tree, problems, isWhole } = await snapshotOf({ root, gitDir, ignores: dirname(root), isWhole: true }, git);
	await assertOpen(root);
	const isClean = head !== undefined && tree === (await git(["rev-parse", `${head}^{tree}`], here));
	const parents = head === undefined ? [] : [head];
	const committed = isClean ? undefined : await commitTree(here, { tree, parents, message: messageFor(place) }, git);
	const isAncestor = async (one: string, other: string) =>
		(await ask("merge-base", "--is-ancestor", one, other)) !== undefined;
	const last = committed ?? head ?? base;
	const tip = own !== undefined && (await isAncestor(last, own)) ? own : last;
	const inner = await innerRepositories(place, tip, git);
	const isLeft = !isWhole || inner.length > 0;
	const all = [...problems, ...inner];
	const update = (name: string, to: string, from: string) =>
		git(["update-ref", `refs/heads/${name}`, to, from], { cwd: main });

	if (await isAncestor(tip, base)) {
		if (own === base && !isLeft) await leaveBranch(place, git);
		return { isLeft, problems: all };
	}
	const isElsewhere = committed === undefined && on !== undefined && on !== branch && tip !== own;
	if (isElsewhere) {
		const more = own !== undefined && own !== base ? [`It has also left commits on ${branch}.`] : [];
		if (own === base) await leaveBranch(place, git);
		return {
			branch: on,
			tip,
			isLeft,
			problems: [...all, `The agent works on its own branch ${on}, which holds its commits.`, ...more],
		};
	}
	if (own === tip) return { branch, tip, isLeft, problems: all };
	if (own === undefined || own === base || (await isAncestor(own, tip))) {
		await update(branch, tip, own ?? "");
		return { branch, tip, isLeft, problems: all };
	}
	const other = await freeName(branch, ask);
	await update(other, tip, "");
	return { branch: other, tip, isLeft, problems: [...all, `Its work is on two branches: ${other} and ${branch}.`] };
}

/** Whoever has closed it removes its files now; without them, they would count as deleted or lost. */
async function assertOpen(root: string): Promise<void> {
	if ((await readPlace(root))?.report) throw new Error("somebody else has just closed it");
}

/** The checkout must not be on a branch that is deleted: it would count as new, with everything in it. */
async function leaveBranch({ root, gitDir, branch, base, main }: Place, git: Git): Promise<void> {
	await tryGit(git, ["update-ref", "--no-deref", "HEAD", base], { cwd: root, gitDir });
	await git(["update-ref", "-d", `refs/heads/${branch}`, base], { cwd: main });
}

/** Repositories within the checkout: git keeps of them only which commit they were at. */
async function innerRepositories({ gitDir, base, main, root }: Place, tip: string, git: Git): Promise<string[]> {
	const raw = await git(["diff", "--raw", "-z", "--no-renames", "--diff-filter=AMT", base, tip], { cwd: main });
	const fields = raw.split("\0");
	const links = fields.flatMap((field, index) => (/^:\d+ 160000 /.test(field) ? [fields[index + 1] ?? ""] : []));
	if (links.length > 0)
		return [
			`${links.map(sanitize).join(", ")} in ${root}: repositories of their own, of which only that directory holds the commits.`,
		];
	const isInitialized = gitDir !== undefined && (await exists(join(gitDir, "modules")));
	return isInitialized ? [`Submodules were checked out in ${root}; what was committed in them is only there.`] : [];
}

async function freeName(branch: string, ask: (...args: string[]) => Promise<string | undefined>): Promise<string> {
	for (let count = 2; ; count++) {
		const name = `${branch}-${count}`;
		if ((await ask("rev-parse", "--verify", "--quiet", `refs/heads/${name}`)) === undefined) return name;
	}
}

/** It stands in lists of commits beside others. */
const SUBJECT_CHARACTERS = 72;
const TASK_CHARACTERS = 500;

function messageFor({ agentId, run, type, description, task }: Place): string {
	const subject = sanitize(description).slice(0, SUBJECT_CHARACTERS).trim() || `Work of agent ${agentId}`;
	const which = run === 1 ? "" : `, run ${run}`;
	const about = sanitize(task).slice(0, TASK_CHARACTERS);
	return `${subject}\n\nAgent ${agentId} (${sanitize(type)}${which}), asked:\n${about}\n\nCommitted by pi-subagents when the agent ended.\n`;
}

const NOTHING = { files: 0, insertions: 0, deletions: 0 };

async function statOf({ base, main }: Place, to: string, git: Git): Promise<typeof NOTHING> {
	const text = await git(["diff", "--shortstat", base, to], { cwd: main });
	const number = (what: RegExp) => Number(what.exec(text)?.[1] ?? 0);
	return { files: number(/(\d+) file/), insertions: number(/(\d+) insertion/), deletions: number(/(\d+) deletion/) };
}

/** A branch that begins with what was not committed must not bring that along as a commit. */
function mergeCommand({ main, base, isSnapshot, isElsewhere }: Place, branch: string): string {
	const where = isElsewhere ? ["-C", main] : [];
	const what = isSnapshot ? ["cherry-pick", `${base.slice(0, 12)}..${branch}`] : ["merge", branch];
	return ["git", ...where, ...what].map(quotedForShell).join(" ");
}

function quotedForShell(word: string): string {
	return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** More would bury the rest. */
const MOST_FLAGS = 5;
const FLAG_BYTES = 64 * 1024;

async function flagsOf({ root }: Place): Promise<string[]> {
	const bytes = await readPlain(flagsFile(root), FLAG_BYTES).catch(() => undefined);
	const lines = (bytes?.toString("utf8") ?? "")
		.split("\n")
		.filter((line) => line !== "")
		.map(sanitize);
	const beyond = lines.length - MOST_FLAGS;
	return beyond > 0 ? [...lines.slice(0, MOST_FLAGS), `… and ${beyond} more times.`] : lines;
}
