/**
 * The table of frontmatter fields. The parser, the linter, the docs and the tests all read it;
 * a field that is not here does not exist.
 */

import { CHOSEN_RUNNERS, THINKING_LEVELS } from "@pi-subagents/progress";
import type { FieldKey, PresetSource } from "../model/preset.ts";
import { expected, type Kind } from "./values.ts";

/**
 * `users`: the user's counts. `smaller`: the smaller, 0 is no limit. `common`: what both allow. `either`: what either names,
 * and yes if either says so. `both`: yes only if both say so.
 */
export type Joining = "users" | "smaller" | "common" | "either" | "both";

/** One row of the field table. */
export interface Field {
	/** The property of `Preset`. */
	readonly key: FieldKey;
	/** The documented name in frontmatter. camelCase and kebab-case spellings work as well. */
	readonly name: string;
	/** Other names of the field. Under a name that ends in `ms`, numbers without a unit are milliseconds. */
	readonly aliases: readonly string[];
	readonly kind: Kind;
	/**
	 * What an invalid value does. `refuse`: the preset is not used, because without this field it could do more than its
	 * author allowed, or give an answer that was not checked. `drop`: the field is ignored, with an error. `warn`: the field is ignored, with a warning.
	 */
	readonly onError: "refuse" | "drop" | "warn";
	/**
	 * How what a project's settings say joins what the user's own say; absent where the project's replaces it. A project may
	 * narrow the user's limits, never widen them.
	 */
	readonly joins?: Joining;
	/** The value of a field that the file does not set; absent when the caller decides. */
	readonly fallback?: (source: PresetSource) => unknown;
	/** What its absence means, for the docs. */
	readonly absent: string;
	/** What it does, in one sentence, for the docs. */
	readonly doc: string;
}

const unlimited = "no limit in the preset";

/** Every frontmatter field, in the order of the docs. */
export const fields: readonly Field[] = [
	refuse("name", "name", kind("name"), {
		doc: "The name of the preset; case does not matter.",
		absent: "required in `subagents`; else the file name",
	}),
	drop("description", "description", kind("prose"), {
		doc: "When to use it; the model reads this.",
		absent: "required in `subagents`; else the name",
	}),
	drop("model", "model", kind("model"), {
		doc: "The model to use unless the call names one; `inherit` takes the model of the session that starts it.",
		absent:
			"the setting, else the session's model; for files in `subagents`, calls of `subagent` and `background_agent` must name one if the setting does not",
	}),
	drop("fallbackModels", "fallback_models", kind("models"), {
		doc: "Models to try, in this order, when the first is unavailable.",
		absent: "none",
	}),
	refuse("tools", "tools", kind("tools"), {
		doc: "The complete list of tools it may use: names (with pi 1.0 or newer also `codemode` and `tool_search`), `ext:extension`, `ext:extension/tool`, `mcp:server`, `mcp:server/tool` (also `mcp__server__*`, `mcp__server__tool`), `*` (every tool) or `none`.",
		absent: "the default tools, and those of its `extensions`",
		joins: "common",
		aliases: ["allowed_tools"],
	}),
	refuse("disallowedTools", "disallowed_tools", kind("denied tools"), {
		doc: "Tools it may not use, even if `tools` lists them; also `ask_main_session` and the tools with which it launches agents.",
		absent: "none",
		joins: "either",
		aliases: ["exclude_tools"],
	}),
	drop("mcpServers", "mcp_servers", kind("list"), {
		doc: "MCP servers of pi's `mcp.json` that it connects, for all their tools unless `tools` names some of them; needs pi 0.99 or newer.",
		absent: "those that `tools` names",
		joins: "common",
	}),
	refuse("extensions", "extensions", kind("switch or list"), {
		doc: "Which extensions it loads besides those that guard it: all that pi has loaded (also with `-e`), none, or a list of names or paths. Their tools are offered unless `tools` says otherwise. Other sub-agent extensions are never among them.",
		absent: "the caller's choice",
		joins: "common",
		aliases: ["inherit_extensions"],
	}),
	refuse("excludeExtensions", "exclude_extensions", kind("list"), {
		doc: "Extensions it does not load, even if `extensions` lists them, unless they guard it.",
		absent: "none",
		joins: "either",
	}),
	refuse("skills", "skills", kind("switch or list"), {
		doc: "Which skills it has: all, none, or a list.",
		absent: "the caller's choice",
		joins: "common",
		aliases: ["inherit_skills"],
	}),
	drop("thinking", "thinking", choice(THINKING_LEVELS, ["none:off", "false:off", "no:off"]), {
		doc: "The reasoning effort of the model.",
		absent: "the caller's level",
		aliases: ["effort", "reasoning_effort", "thinking_level"],
	}),
	drop("promptMode", "prompt_mode", choice(["append", "replace"]), {
		doc: "Whether the body is appended to the default system prompt or replaces it.",
		absent: "`append` in `subagents`, else `replace`",
		aliases: ["system_prompt_mode"],
		fallback: (source) => (source.flavour === "subagents" ? "append" : "replace"),
	}),
	drop("inheritContext", "inherit_context", kind("boolean"), {
		doc: "Whether it starts with the conversation of the session that starts it.",
		absent: "the call decides",
	}),
	refuse("maxTurns", "max_turns", count(0, 100_000), {
		doc: "After this many turns it is asked to finish; 0 is no limit.",
		absent: unlimited,
		joins: "smaller",
		aliases: ["steps"],
	}),
	refuse("timeoutMs", "timeout", kind("duration"), {
		doc: "How long a run may take; 0 is no limit.",
		absent: unlimited,
		joins: "smaller",
		aliases: ["timeout_ms", "timeout_seconds", "max_runtime_seconds", "max_runtime_ms"],
	}),
	refuse("toolTimeoutMs", "tool_timeout", kind("duration"), {
		doc: "How long one tool call may take; 0 is no limit.",
		absent: unlimited,
		joins: "smaller",
		aliases: ["tool_timeout_ms"],
	}),
	refuse("idleTimeoutMs", "idle_timeout", kind("duration"), {
		doc: "How long it may be inactive; 0 is no limit.",
		absent: unlimited,
		joins: "smaller",
		aliases: ["idle_timeout_ms"],
	}),
	refuse("budgetTokens", "budget_tokens", count(0, 1e12), {
		doc: "Tokens it may spend, such as `200k` or `1.5m`.",
		absent: unlimited,
		joins: "smaller",
	}),
	refuse("budgetCost", "budget_cost", kind("money"), {
		doc: "US dollars it may spend.",
		absent: unlimited,
		joins: "smaller",
	}),
	drop("wrapUpPercent", "wrap_up_before", kind("percent"), {
		doc: "How much of its time, turns and budget is kept for the answer: it is asked to finish that long, and at least one turn, before a limit ends the run; 0: it is not asked.",
		absent: "the setting, which is 10 %",
	}),
	drop("stalledAfterMs", "stalled_after", kind("duration"), {
		doc: "After how long without activity it is shown as stalled; 0 is never.",
		absent: "the setting, which is two minutes",
	}),
	refuse("isolation", "isolation", choice(["worktree", "off"], ["none:off", "no:off", "false:off"]), {
		doc: "Whether it works in its own git worktree.",
		absent: "the call decides",
		joins: "users",
	}),
	refuse("isolationBase", "isolation_base", text(250), {
		doc: "What its worktree starts from: `head` (the last commit) or `dirty` (with uncommitted changes).",
		absent: "`head`",
		joins: "users",
		aliases: ["base_ref"],
	}),
	refuse("worktree", "worktree", kind("worktree"), {
		doc: "Where its worktree is (`dir`) and what makes it ready: directories to `link`, ignored files to `include`, a `setup` command.",
		absent: "the setting",
		joins: "users",
	}),
	refuse("isolated", "isolated", kind("boolean"), {
		doc: "Whether it runs without any extension or skill.",
		absent: "no",
		joins: "either",
	}),
	refuse("memory", "memory", choice(["project", "local", "user"], ["none:", "off:", "no:", "false:"]), {
		doc: "Where it keeps notes between runs: `project` (in the repository), `local` (in the project, ignored by git) or `user`.",
		absent: "no memory",
		joins: "users",
	}),
	refuse("outputSchema", "output_schema", kind("schema"), {
		doc: "The JSON Schema that its answer must match; of an object, or of a list, a text or any other value.",
		absent: "free text",
		joins: "users",
	}),
	drop("outputRepairs", "output_repairs", count(0, 20), {
		doc: "How often it may fix an answer that does not match.",
		absent: "the runner's default",
	}),
	refuse("verify", "verify", kind("verify"), {
		doc: "A command that checks its work, in its directory, after its answer; if it fails, the agent is asked to fix the work, and the run fails if it cannot.",
		absent: "nothing is verified",
		joins: "users",
	}),
	refuse("verifyRepairs", "verify_repairs", count(0, 20), {
		doc: "How often it may fix work that `verify` rejects.",
		absent: "1",
		joins: "users",
	}),
	refuse("subagents", "subagents", kind("preset names"), {
		doc: "Which presets it may start: names, `*` (any) or `none`.",
		absent: "the caller's choice",
		joins: "common",
		aliases: ["allowed_subagents", "subagent_agents", "allowed_agents"],
	}),
	refuse("runner", "runner", choice(CHOSEN_RUNNERS), {
		doc: "Where it runs: inside pi (`session`), in its own process, or in a tmux pane.",
		absent: "the setting",
		joins: "users",
	}),
	refuse("machine", "machine", kind("name"), {
		doc: "The machine that it runs on: one from your settings (`machines`), `local` (a worker on this one) or `here`.",
		absent: "the setting, else this machine",
		joins: "users",
	}),
	refuse("retry", "retry", choice(["lost", "off"], ["none:off", "no:off", "false:off"]), {
		doc: "Whether it is run again from the start, once, if the machine that it runs on loses it (`lost`). Only on other machines.",
		absent: "the setting",
		joins: "users",
	}),
	refuse("launcher", "launcher", kind("name"), {
		doc: "The program that it runs inside, such as a sandbox: one from your settings (`launchers`). It then has its own process.",
		absent: "none",
		joins: "users",
	}),
	{
		...drop("color", "color", kind("color"), {
			doc: "The colour of its badge.",
			absent: "chosen by the widget",
			aliases: ["colour"],
		}),
		onError: "warn",
	},
	refuse("enabled", "enabled", kind("boolean"), {
		doc: "`false` hides it and the presets it replaces.",
		absent: "`true`",
		joins: "both",
		aliases: ["enable"],
		fallback: () => true,
	}),
	refuse("locked", "locked", kind("list"), {
		doc: "Fields that a call must not change.",
		absent: "none",
		joins: "either",
	}),
];

/**
 * The field table as markdown. The committed `FIELDS.md` must equal it; a test compares them.
 *
 * @example
 * await writeFile("FIELDS.md", fieldsMarkdown());
 */
export function fieldsMarkdown(): string {
	const rows = fields.map((field) => {
		const aliases = field.aliases.map((alias) => `\`${alias}\``).join(", ");
		const name = `\`${field.name}\`${aliases === "" ? "" : ` (also ${aliases})`}`;
		const invalid = field.onError === "refuse" ? "preset refused" : "field ignored";
		return `| ${[name, field.doc, expected(field.kind), field.absent, invalid].map(cell).join(" | ")} |`;
	});
	return [
		"# Frontmatter of a preset",
		"",
		"Generated from the field table in `src/fields/fields.ts`; do not edit. camelCase and kebab-case spellings work as well.",
		"An invalid value makes the preset unusable where ignoring it could allow the agent more than the file does.",
		"",
		"| field | what it does | value | when absent | invalid value |",
		"|---|---|---|---|---|",
		...rows,
		"",
	].join("\n");
}

type FieldDetails = Pick<Field, "doc" | "absent"> & Partial<Pick<Field, "aliases" | "fallback" | "joins">>;

/** An invalid value drops only the field. */
function drop(key: FieldKey, name: string, kind: Kind, more: FieldDetails): Field {
	return { aliases: [], ...more, key, name, kind, onError: "drop" };
}

/** An invalid value makes the preset unusable, because without the field it could do more than its author allowed. */
function refuse(key: FieldKey, name: string, kind: Kind, more: FieldDetails): Field {
	return { ...drop(key, name, kind, more), onError: "refuse" };
}

/** A kind that needs no details. */
function kind(type: Exclude<Kind["type"], "text" | "count" | "choice">): Kind {
	return { type };
}

function text(max: number): Kind {
	return { type: "text", max };
}

function count(min: number, max: number): Kind {
	return { type: "count", min, max };
}

/** One of several words. A synonym is `word:meaning`, or `word:` for "as if absent". */
function choice(values: readonly string[], synonyms: readonly string[] = []): Kind {
	const pairs = synonyms.map((pair): [string, string | undefined] => {
		const [word = "", meaning = ""] = pair.split(":");
		return [word, meaning === "" ? undefined : meaning];
	});
	return { type: "choice", values, synonyms: new Map(pairs) };
}

function cell(text: string): string {
	return text.replaceAll("|", "\\|");
}
