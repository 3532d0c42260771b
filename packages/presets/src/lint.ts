/**
 * Everything that can be said about presets before one is started: the problems of discovery, and what looks
 * like a mistake only when all presets are known.
 */
import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { createCatalogue, type DiscoverOptions } from "./catalogue.ts";
import { lintFields, lintPreset } from "./lint-preset.ts";
import { hasPresetFiles } from "./locate.ts";
import { nameKey } from "./names.ts";
import type { Flavour, Presets, Problem } from "./preset.ts";
import { directory, file, type Source, subagentsDirs } from "./sources.ts";

/** What to lint. */
export interface LintOptions extends DiscoverOptions {
	/** Files or directories, relative to `cwd`. Without any, all presets of the sources are looked at. */
	readonly paths?: readonly string[];
}

const folders = ["subagents", "agents", join(".pi", "subagents"), join(".pi", "agents")];

/**
 * Reads presets and reports everything about them, sorted by place.
 *
 * @example
 * const { problems } = await lint({ cwd: process.cwd(), agentDir: "/home/me/.pi/agent", paths: [".pi/subagents"] });
 */
export async function lint(options: LintOptions): Promise<Presets> {
	const { paths } = options;
	const sources = options.sources ?? subagentsDirs();
	const all = await createCatalogue({ ...options, sources }).read();
	if (paths === undefined || paths.length === 0) return report(all, all);
	// Each on its own: two files of one name in different directories are no problem to each other.
	const read = await Promise.all(paths.map((path) => readPath(path, options)));
	return report(
		{
			presets: read.flatMap((each) => each.presets),
			problems: read.flatMap((each) => each.problems),
			drafts: read.flatMap((each) => each.drafts ?? []),
		},
		all,
	);
}

/** By path and line, so that what belongs together stands together. */
export function inOrder(problems: readonly Problem[]): Problem[] {
	return [...problems].sort(
		(a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || (a.line ?? 0) - (b.line ?? 0),
	);
}

function report({ presets, problems, drafts = [] }: Presets, all: Presets): Presets {
	// What comes with a package is not the user's to correct.
	const own = presets.filter(({ source }) => source.kind !== "builtin" && source.kind !== "package");
	const broken = all.problems.filter(({ severity }) => severity === "error");
	const held = new Set(broken.flatMap(({ preset }) => (preset === undefined ? [] : [nameKey(preset)])));
	const found = [
		...own.flatMap((preset) => lintPreset(preset, all.presets, held)),
		...drafts.flatMap((draft) => lintFields(draft, all.presets, held)),
	];
	return { presets, problems: inOrder([...problems, ...found]) };
}

async function readPath(named: string, options: LintOptions): Promise<Presets> {
	const path = resolve(options.cwd, named);
	const fail = (message: string): Presets => ({ presets: [], problems: [{ path, severity: "error", message }] });
	let source: Source[];
	let isDirectory: boolean;
	try {
		isDirectory = (await stat(path)).isDirectory();
		const flavour = flavourOf(isDirectory ? path : dirname(path));
		source = isDirectory ? directory(path, { flavour }) : file(path, { flavour });
	} catch (error) {
		const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
		return fail(`cannot be read (${code}): check the path`);
	}
	const found = await createCatalogue({ ...options, sources: source }).read();
	if (!isDirectory || found.presets.length > 0 || found.problems.length > 0) return found;
	for (const folder of folders) {
		if (await hasPresetFiles(join(path, folder))) return fail(`no presets here; did you mean ${join(named, folder)}?`);
	}
	return found;
}

/** The rules that a directory stands for, by its name. */
function flavourOf(path: string): Flavour {
	const parent = basename(dirname(path));
	if (parent === ".claude") return "claude";
	if (parent === ".opencode" || parent === "opencode") return "opencode";
	return basename(path) === "agents" ? "agents" : "subagents";
}
