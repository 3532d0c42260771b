/**
 * Keeps agents' file tools out of the files that only pi-subagents writes: all runs, jobs and conversations.
 * Otherwise one `write` could forge another agent's result or orders. Reading is allowed. This is not a sandbox: an
 * agent with a shell can do whatever its user can.
 */
import { existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { quoted } from "@pi-subagents/core/internal/base";
import {
	isFallbackName,
	pathAsPiReadsIt,
	RUNS_PATH,
	realPathOf,
	TEMPORARY_PREFIX,
} from "@pi-subagents/core/internal/files";

/** Where such files are, besides the fixed directories of every project. */
export interface OwnFileDirs {
	/** pi's agent directory of this user. */
	agentDir?: string | undefined;
	/** Where this run's files are. */
	dirs?: readonly (string | undefined)[];
}

const FILE_TOOLS: ReadonlySet<string> = new Set(["edit", "write"]);

/** Why the tool call is refused, as a sentence for the model; undefined if it is allowed. */
export function refusalOf(
	{ tool, input, cwd }: { tool: string; input: unknown; cwd: string },
	places: OwnFileDirs,
): string | undefined {
	const { path }: { path?: unknown } = Object(input);
	if (!FILE_TOOLS.has(tool) || typeof path !== "string") return undefined;
	if (!isOwnFile(pathAsPiReadsIt(path, cwd), places)) return undefined;
	return `${quoted(path)} belongs to the files of agents, which only pi-subagents may change. Write elsewhere.`;
}

/** Whether a path leads to such a file, through any links, even before it exists. */
export function isOwnFile(path: string, { agentDir, dirs = [] }: OwnFileDirs = {}): boolean {
	if (path.length > LONGEST) return true; // no such path can exist, and checking would take long
	const real = realPathOf(path);
	if (isNamedSo(path) || isNamedSo(real)) return true;
	// A project that keeps its files behind links is among the parents, too.
	const above = parentsOf(real).filter((dir) => existsSync(dir));
	const states = [...above.map((dir) => join(dir, ".pi", "agent")), agentDir].flatMap((dir) =>
		dir === undefined ? [] : [join(dir, "state", "subagents")],
	);
	const own = [
		...above.flatMap((dir) => IN_PROJECT.map((name) => join(dir, ".pi", "subagents", name))),
		...states.flatMap((dir) => IN_STATE.map((name) => join(dir, name))),
		...dirs.filter((dir) => dir !== undefined),
	];
	if (own.some((dir) => holds(realPathOf(dir), real))) return true;
	// The checkouts belong to the agents; the records beside them do not.
	return states.some((dir) => dirname(real) === realPathOf(join(dir, "worktrees")));
}

/** No system accepts longer paths. */
const LONGEST = 4_096;

const IN_PROJECT = [RUNS_PATH[2], "schedules"];
const IN_STATE = ["open", "schedules", "sessions"];

/** Anywhere. Some file systems ignore case. */
function isNamedSo(path: string): boolean {
	const names = path.toLowerCase().split(sep);
	return NAMED.test(names.join("/")) || names.some((name) => isFallbackName(name) || name.startsWith(TEMPORARY_PREFIX));
}

const NAMED = new RegExp(
	`/\\.pi/(?:subagents/(?:${IN_PROJECT.join("|")})|agent/state/subagents/(?:${IN_STATE.join("|")}))(?:/|$)`,
);

function holds(dir: string, path: string): boolean {
	const [outer, inner] = [dir.toLowerCase(), path.toLowerCase()];
	return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

function parentsOf(path: string): string[] {
	const parent = dirname(path);
	return parent === path ? [path] : [path, ...parentsOf(parent)];
}

/** For a child in its own process. */
export function guardOwnFiles(pi: ExtensionAPI, places: OwnFileDirs): void {
	pi.on("tool_call", ({ toolName: tool, input }, { cwd }) => {
		const reason = refusalOf({ tool, input, cwd }, places);
		return reason === undefined ? undefined : { block: true, reason };
	});
}
