/**
 * Where presets can come from, as data. Precedence belongs to the source, not to the order in which a caller lists
 * them, so that no caller can get it wrong. Nothing here touches the file system.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { builtinFiles } from "../builtins/texts.ts";
import type { Flavour, KnownFile, ParseResult, PresetSource, SourceKind } from "../model/preset.ts";

/** A place to search. Created by the functions of this file. */
export type Source = {
	readonly source: PresetSource;
	/** Higher wins by name. */
	readonly rank: number;
} & (
	| { readonly type: "directory"; readonly path: string }
	| { readonly type: "file"; readonly path: string }
	| { readonly type: "agent directory"; readonly folder: string }
	| { readonly type: "nearest"; readonly folder: string }
	| { readonly type: "manifests"; readonly paths: readonly string[]; readonly only?: readonly string[] }
	| { readonly type: "texts"; readonly files: readonly KnownFile[] }
);

const agents: Flavour = "agents";

/** Global `<agentDir>/subagents` and the project's nearest `.pi/subagents`: the default of `discoverPresets`. */
export function subagentsDirs(): Source[] {
	return [
		{ type: "agent directory", folder: "subagents", source: origin("global", "subagents"), rank: 31 },
		{ type: "nearest", folder: join(".pi", "subagents"), source: origin("project", "subagents"), rank: 42 },
	];
}

/** Global `<agentDir>/agents` and the project's nearest `.agents/agents` and `.pi/agents`. */
export function agentsDirs(): Source[] {
	return [
		{ type: "agent directory", folder: "agents", source: origin("global", agents), rank: 30 },
		{ type: "nearest", folder: join(".agents", "agents"), source: origin("project", agents), rank: 40 },
		{ type: "nearest", folder: join(".pi", "agents"), source: origin("project", agents), rank: 41 },
	];
}

/** Claude Code agents: `~/.claude/agents` and the project's nearest `.claude/agents`. */
export function claudeImport({ home = homedir() }: { readonly home?: string } = {}): Source[] {
	const user = origin("import", "claude");
	return [
		{ type: "directory", path: join(home, ".claude", "agents"), source: user, rank: 20 },
		{ type: "nearest", folder: join(".claude", "agents"), source: { ...user, inProject: true }, rank: 22 },
	];
}

/** OpenCode agents: `~/.config/opencode/agents` and the project's nearest `.opencode/agents`; the folder name `agent` works as well. */
export function opencodeImport({ home = homedir() }: { readonly home?: string } = {}): Source[] {
	const user = origin("import", "opencode");
	return ["agent", "agents"].flatMap((folder): Source[] => [
		{ type: "directory", path: join(home, ".config", "opencode", folder), source: user, rank: 21 },
		{ type: "nearest", folder: join(".opencode", folder), source: { ...user, inProject: true }, rank: 23 },
	]);
}

/**
 * Presets that packages ship: directories or files named by `pi.subagents` in each `package.json`. `only` restricts them
 * to some packages, as `name` or as written in pi's settings: `npm:name@1.0.0`.
 */
export function packagePresets(
	manifestPaths: readonly string[],
	{ only }: { readonly only?: readonly string[] } = {},
): Source[] {
	const named = only === undefined ? {} : { only: only.map(packageName) };
	return [{ type: "manifests", paths: manifestPaths, ...named, source: origin("package", agents), rank: 10 }];
}

function packageName(written: string): string {
	return written
		.trim()
		.replace(/^npm:/, "")
		.replace(/(?<=.)@[^/@]*$/, "");
}

/** The presets that come with this package. */
export function builtins(): Source[] {
	return [{ type: "texts", files: builtinFiles, source: origin("builtin", agents), rank: 0 }];
}

/** Presets that a running program registered, each parsed by `parseDefinition`. */
export function registered(results: readonly ParseResult[]): Source[] {
	const files = results.flatMap(({ preset, ...rest }) =>
		preset ? [{ path: preset.path, text: "", result: { preset, ...rest } }] : [],
	);
	return [{ type: "texts", files, source: origin("runtime", agents), rank: 15 }];
}

/** Any other directory, such as one of a third-party tool. */
export function directory(path: string, like: Partial<PresetSource> = {}): Source[] {
	return [{ type: "directory", path, ...custom(like) }];
}

/** One file. */
export function file(path: string, like: Partial<PresetSource> = {}): Source[] {
	return [{ type: "file", path, ...custom(like) }];
}

/** Everything: built-ins, imports, and the global and project directories. The caller has to find the packages. */
export function allSources(options: { readonly home?: string; readonly manifests?: readonly string[] } = {}): Source[] {
	return [
		...builtins(),
		...packagePresets(options.manifests ?? []),
		...claudeImport(options),
		...opencodeImport(options),
		...agentsDirs(),
		...subagentsDirs(),
	];
}

function origin(kind: SourceKind, flavour: Flavour): PresetSource {
	return { kind, flavour, inProject: kind === "project" };
}

function custom({ kind = "global", flavour = "subagents", inProject = kind === "project" }: Partial<PresetSource>) {
	const ranks: Record<SourceKind, number> = {
		builtin: 0,
		package: 10,
		runtime: 15,
		import: 24,
		global: 32,
		project: 43,
	};
	return { source: { kind, flavour, inProject }, rank: ranks[kind] };
}
