/** The types of this package: a preset, its source, and problems. Types only, so that any file may import it. */

import type { ChosenRunner, ThinkingLevel } from "@pi-subagents/progress";

/** The kind of source a preset comes from. Precedence by name: builtin < package < runtime < import < global < project. */
export type SourceKind = "builtin" | "package" | "runtime" | "import" | "global" | "project";

/** Which rules a file follows: `subagents` needs `name` and `description`; the other three have defaults for both. */
export type Flavour = "subagents" | "agents" | "claude" | "opencode";

/** Where a preset came from. */
export interface PresetSource {
	readonly kind: SourceKind;
	readonly flavour: Flavour;
	/** True when the file is in the project that the agent works on, so its author may not be trusted. */
	readonly inProject: boolean;
}

/** Where a value is written, or `"default"` when the file does not set it. */
export type Origin = { readonly path: string; readonly line: number } | "default";

/** The frontmatter fields other than `name` and `description`. A field that is not set is absent. */
export interface PresetFields {
	/** `"inherit"` is the model of the session that starts it. */
	readonly model?: string;
	readonly fallbackModels?: readonly string[];
	/** A complete allow-list; `"*"` is every tool, `[]` is none. Entries may be `ext:<extension>`, `ext:<extension>/<tool>`, `mcp:<server>` or `mcp:<server>/<tool>`. */
	readonly tools?: "*" | readonly string[];
	readonly disallowedTools?: readonly string[];
	/** MCP servers that it connects, besides those that `tools` names. */
	readonly mcpServers?: readonly string[];
	/** `true` is all, `false` is none. */
	readonly extensions?: boolean | readonly string[];
	readonly excludeExtensions?: readonly string[];
	/** `true` is all, `false` is none. */
	readonly skills?: boolean | readonly string[];
	readonly thinking?: ThinkingLevel;
	readonly promptMode?: "append" | "replace";
	readonly inheritContext?: boolean;
	/** 0 is no limit. */
	readonly maxTurns?: number;
	/** 0 is no limit. */
	readonly timeoutMs?: number;
	/** 0 is no limit. */
	readonly toolTimeoutMs?: number;
	/** 0 is no limit. */
	readonly idleTimeoutMs?: number;
	readonly budgetTokens?: number;
	/** US dollars. */
	readonly budgetCost?: number;
	/** 0 is not at all. */
	readonly wrapUpPercent?: number;
	/** 0 is never. */
	readonly stalledAfterMs?: number;
	readonly isolation?: "worktree" | "off";
	readonly isolationBase?: string;
	/** Where its worktree is, and what makes it ready. */
	readonly worktree?: WorktreeFields;
	readonly isolated?: boolean;
	readonly memory?: "project" | "local" | "user";
	/** A JSON Schema. Only checked to be an object here. */
	readonly outputSchema?: Readonly<Record<string, unknown>>;
	readonly outputRepairs?: number;
	/** A command that checks its work. The schema is only checked to be an object here. */
	readonly verify?: Verify;
	readonly verifyRepairs?: number;
	/** Which presets it may start; `"*"` is any, `[]` is none. */
	readonly subagents?: "*" | readonly string[];
	readonly runner?: ChosenRunner;
	/** The machine that it runs on, by its name in the user's settings. */
	readonly machine?: string;
	/** Whether it is run again if that machine loses it. */
	readonly retry?: "lost" | "off";
	/** The program that it runs inside, by its name in the user's settings. */
	readonly launcher?: string;
	readonly color?: string;
	readonly enabled?: boolean;
	/** Fields that a call must not change. */
	readonly locked?: readonly FieldKey[];
}

/** Where a worktree is, and what makes it ready to work in. */
export interface WorktreeFields {
	/** Relative to the repository, absolute, or `~/…`. */
	readonly dir?: string;
	readonly link?: readonly string[];
	readonly include?: readonly string[];
	readonly setup?: string | readonly string[];
	/** 0 is no limit. */
	readonly setupTimeoutMs?: number;
}

/** A command that checks an agent's work. */
export interface Verify {
	/** Text for the user's shell, or a program with its arguments. */
	readonly command: string | readonly string[];
	/** 0 is no limit. */
	readonly timeoutMs?: number;
	/** What it prints is JSON, and becomes the result. */
	readonly output?: "json";
	/** A JSON Schema. */
	readonly schema?: Readonly<Record<string, unknown>>;
}

/** The property name of a frontmatter field. */
export type FieldKey = keyof PresetFields | "name" | "description";

/** A preset that another one of the same name replaced. */
export interface Replaced {
	readonly source: PresetSource;
	readonly path: string;
}

/** How one value of a Claude Code or OpenCode file was translated. */
export interface ImportNote {
	readonly line: number;
	/** As written in the file. */
	readonly from: string;
	/** What it means here; absent when it has no counterpart. */
	readonly to?: string;
}

/** A named prompt with its tools, model and limits: one markdown file. */
export interface Preset extends PresetFields {
	readonly name: string;
	/** One line, without control characters, at most 1,000 characters. */
	readonly description: string;
	/** The body of the file. */
	readonly prompt: string;
	readonly promptMode: "append" | "replace";
	/** A disabled preset hides the presets it replaces and must not be started. */
	readonly enabled: boolean;
	readonly source: PresetSource;
	readonly path: string;
	/** For each field that has a value: where it is written. */
	readonly origins: { readonly [Key in FieldKey]?: Origin };
	/** Presets of the same name and lower precedence, the nearest first. */
	readonly replaces?: readonly Replaced[];
	/** Only for imported files. */
	readonly imported?: readonly ImportNote[];
}

/** Something wrong in a file or with it, and how to fix it. */
export interface Problem {
	readonly path: string;
	readonly line?: number;
	readonly column?: number;
	/** `error`: it was not used. `warning`: it was used, perhaps not as the author intended. */
	readonly severity: "error" | "warning";
	/** The frontmatter field, as the file spells it. */
	readonly field?: string;
	/** The name of the preset, as far as it is known. */
	readonly preset?: string;
	readonly message: string;
}

/** The result of parsing one file. */
export interface ParseResult {
	readonly preset?: Preset;
	readonly problems: readonly Problem[];
	/**
	 * Set when there is no preset: the names that the file was probably meant to have, the likeliest first. A preset of
	 * lower precedence must not be used under these names, because the broken file may exist to remove tools.
	 */
	readonly reservedNames?: readonly string[];
	/** Set when there is no preset although the frontmatter could be read. */
	readonly draft?: Draft;
}

/** A file whose text is already loaded. The path is for messages. */
export interface KnownFile {
	readonly path: string;
	readonly text: string;
	/** The result of parsing the text, if it was parsed before. */
	readonly result?: ParseResult;
}

/** The readable fields of a file that must not be used: enough to lint them, but not to start an agent. */
export interface Draft extends PresetFields {
	/** The likeliest name, if it is valid. */
	readonly name?: string;
	readonly source: PresetSource;
	readonly path: string;
	readonly origins: Preset["origins"];
}

/** The result of reading all sources. */
export interface Presets {
	/** One per name, sorted by name. */
	readonly presets: readonly Preset[];
	readonly problems: readonly Problem[];
	/** The readable parts of unusable files; absent when there are none. */
	readonly drafts?: readonly Draft[];
}
