/**
 * Checks presets before they are used: the problems of discovery, and probable mistakes that show only when all presets are
 * known.
 */
import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { createCatalogue, type DiscoverOptions } from "../catalogue/catalogue.ts";
import { hasPresetFiles } from "../catalogue/locate.ts";
import { directory, file, type Source, subagentsDirs } from "../catalogue/sources.ts";
import { isImported } from "../imports/imports.ts";
import { nameKey } from "../model/names.ts";
import type { Flavour, Presets, Problem } from "../model/preset.ts";
import { lintFields, lintPreset } from "./lint-preset.ts";

export interface LintOptions extends DiscoverOptions {
	/** Files or directories, relative to `cwd`. Without any, all presets of the sources are checked. */
	readonly paths?: readonly string[];
	/** The rules that the files of `paths` follow; by default the names of their directories decide. */
	readonly flavour?: Flavour;
}

const folders = ["subagents", "agents", join(".pi", "subagents"), join(".pi", "agents")];

/**
 * Reads presets and reports all problems, sorted by path and line.
 *
 * @example
 * const { problems } = await lint({ cwd: process.cwd(), agentDir: "/home/me/.pi/agent", paths: [".pi/subagents"] });
 */
export async function lint(options: LintOptions): Promise<Presets> {
	const { paths } = options;
	const sources = options.sources ?? subagentsDirs();
	const all = await createCatalogue({ ...options, sources }).read();
	if (paths === undefined || paths.length === 0) return report(all, all);
	// Each path separately: files of the same name in different directories do not conflict.
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

/** Sorted by path and line. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
	return [...problems].sort(
		(a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || (a.line ?? 0) - (b.line ?? 0),
	);
}

function report({ presets, problems, drafts = [] }: Presets, all: Presets): Presets {
	// The user cannot fix what ships with a package.
	const own = presets.filter(({ source }) => source.kind !== "builtin" && source.kind !== "package");
	const broken = all.problems.filter(({ severity }) => severity === "error");
	const reserved = new Set(broken.flatMap(({ preset }) => (preset === undefined ? [] : [nameKey(preset)])));
	const found = [
		...own.flatMap((preset) => lintPreset(preset, all.presets, reserved)),
		...drafts.flatMap((draft) => lintFields(draft, all.presets, reserved)),
	];
	return { presets, problems: sortProblems([...problems, ...found]) };
}

async function readPath(named: string, options: LintOptions): Promise<Presets> {
	const path = resolve(options.cwd, named);
	const fail = (message: string): Presets => ({ presets: [], problems: [{ path, severity: "error", message }] });
	let source: Source[];
	let isDirectory: boolean;
	try {
		isDirectory = (await stat(path)).isDirectory();
		const flavour = options.flavour ?? flavourOf(isDirectory ? path : dirname(path));
		const like = isImported(flavour) ? ({ flavour, kind: "import" } as const) : { flavour };
		source = isDirectory ? directory(path, like) : file(path, like);
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

/** The rules of a directory, by its name or that of the nearest known directory above it. */
function flavourOf(path: string): Flavour {
	for (let at = path; dirname(at) !== at; at = dirname(at)) {
		const [name, parent] = [basename(at), basename(dirname(at))];
		if (name === "subagents") return "subagents";
		if (name !== "agents" && name !== "agent") continue;
		if (parent === ".claude") return "claude";
		if (parent === ".opencode" || parent === "opencode") return "opencode";
		if (name === "agents") return "agents";
	}
	return "subagents";
}
