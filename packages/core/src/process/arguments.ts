/** How pi is told what a run is. Pure. The task is not among it: it would have to be told from an option. */
import { join } from "node:path";
import { ASK_TOOL } from "../ask-text.ts";
import type { RunSpec } from "../runner.ts";
import { promptParts } from "../session/prompt.ts";
import { RUN_FILES } from "./layout.ts";

/** What the spec does not say, because it depends on the machine. */
export interface LaunchFacts {
	runDir: string;
	/** Our own extension for children, which brings the tool to ask with. */
	childEntry: string;
	isProjectTrusted: boolean;
	/** The paths of the user's extensions that it loads. */
	extensions: readonly string[];
	/** The paths of the skills that it knows; all there are when absent. */
	skills?: readonly string[] | undefined;
	/** The file that the user appends to every system prompt. */
	appendedPrompt?: string | undefined;
}

export function piArguments(spec: RunSpec, facts: LaunchFacts): string[] {
	const { runDir, childEntry, isProjectTrusted, extensions, skills } = facts;
	return [
		...["--mode", "rpc"],
		...["--session", join(runDir, RUN_FILES.session)],
		...["--model", spec.model],
		...(spec.thinking === undefined ? [] : ["--thinking", spec.thinking]),
		...["--tools", [...new Set([...spec.tools, ASK_TOOL.name])].join(",")],
		// Since pi has extensions of its own this means those as well, and what they connect to.
		"--no-extensions",
		...[childEntry, ...extensions].flatMap((path) => ["--extension", path]),
		...(skills === undefined ? [] : ["--no-skills", ...skills.flatMap((path) => ["--skill", path])]),
		...["--no-prompt-templates", "--no-themes"],
		isProjectTrusted ? "--approve" : "--no-approve",
		...promptArguments(spec, facts),
	];
}

/** The same arguments for another model. */
export function withModel(args: readonly string[], model: string): string[] {
	return args.map((argument, index) => (args[index - 1] === "--model" ? model : argument));
}

/** What is in the file of the system prompt: the preset's words, whose they are, and what the agent noted. */
export function promptText(spec: RunSpec, memory?: string): string {
	const { replacement, additions } = promptParts(spec, memory);
	return [...(replacement === undefined ? [] : [replacement]), ...additions].join("\n\n");
}

function promptArguments(spec: RunSpec, { runDir, appendedPrompt }: LaunchFacts): string[] {
	const file = join(runDir, RUN_FILES.systemPrompt);
	if (promptParts(spec).replacement !== undefined) return ["--system-prompt", file];
	// Told to append one file, pi no longer looks for the user's.
	const files = appendedPrompt === undefined ? [file] : [appendedPrompt, file];
	return files.flatMap((path) => ["--append-system-prompt", path]);
}
