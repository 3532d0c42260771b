/** pi's arguments for a run. Pure. The task is not in argv; it could be parsed as an option. */
import { join } from "node:path";
import type { RunSpec } from "@pi-subagents/core";
import { allTools } from "@pi-subagents/core";
import { RUN_FILES } from "@pi-subagents/runs";
import { promptParts } from "../../session/resources/prompt.ts";

/** What depends on the machine, not on the spec. */
export interface LaunchFacts {
	runDir: string;
	/** Our own extensions, in this order: the one that loads the guards, the one that provides the ask tool, and others. */
	entries: readonly string[];
	/** Options of the guards on the parent's command line. */
	guardFlags?: Readonly<Record<string, string | true>>;
	isProjectTrusted: boolean;
	/** Paths of the user's extensions that it loads. */
	extensions: readonly string[];
	/** Paths of its skills; all skills when absent. */
	skills?: readonly string[] | undefined;
	/** The user's file that is appended to every system prompt. */
	appendedPrompt?: string | undefined;
}

export function piArguments(spec: RunSpec, facts: LaunchFacts): string[] {
	const { runDir, entries, isProjectTrusted, extensions, skills, guardFlags = {} } = facts;
	const tools = allTools(spec);
	return [
		...["--mode", "rpc"],
		...["--session", join(runDir, RUN_FILES.session)],
		...["--model", spec.model],
		...(spec.thinking === undefined ? [] : ["--thinking", spec.thinking]),
		...(tools.length > 0 ? ["--tools", tools.join(",")] : ["--no-tools"]),
		// This also disables pi's own extensions.
		"--no-extensions",
		...[...entries, ...extensions].flatMap((path) => ["--extension", path]),
		...(skills === undefined ? [] : ["--no-skills", ...skills.flatMap((path) => ["--skill", path])]),
		...["--no-prompt-templates", "--no-themes"],
		isProjectTrusted ? "--approve" : "--no-approve",
		...promptArguments(spec, facts),
		...Object.entries(guardFlags).map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`)),
	];
}

/** The same arguments for another model. */
export function withModel(args: readonly string[], model: string): string[] {
	return args.map((argument, index) => (args[index - 1] === "--model" ? model : argument));
}

/** The system prompt file: the preset's prompt, the agent's tag and its notes. */
export function promptText(spec: RunSpec, memory?: string): string {
	const { replacement, additions } = promptParts(spec, memory);
	return [...(replacement === undefined ? [] : [replacement]), ...additions].join("\n\n");
}

function promptArguments(spec: RunSpec, { runDir, appendedPrompt }: LaunchFacts): string[] {
	const file = join(runDir, RUN_FILES.systemPrompt);
	if (promptParts(spec).replacement !== undefined) return ["--system-prompt", file];
	// With this option, pi no longer finds the user's own file.
	const files = appendedPrompt === undefined ? [file] : [appendedPrompt, file];
	return files.flatMap((path) => ["--append-system-prompt", path]);
}
