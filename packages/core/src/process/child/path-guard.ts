/**
 * Keeps a child's file tools out of the directory of its own run: with one edit it could forge its result or its
 * orders. It is no sandbox; a child with a shell can do whatever its user can.
 */
import { readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export function guardRunFiles(pi: ExtensionAPI, runDir: string): void {
	pi.on("tool_call", (event, ctx) => {
		if (event.toolName !== "edit" && event.toolName !== "write") return;
		const { path }: { path?: unknown } = event.input;
		if (typeof path !== "string" || !leadsInto(runDir, pathAsPiReadsIt(path, ctx.cwd))) return;
		return { block: true, reason: `${path} belongs to the files of this run, which only pi-subagents may change.` };
	});
}

/**
 * Whether the path leads into the directory, through whatever links. Neither needs to exist.
 *
 * @example
 * ```ts
 * leadsInto(project, join(project, ".pi", "subagents")); // false where `.pi` is a link to elsewhere
 * ```
 */
export function leadsInto(dir: string, path: string): boolean {
	const way = relative(realPathOf(dir), realPathOf(path));
	return way === "" || (way !== ".." && !way.startsWith("../") && !way.startsWith("..\\") && !isAbsolute(way));
}

/** Where a file would be made: also what does not exist yet may be behind links. */
function realPathOf(path: string, links = 0): string {
	const real = tryTo(() => realpathSync.native(path));
	if (real !== undefined) return real;
	const target = links < MAX_LINKS ? tryTo(() => readlinkSync(path)) : undefined;
	if (target !== undefined) return realPathOf(resolve(dirname(path), target), links + 1); // a link to nothing yet
	const parent = dirname(path);
	return parent === path ? path : join(realPathOf(parent, links), basename(path));
}

const MAX_LINKS = 40;

/** Undefined when the file system says no. */
function tryTo<T>(look: () => T): T | undefined {
	try {
		return look();
	} catch (error) {
		if (error instanceof Error && "code" in error) return undefined;
		throw error;
	}
}

/** The same liberties that pi's tools take with what a model writes. */
export function pathAsPiReadsIt(path: string, cwd: string): string {
	const plain = path.replace(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, " ").replace(/^@/, "");
	if (plain === "~") return homedir();
	if (plain.startsWith("~/")) return join(homedir(), plain.slice(2));
	if (plain.startsWith("file://")) return tryTo(() => fileURLToPath(plain)) ?? plain;
	return resolve(cwd, plain);
}
