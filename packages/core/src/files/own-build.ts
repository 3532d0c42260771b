/**
 * Whether a file of ours belongs to the build that runs. An update replaces the files on the disk while the old code is
 * in memory; what that loads later must not be the new. A build is named by its version and a mark of its sources, since
 * local builds share a version, and each file begins with that name.
 */
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "../base/best-effort.ts";

/** The build defines it. */
declare const PI_SUBAGENTS_BUILD: string | undefined;

/** Such as `0.1.0+1a2b3c4d`. Undefined where sources, or packages without programs of their own, run: nothing is checked there. */
export const BUILD: string | undefined = typeof PI_SUBAGENTS_BUILD === "string" ? PI_SUBAGENTS_BUILD : undefined;

/** What has to be restarted after an update. */
let program = "pi";

/** For a program other than pi that runs this code. */
export function runsAs(name: string): void {
	program = name;
}

/**
 * The path of a file in `dir`. Throws the one sentence that the user needs if it is of another build, or gone.
 * Self-contained: the build also puts the text of this function into files that load others.
 */
export function fileOfBuild(build: string, dir: string, name: string, running = "pi"): string {
	const { closeSync, openSync, readFileSync, readSync } = process.getBuiltinModule("node:fs");
	const { join } = process.getBuiltinModule("node:path");
	const file = join(dir, name);
	const head = Buffer.alloc(200);
	try {
		const descriptor = openSync(file, "r");
		try {
			readSync(descriptor, head, 0, head.length, 0);
		} finally {
			closeSync(descriptor);
		}
	} catch {
		// It is gone: an update may have renamed it, or is replacing it just now.
	}
	const [, found] = /\/\* pi-subagents (\S+) \*\//.exec(head.toString("latin1")) ?? [];
	if (found === build) return file;
	let other = found;
	try {
		other ??= String(JSON.parse(readFileSync(join(dir, "..", "package.json"), "utf8")).version);
	} catch {
		// Nothing says which version is there now.
	}
	const [from = "", mark] = build.split("+");
	const [to, otherMark = "unknown"] = other?.split("+") ?? [];
	const change =
		to === undefined
			? `${from} was removed`
			: to === from
				? `was updated from ${from} (build ${mark}) to ${to} (build ${otherMark})`
				: `was updated from ${from} to ${to}`;
	throw new Error(`pi-subagents ${change} while ${running} was running: restart ${running}.`);
}

/** Throws that sentence if the file, which lies beside the code that runs, is of another build. `url` is that code's. */
export function requireOwnBuild(path: string, url: string | undefined): string {
	if (BUILD === undefined || !url || dirname(path) !== dirname(fileURLToPath(url))) return path;
	return fileOfBuild(BUILD, dirname(path), basename(path), program);
}

/** That sentence, if the code that runs is no longer what is on the disk. `url` is that code's. */
export function updateNotice(url: string | undefined): string | undefined {
	if (!url) return undefined;
	try {
		requireOwnBuild(fileURLToPath(url), url);
		return undefined;
	} catch (error) {
		return messageOf(error);
	}
}

/** How a program of ours that another one starts learns which build that is. */
export const BUILD_VARIABLE = "PI_SUBAGENTS_BUILD";
