/** The state of a checkout, for comparing two: commit, branch, changed files, and the stash. */
import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { Confinement } from "@pi-subagents/core";
import { isWithin } from "@pi-subagents/core/internal/files";
import { type Git, GitError, GitNotStarted } from "./git.ts";

export interface CheckoutState {
	/** Which commit and which branch. */
	head: string;
	/** The size of the stash, which all checkouts of a repository share. */
	stash: string;
	/** How each changed file differs, and when it was last written. */
	files: ReadonlyMap<string, string>;
}

/** An agent's command waits for this. */
export const LOOK_MS = 10_000;

/** Up to this many files are checked individually; beyond that only git's status counts. */
const MAX_LOOKED_AT = 2_000;

/** Undefined if git fails. `ignores` is our own directory, which is not part of the checkout even if it is inside. */
export async function checkoutState(root: string, ignores: string, git: Git): Promise<CheckoutState | undefined> {
	const what = ["--branch", "--show-stash", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty"];
	const args = ["status", "--porcelain=v2", "-z", ...what, "--", ...excluding(root, ignores)];
	try {
		return await parsed(root, await git(args, { cwd: root, timeoutMs: LOOK_MS }));
	} catch (error) {
		if (error instanceof GitError || error instanceof GitNotStarted) return undefined;
		throw error;
	}
}

/** For git: everything in the checkout except this directory, if it is inside. */
export function excluding(root: string, ignores: string): string[] {
	return ignores !== root && isWithin(ignores, root) ? [`:(exclude,literal)${relative(root, ignores)}`] : [];
}

async function parsed(root: string, status: string): Promise<CheckoutState> {
	const fields = status.split("\0").filter((field) => field !== "");
	const headers = (kind: RegExp) => fields.filter((field) => kind.test(field)).join("; ");
	const entries = fields
		.filter((field) => !field.startsWith("# "))
		.map((field) => ({ how: field, path: pathIn(field) }));
	const files = await Promise.all(
		entries.map(async ({ how, path }, index): Promise<[string, string]> => {
			const stamp = index < MAX_LOOKED_AT ? await stampOf(join(root, path)) : "";
			return [path, createHash("sha1").update(`${how}\0${stamp}`).digest("base64")];
		}),
	);
	return { head: headers(/^# branch\.(?:oid|head) /), stash: headers(/^# stash /), files: new Map(files) };
}

/** The last field; the number of fields before it is fixed per kind of line. */
function pathIn(field: string): string {
	const before = { "1": 8, u: 10, "?": 1, "!": 1 }[field[0] ?? ""] ?? 8;
	return field.split(" ").slice(before).join(" ");
}

/** A changed file that changes again looks the same to `git status`. */
async function stampOf(path: string): Promise<string> {
	const found = await lstat(path).catch(() => undefined);
	return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : "";
}

/** The differences as a list of names; empty if there are none. */
export function differences(before: CheckoutState, after: CheckoutState): string[] {
	const paths = new Set([...before.files.keys(), ...after.files.keys()]);
	const changed = [...paths].filter((path) => before.files.get(path) !== after.files.get(path));
	return [
		...(before.head === after.head ? [] : ["HEAD"]),
		...(before.stash === after.stash ? [] : ["the stash"]),
		...changed,
	];
}

/** A file about a checkout, in the directory of its record. */
export function fileAbout(place: Place, ending: string): string {
	return join(recordsOf(place), basename(place.root) + ending);
}

/** The directory of records: not part of any checkout, even if it is inside one. */
export function recordsOf({ root, records = dirname(root) }: Place): string {
	return records;
}

/** Where a checkout and its record are. */
export type Place = Pick<Confinement, "root" | "records">;

/** Where it is noted that a command of an agent reached beyond its checkout. One line each. */
export function flagsFile(place: Place): string {
	return fileAbout(place, ".flags");
}
