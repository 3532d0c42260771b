/** What a checkout looks like, so that two looks can be compared: which commit and branch, what differs from it, and the stash. */
import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { type Git, GitError } from "./git.ts";

export interface CheckoutState {
	/** Which commit and which branch. */
	head: string;
	/** How much lies in the stash, which all checkouts of a repository share. */
	stash: string;
	/** For each file that differs from the commit: how, and when it was last written. */
	files: ReadonlyMap<string, string>;
}

/** Whoever waits for it is an agent that runs a command. */
export const LOOK_MS = 10_000;

/** Each is looked at; beyond that only what git says of it counts. */
const MOST_LOOKED_AT = 2_000;

/** Nothing if git does not say. `ignores` is a directory of ours, which is no part of the checkout even if it lies inside. */
export async function checkoutState(root: string, ignores: string, git: Git): Promise<CheckoutState | undefined> {
	const inside = relative(root, ignores);
	const isInside = inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
	const paths = isInside ? ["--", ".", `:(exclude,literal)${inside}`] : [];
	const what = ["--branch", "--show-stash", "--no-renames", "--untracked-files=all"];
	const args = ["status", "--porcelain=v2", "-z", ...what, ...paths];
	try {
		return await parsed(root, await git(args, { cwd: root, timeoutMs: LOOK_MS }));
	} catch (error) {
		if (error instanceof GitError) return undefined;
		throw error;
	}
}

async function parsed(root: string, status: string): Promise<CheckoutState> {
	const fields = status.split("\0").filter((field) => field !== "");
	const headers = (kind: RegExp) => fields.filter((field) => kind.test(field)).join("; ");
	const entries = fields
		.filter((field) => !field.startsWith("# "))
		.map((field) => ({ how: field, path: pathIn(field) }));
	const files = await Promise.all(
		entries.map(async ({ how, path }, index): Promise<[string, string]> => {
			const stamp = index < MOST_LOOKED_AT ? await stampOf(join(root, path)) : "";
			return [path, createHash("sha1").update(`${how}\0${stamp}`).digest("base64")];
		}),
	);
	return { head: headers(/^# branch\.(?:oid|head) /), stash: headers(/^# stash /), files: new Map(files) };
}

/** The last field of each kind of line; the number of fields before it is fixed. */
function pathIn(field: string): string {
	const before = { "1": 8, u: 10, "?": 1, "!": 1 }[field[0] ?? ""] ?? 8;
	return field.split(" ").slice(before).join(" ");
}

/** A file that was changed before and is changed again looks the same to git's status. */
async function stampOf(path: string): Promise<string> {
	const found = await lstat(path).catch(() => undefined);
	return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : "";
}

/** What is different, in the words of a list of files; empty if nothing is. */
export function differences(before: CheckoutState, after: CheckoutState): string[] {
	const paths = new Set([...before.files.keys(), ...after.files.keys()]);
	const changed = [...paths].filter((path) => before.files.get(path) !== after.files.get(path));
	return [
		...(before.head === after.head ? [] : ["HEAD"]),
		...(before.stash === after.stash ? [] : ["the stash"]),
		...changed,
	];
}
