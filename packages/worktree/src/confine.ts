/** A run's spec inside its own checkout, and which directories agents are confined to. */

import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import type { Confinement, RunSpec } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { isWithin } from "@pi-subagents/core/internal/files";
import type { Allowed, Allows } from "./own-config.ts";
import { worktreesDir } from "./place.ts";
import { readWorktreeRecord, type WorktreeRecord } from "./worktree-record.ts";

export function confinedSpec<Spec extends RunSpec>(spec: Spec, record: WorktreeRecord): Spec {
	const { root, main, records } = record;
	const aliases = [main, mainAsGiven(spec, record)];
	const inside = (text: string) => pathsMoved(text, aliases, root);
	const { mode, text } = spec.systemPrompt ?? { mode: "append", text: "" };
	return {
		...spec,
		cwd: record.cwd,
		task: inside(spec.task),
		systemPrompt: { mode, text: [inside(text), noteFor(record)].filter((part) => part.trim() !== "").join("\n\n") },
		confinedTo: {
			root,
			...defined({ records }),
			origin: originOf({ cwd: main, confinedTo: spec.confinedTo }),
			watches: [...new Set([main, ...(spec.confinedTo?.watches ?? [])])],
		},
	};
}

/**
 * Where a run's files came from: its own checkout is trusted as the one it was made from.
 *
 * @example
 * ```ts
 * const isTrusted = host.isProjectTrusted(originOf(spec));
 * ```
 */
export function originOf({ cwd, confinedTo }: { cwd: string; confinedTo?: Confinement | undefined }): string {
	return confinedTo && isWithin(cwd, confinedTo.root) ? join(confinedTo.origin, relative(confinedTo.root, cwd)) : cwd;
}

/**
 * What is allowed in a repository that a confined agent uses. Its checkout is trusted as its origin; an agent may
 * have made any other repository inside it.
 */
export function allowedAt(main: string, confinedTo: Confinement | undefined, allows: Allows): Allowed {
	if (!confinedTo || !isWithin(main, confinedTo.root)) return allows(main);
	return main === confinedTo.root ? allows(confinedTo.origin) : [];
}

/** The task may name a link to it. */
function mainAsGiven({ cwd }: RunSpec, { root, cwd: inside }: WorktreeRecord): string {
	const way = relative(root, inside);
	return way !== "" && cwd.endsWith(`/${way}`) ? cwd.slice(0, -way.length - 1) : cwd;
}

/** Replaces only whole paths: not the start of another name, nor the end of another path. */
export function pathsMoved(text: string, from: readonly string[], to: string): string {
	const paths = [...new Set(from)]
		.filter((path) => path.length > 1)
		.map((path) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
	if (paths.length === 0) return text;
	const letter = "[\\p{L}\\p{M}\\p{N}_]";
	const before = `(?:(?<!${letter}|[.\\-/~])|(?<=file://))`;
	const whole = new RegExp(`${before}(?:${paths.join("|")})(?!${letter}|-|\\.${letter})`, "gu");
	return text.replace(whole, () => to);
}

function noteFor({ root, main, branch, notes }: WorktreeRecord): string {
	return [
		`You work in your own git worktree: ${root}, a checkout of ${main} on branch ${branch}.`,
		`Read and write only there; file tools are refused elsewhere. Paths below ${main} mean the same paths below ${root}.`,
		...notes,
		`${notes.length > 0 ? "Other files" : "Files"} that git ignores, such as installed dependencies, are not in it.`,
		"You need not commit: when you finish, all your changes are committed to that branch, except ignored files, which are deleted.",
	].join(" ");
}

/**
 * An agent that works in an agent's checkout is confined to it, even if it is resumed without the agent that launched
 * it: it must not reach the user's own files.
 */
export async function confinementAt(agentDir: string, cwd: string): Promise<Confinement | undefined> {
	const given = worktreesDir(agentDir);
	// Mostly none exists, and other threads take long to say so.
	const dir = existsSync(given) ? await realpath(given).catch(() => undefined) : undefined;
	if (dir === undefined) return undefined;
	const [name] = isWithin(cwd, dir) ? relative(dir, cwd).split(sep) : [];
	if (!name) return confinementAbove(dir, cwd);
	const root = join(dir, name);
	const main = (await readWorktreeRecord({ root }))?.main;
	return { root, origin: main ?? root, watches: main === undefined ? [] : [main] };
}

/** In a checkout whose record is elsewhere. */
async function confinementAbove(records: string, root: string): Promise<Confinement | undefined> {
	const record = basename(root) === "" ? undefined : await readWorktreeRecord({ root, records });
	const isThere = record && (!record.report || record.report.path !== undefined);
	if (isThere) return { root, records, origin: record.main, watches: [record.main] };
	const parent = dirname(root);
	return parent === root ? undefined : confinementAbove(records, parent);
}
