/**
 * Everything that can be said about presets before one is started: the problems of discovery, and what looks
 * like a mistake only when all presets are known. `lintPreset` is pure.
 */
import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { createCatalogue, type DiscoverOptions } from "./catalogue.ts";
import { fields } from "./fields.ts";
import { findPreset } from "./merge.ts";
import type { FieldKey, Flavour, Preset, Presets, Problem } from "./preset.ts";
import { directory, file, type Source, subagentsDirs } from "./sources.ts";
import { closest, didYouMean } from "./suggest.ts";
import { quote } from "./text.ts";

/** What to lint. */
export interface LintOptions extends DiscoverOptions {
	/** Files or directories, relative to `cwd`. Without any, all presets of the sources are looked at. */
	readonly paths?: readonly string[];
}

/** Tools that pi brings, and those that this suite adds. Extensions have more, so an unknown name is not an error here. */
export const knownTools: readonly string[] = [
	"read",
	"bash",
	"edit",
	"write",
	"grep",
	"find",
	"ls",
	"ask_main_session",
];

const longPrompt = 20_000;

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
	const missing: Problem[] = [];
	const named: Source[] = [];
	for (const path of paths) named.push(...(await sourceOf(resolve(options.cwd, path), missing)));
	// Each on its own: two files of one name in different directories are no problem to each other.
	const read = await Promise.all(named.map((source) => createCatalogue({ ...options, sources: [source] }).read()));
	const presets = read.flatMap((each) => each.presets);
	return report({ presets, problems: [...missing, ...read.flatMap((each) => each.problems)] }, all);
}

/** What looks like a mistake in one preset, given all of them. */
export function lintPreset(preset: Preset, all: readonly Preset[]): Problem[] {
	const problems: Problem[] = [];
	const warn = (key: FieldKey | undefined, message: string): void => {
		const origin = key === undefined ? undefined : preset.origins[key];
		const line = typeof origin === "object" ? origin.line : 1;
		const field = fields.find((each) => each.key === key)?.name;
		const problem = { path: preset.path, line, column: 1, severity: "warning", preset: preset.name, message } as const;
		problems.push(field === undefined ? problem : { ...problem, field });
	};
	if (preset.prompt === "") warn(undefined, "the body is empty: say what the agent should do");
	if (preset.prompt.length > longPrompt)
		warn(undefined, `the body has ${preset.prompt.length} characters, sent with every run: shorten it`);
	if (preset.origins.description === "default")
		warn("description", "there is no description: say when to choose this preset");
	for (const tool of Array.isArray(preset.tools) ? preset.tools : []) {
		const meant = knownTools.includes(tool) ? undefined : closest(tool, knownTools);
		if (meant !== undefined) warn("tools", `unknown tool ${quote(tool)}: did you mean "${meant}"?`);
		if (preset.disallowedTools?.includes(tool))
			warn("disallowedTools", `${quote(tool)} is allowed by "tools" and denied here: it is denied`);
	}
	for (const name of Array.isArray(preset.subagents) ? preset.subagents : []) {
		if (findPreset(all, name) !== undefined) continue;
		const suggestion =
			didYouMean(
				name,
				all.map((each) => each.name),
			) || ": create it or remove the name";
		warn("subagents", `there is no preset ${quote(name)}${suggestion}`);
	}
	return problems;
}

function report({ presets, problems }: Presets, all: Presets): Presets {
	const found = presets.flatMap((preset) => lintPreset(preset, all.presets));
	const everything = [...problems, ...found].sort(
		(a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || (a.line ?? 0) - (b.line ?? 0),
	);
	return { presets, problems: everything };
}

async function sourceOf(path: string, missing: Problem[]): Promise<Source[]> {
	try {
		const isDirectory = (await stat(path)).isDirectory();
		const flavour = flavourOf(isDirectory ? path : dirname(path));
		return isDirectory ? directory(path, { flavour }) : file(path, { flavour });
	} catch (error) {
		const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
		missing.push({ path, severity: "error", message: `cannot be read (${code}): check the path` });
		return [];
	}
}

/** The rules that a directory stands for, by its name. */
function flavourOf(path: string): Flavour {
	const parent = basename(dirname(path));
	if (parent === ".claude") return "claude";
	if (parent === ".opencode" || parent === "opencode") return "opencode";
	return basename(path) === "agents" ? "agents" : "subagents";
}
