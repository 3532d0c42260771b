/**
 * The one table of frontmatter fields. The parser, the linter, the docs and the tests all read it;
 * a field that is not here does not exist.
 */
import type { Field } from "./field.ts";
import type { FieldKey } from "./preset.ts";
import type { Kind } from "./values.ts";

const unlimited = "no limit of its own";

/** Every frontmatter field, in the order of the docs. `drop` and `refuse` say what a wrong value costs. */
export const fields: readonly Field[] = [
	refuse("name", "name", kind("name"), {
		doc: "What the preset is called; case does not matter.",
		absent: "required in `subagents`; else the file name",
	}),
	drop("description", "description", kind("prose"), {
		doc: "When to choose it; the model reads this.",
		absent: "required in `subagents`; else the name",
	}),
	drop("model", "model", kind("model"), {
		doc: "The model to use unless the call names one; `inherit` takes the model of the session that starts it.",
		absent: "the setting; without it the call must name one in `subagents`, and the session's is used elsewhere",
	}),
	drop("fallbackModels", "fallback_models", kind("models"), {
		doc: "Models to try, in this order, when the first one is unavailable.",
		absent: "none",
	}),
	refuse("tools", "tools", kind("tools"), {
		doc: "The complete list of tools it may use: names, `ext:extension`, `ext:extension/tool`, `*` (every tool) or `none`.",
		absent: "the usual tools",
	}),
	refuse("disallowedTools", "disallowed_tools", kind("denied tools"), {
		doc: "Tools it may not use, whatever `tools` says.",
		absent: "none",
		aliases: ["exclude_tools"],
	}),
	refuse("extensions", "extensions", kind("switch or list"), {
		doc: "Which extensions it loads: all, none, or those named.",
		absent: "the caller's choice",
		aliases: ["inherit_extensions"],
	}),
	refuse("excludeExtensions", "exclude_extensions", kind("list"), {
		doc: "Extensions it must not load, whatever `extensions` says.",
		absent: "none",
	}),
	refuse("skills", "skills", kind("switch or list"), {
		doc: "Which skills it knows: all, none, or those named.",
		absent: "the caller's choice",
		aliases: ["inherit_skills"],
	}),
	drop(
		"thinking",
		"thinking",
		choice(["off", "minimal", "low", "medium", "high", "xhigh", "max"], ["none:off", "false:off", "no:off"]),
		{
			doc: "How hard the model thinks.",
			absent: "the caller's level",
			aliases: ["effort", "reasoning_effort", "thinking_level"],
		},
	),
	drop("promptMode", "prompt_mode", choice(["append", "replace"]), {
		doc: "Whether the body is added to the usual system prompt or stands in its place.",
		absent: "`append` in `subagents`, else `replace`",
		aliases: ["system_prompt_mode"],
		fallback: (source) => (source.flavour === "subagents" ? "append" : "replace"),
	}),
	drop("inheritContext", "inherit_context", kind("boolean"), {
		doc: "Whether it begins with the conversation of whoever starts it.",
		absent: "the call decides",
	}),
	drop("maxTurns", "max_turns", count(0, 100_000), {
		doc: "After so many turns it is asked to finish; 0 is no limit.",
		absent: unlimited,
		aliases: ["steps"],
	}),
	drop("timeoutMs", "timeout", kind("duration"), {
		doc: "How long a run may take; 0 is no limit.",
		absent: unlimited,
		aliases: ["timeout_ms"],
	}),
	drop("toolTimeoutMs", "tool_timeout", kind("duration"), {
		doc: "How long one tool call may take; 0 is no limit.",
		absent: unlimited,
		aliases: ["tool_timeout_ms"],
	}),
	drop("idleTimeoutMs", "idle_timeout", kind("duration"), {
		doc: "How long it may show no sign of life; 0 is no limit.",
		absent: unlimited,
		aliases: ["idle_timeout_ms"],
	}),
	drop("budgetTokens", "budget_tokens", count(0, 1e12), {
		doc: "Tokens it may spend; `200k` and `1.5m` are understood.",
		absent: unlimited,
	}),
	drop("budgetCost", "budget_cost", kind("money"), {
		doc: "US dollars it may spend.",
		absent: unlimited,
	}),
	refuse("isolation", "isolation", choice(["worktree", "off"], ["none:off", "no:off", "false:off"]), {
		doc: "Whether it works in a git worktree of its own.",
		absent: "the call decides",
	}),
	refuse("isolationBase", "isolation_base", text(250), {
		doc: "What its worktree starts from: `head` (the last commit) or `dirty` (also what is not committed).",
		absent: "`head`",
		aliases: ["base_ref"],
	}),
	refuse("isolated", "isolated", kind("boolean"), {
		doc: "Whether it runs without any extension or skill.",
		absent: "no",
	}),
	refuse("memory", "memory", choice(["project", "local", "user"], ["none:", "off:", "no:", "false:"]), {
		doc: "Where it keeps notes from one run to the next: with the project, there but out of git's sight, or with the user.",
		absent: "no memory",
	}),
	drop("outputSchema", "output_schema", kind("schema"), {
		doc: "The JSON Schema that its answer must match.",
		absent: "free text",
	}),
	drop("outputRepairs", "output_repairs", count(0, 20), {
		doc: "How often it may correct an answer that does not match.",
		absent: "the runner's default",
	}),
	refuse("subagents", "subagents", kind("preset names"), {
		doc: "Which presets it may start itself: names, `*` (any) or `none`.",
		absent: "the caller's choice",
		aliases: ["allowed_subagents", "subagent_agents"],
	}),
	drop("runner", "runner", choice(["session", "process", "tmux"]), {
		doc: "Where it runs: inside pi, in a process of its own, or in a tmux pane.",
		absent: "the setting",
	}),
	drop("color", "color", kind("color"), {
		doc: "The colour of its badge.",
		absent: "chosen by the widget",
		aliases: ["colour"],
	}),
	refuse("enabled", "enabled", kind("boolean"), {
		doc: "`false` hides it, and hides what it replaces.",
		absent: "`true`",
		fallback: () => true,
	}),
	refuse("locked", "locked", kind("list"), {
		doc: "Fields of this file that a call must not change.",
		absent: "none",
	}),
];

type More = Pick<Field, "doc" | "absent"> & Partial<Pick<Field, "aliases" | "fallback">>;

/** A wrong value costs only the field. */
function drop(key: FieldKey, name: string, kind: Kind, more: More): Field {
	return { aliases: [], ...more, key, name, kind, onError: "drop" };
}

/** A wrong value costs the preset, since without the field it could do more than its author allowed. */
function refuse(key: FieldKey, name: string, kind: Kind, more: More): Field {
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

/** One of some words; synonyms are `word:meaning`, or `word:` for "as if absent". */
function choice(values: readonly string[], synonyms: readonly string[] = []): Kind {
	const pairs = synonyms.map((pair): [string, string | undefined] => {
		const [word = "", meaning = ""] = pair.split(":");
		return [word, meaning === "" ? undefined : meaning];
	});
	return { type: "choice", values, synonyms: new Map(pairs) };
}
