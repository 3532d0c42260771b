/** The commands of `pi-presets`. Everything outside is passed in; `cli-text.ts` formats the output. */
import { stat } from "node:fs/promises";
import { createCatalogue } from "../catalogue/catalogue.ts";
import { findPreset } from "../catalogue/merge.ts";
import { lint, sortProblems } from "../lint/lint.ts";
import { nameKey } from "../model/names.ts";
import type { Preset, Problem } from "../model/preset.ts";
import { didYouMean } from "../model/suggest.ts";
import { oneLine, quote } from "../model/text.ts";
import { type Call, type CliEnvironment, parseCall, usage } from "./cli-options.ts";
import { count, describePreset, describeProblems, listPresets } from "./cli-text.ts";

/** What a command needs from its process. */
export interface CliContext extends CliEnvironment {
	version(): string;
	/** The width of the terminal, if there is one. */
	readonly columns?: number | undefined;
	out(text: string): void;
	err(text: string): void;
}

/** Runs one command and returns its exit code. */
export async function runCli(args: readonly string[], context: CliContext): Promise<0 | 1 | 2> {
	const call = parseCall(args, context);
	if (typeof call === "string") return usageError(context, call);
	const [command, ...words] = call.words;
	if (command === "help") context.out(usage);
	if (command === "version") context.out(`${context.version()}\n`);
	if (command === "help" || command === "version") return 0;
	if (!(await isDirectory(call.options.cwd)))
		return usageError(context, `"--cwd" is not a directory: ${oneLine(call.options.cwd)}`);
	switch (command) {
		case "list":
			return words.length === 0 ? runList(call, context) : usageError(context, "list takes no arguments");
		case "show":
			return words.length === 1 ? runShow(call, words[0] ?? "", context) : usageError(context, "show takes one name");
		case "lint":
			return runLint(call, words, context);
		default:
			return usageError(
				context,
				command === undefined
					? "a command is missing"
					: `unknown command ${quote(command)}${didYouMean(command, ["list", "show", "lint"])}`,
			);
	}
}

async function runList({ options, json }: Call, context: CliContext): Promise<0 | 1> {
	const found = await createCatalogue(options).read();
	const problems = sortProblems(found.problems);
	if (json) printJson({ presets: found.presets, problems }, context);
	else {
		context.out(listPresets(found.presets, context.columns));
		context.err(describeProblems(problems, options.cwd));
	}
	return exitCode(problems);
}

async function runShow({ options, json }: Call, name: string, context: CliContext): Promise<0 | 1> {
	const { presets, problems } = await createCatalogue(options).read();
	const preset = findPreset(presets, name);
	const about = sortProblems(problems.filter((problem) => concerns(problem, name, preset)));
	if (preset === undefined) {
		if (json) printJson({ problems: about }, context);
		const names = presets.map((each) => each.name);
		const hint = didYouMean(name, names) || `: there are ${names.join(", ") || "none"}`;
		const isBroken = exitCode(about) === 1;
		const outcome = isBroken
			? `the preset ${quote(name)} cannot be used until this is fixed`
			: `there is no preset ${quote(name)}${hint}`;
		context.err(`${describeProblems(about, options.cwd)}pi-presets: ${outcome}\n`);
		return 1;
	}
	if (json) printJson({ preset, problems: about }, context);
	else {
		context.out(describePreset(preset, options.cwd));
		context.err(describeProblems(about, options.cwd));
	}
	return exitCode(about);
}

async function runLint(
	{ options, json, flavour }: Call,
	paths: readonly string[],
	context: CliContext,
): Promise<0 | 1> {
	const { presets, problems } = await lint({ ...options, paths, ...(flavour === undefined ? {} : { flavour }) });
	const errors = problems.filter((problem) => problem.severity === "error").length;
	const warnings = problems.length - errors;
	if (json) printJson({ presets: presets.length, errors, warnings, problems }, context);
	else {
		const summary = [count(presets.length, "preset"), count(errors, "error"), count(warnings, "warning")].join(", ");
		context.out(`${describeProblems(problems, options.cwd)}${summary}\n`);
	}
	return errors === 0 ? 0 : 1;
}

function concerns(problem: Problem, name: string, preset: Preset | undefined): boolean {
	if (problem.path === preset?.path) return true;
	return problem.preset !== undefined && nameKey(problem.preset) === nameKey(name);
}

function printJson(value: object, context: CliContext): void {
	context.out(`${printable(JSON.stringify(value, undefined, "\t"))}\n`);
}

/** Escapes what a terminal obeys and JSON leaves as it is, such as U+009B. Parsed, it is the same. */
function printable(json: string): string {
	const obeyed =
		/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;
	const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
	return json.replace(obeyed, (found) => found.split("").map(escaped).join(""));
}

function exitCode(problems: readonly Problem[]): 0 | 1 {
	return problems.some((problem) => problem.severity === "error") ? 1 : 0;
}

function usageError(context: CliContext, message: string): 2 {
	context.err(`pi-presets: ${message}\n${usage.split("\n", 1)[0]}; see \`pi-presets --help\`.\n`);
	return 2;
}

async function isDirectory(path: string): Promise<boolean> {
	try {
		return (await stat(path)).isDirectory();
	} catch {
		return false;
	}
}
