/**
 * The words of this package: what a preset is, where it came from, and what a problem looks like.
 * Types only, so that any file may import it.
 */

/** Who put a preset there. Later ones win by name: builtin < package < import < global < project. */
export type SourceKind = "builtin" | "package" | "import" | "global" | "project";

/** Which rules a file follows: `subagents` needs `name` and `description`; the other three have defaults for both. */
export type Flavour = "subagents" | "agents" | "claude" | "opencode";

/** Where a preset came from. */
export interface PresetSource {
	readonly kind: SourceKind;
	readonly flavour: Flavour;
	/** True when the file lies in the project that the agent works on, so its author may be a stranger. */
	readonly inProject: boolean;
}

/** Where a value was written, or `"default"` when nobody wrote it. */
export type Origin = { readonly path: string; readonly line: number } | "default";

/** Reasoning effort, from none to the most that a model offers. */
export type Thinking = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** What frontmatter can say beside `name` and `description`. A field that nobody set is absent. */
export interface PresetFields {
	/** `"inherit"` is the model of whoever starts it. */
	readonly model?: string;
	readonly fallbackModels?: readonly string[];
	/** A complete allow-list; `"*"` is every tool, `[]` is none. Entries may be `ext:<extension>` or `ext:<extension>/<tool>`. */
	readonly tools?: "*" | readonly string[];
	readonly disallowedTools?: readonly string[];
	/** `true` is all, `false` is none. */
	readonly extensions?: boolean | readonly string[];
	readonly excludeExtensions?: readonly string[];
	/** `true` is all, `false` is none. */
	readonly skills?: boolean | readonly string[];
	readonly thinking?: Thinking;
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
	readonly isolation?: "worktree" | "off";
	readonly isolationBase?: string;
	readonly isolated?: boolean;
	readonly memory?: "project" | "local" | "user";
	/** A JSON Schema. Checked here only to be an object. */
	readonly outputSchema?: Readonly<Record<string, unknown>>;
	readonly outputRepairs?: number;
	/** Which presets it may start; `"*"` is any, `[]` is none. */
	readonly subagents?: "*" | readonly string[];
	readonly runner?: "session" | "process" | "tmux";
	readonly color?: string;
	readonly enabled?: boolean;
	/** Fields that a call must not change. */
	readonly locked?: readonly FieldKey[];
}

/** The property name of a frontmatter field. */
export type FieldKey = keyof PresetFields | "name" | "description";

/** A preset that another one of the same name replaced. */
export interface Replaced {
	readonly source: PresetSource;
	readonly path: string;
}

/** What became of one value of a Claude Code or OpenCode file. */
export interface ImportNote {
	readonly line: number;
	/** As the file has it. */
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
	/** False when the file says so; such a preset hides the ones it replaces and must not be started. */
	readonly enabled: boolean;
	readonly source: PresetSource;
	readonly path: string;
	/** For each field that has a value: where it was written. */
	readonly origins: { readonly [Key in FieldKey]?: Origin };
	/** Same name, lower precedence; the nearest first. */
	readonly replaces?: readonly Replaced[];
	/** Only for imported files. */
	readonly imported?: readonly ImportNote[];
}

/** Something in a file (or about it) that we could not use, and what to do about it. */
export interface Problem {
	readonly path: string;
	readonly line?: number;
	readonly column?: number;
	/** `error`: it was not used. `warning`: it was used, perhaps not as its author meant. */
	readonly severity: "error" | "warning";
	/** The frontmatter field, as the file spells it. */
	readonly field?: string;
	/** The preset that the file claims to be, as far as that is known. */
	readonly preset?: string;
	readonly message: string;
}

/** What one file gave. */
export interface ParseResult {
	readonly preset?: Preset;
	readonly problems: readonly Problem[];
	/**
	 * Set when there is no preset: the names that the file claims, the likeliest first. Whoever merges must not let a
	 * preset of lower precedence answer to them, since the broken file may have been there to take tools away.
	 */
	readonly claims?: readonly string[];
	/** Set when there is no preset although the frontmatter could be read. */
	readonly draft?: Draft;
}

/** A file that is here already: a path for messages, and the text. */
export interface KnownFile {
	readonly path: string;
	readonly text: string;
	/** What parsing the text gives, where somebody has done so before. */
	readonly result?: ParseResult;
}

/** The readable fields of a file that must not be used: enough to check them, never to start an agent. */
export interface Draft extends PresetFields {
	/** The name that it claims, if that is usable. */
	readonly name?: string;
	readonly source: PresetSource;
	readonly path: string;
	readonly origins: Preset["origins"];
}

/** What a scan gave. */
export interface Presets {
	/** One per name, sorted by name. */
	readonly presets: readonly Preset[];
	readonly problems: readonly Problem[];
	/** What was read of files that are not used; absent when there are none. */
	readonly drafts?: readonly Draft[];
}
