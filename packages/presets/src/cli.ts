/** The commands of `pi-presets`, with everything from outside as an argument. Text is made in `cli-text.ts`. */
import { stat } from "node:fs/promises";
import { createCatalogue } from "./catalogue.ts";
import { type Call, readCall, type Surroundings, usage } from "./cli-options.ts";
import { count, describePreset, describeProblems, listPresets } from "./cli-text.ts";
import { inOrder, lint } from "./lint.ts";
import { findPreset } from "./merge.ts";
import { nameKey } from "./names.ts";
import type { Preset, Problem } from "./preset.ts";
import { didYouMean } from "./suggest.ts";
import { oneLine, quote } from "./text.ts";

/** The world around a command. */
export interface World extends Surroundings {
	version(): string;
	/** Width of the terminal, if there is one. */
	readonly columns?: number | undefined;
	out(text: string): void;
	err(text: string): void;
}

/** Runs one command and gives its exit code. */
export async function runCli(args: readonly string[], world: World): Promise<0 | 1 | 2> {
	const call = readCall(args, world);
	if (typeof call === "string") return misuse(world, call);
	const [command, ...words] = call.words;
	if (command === "help") world.out(usage);
	if (command === "version") world.out(`${world.version()}\n`);
	if (command === "help" || command === "version") return 0;
	if (!(await isDirectory(call.options.cwd)))
		return misuse(world, `"--cwd" is not a directory: ${oneLine(call.options.cwd)}`);
	switch (command) {
		case "list":
			return words.length === 0 ? runList(call, world) : misuse(world, "list takes no arguments");
		case "show":
			return words.length === 1 ? runShow(call, words[0] ?? "", world) : misuse(world, "show takes one name");
		case "lint":
			return runLint(call, words, world);
		default:
			return misuse(
				world,
				command === undefined
					? "a command is missing"
					: `unknown command ${quote(command)}${didYouMean(command, ["list", "show", "lint"])}`,
			);
	}
}

async function runList({ options, json }: Call, world: World): Promise<0 | 1> {
	const found = await createCatalogue(options).read();
	const problems = inOrder(found.problems);
	if (json) printJson({ presets: found.presets, problems }, world);
	else {
		world.out(listPresets(found.presets, world.columns));
		world.err(describeProblems(problems, options.cwd));
	}
	return exitCode(problems);
}

async function runShow({ options, json }: Call, name: string, world: World): Promise<0 | 1> {
	const { presets, problems } = await createCatalogue(options).read();
	const preset = findPreset(presets, name);
	const about = inOrder(problems.filter((problem) => concerns(problem, name, preset)));
	if (preset === undefined) {
		if (json) printJson({ problems: about }, world);
		const names = presets.map((each) => each.name);
		const hint = didYouMean(name, names) || `: there are ${names.join(", ") || "none"}`;
		const isBroken = exitCode(about) === 1;
		const outcome = isBroken
			? `the preset ${quote(name)} cannot be used until this is corrected`
			: `there is no preset ${quote(name)}${hint}`;
		world.err(`${describeProblems(about, options.cwd)}pi-presets: ${outcome}\n`);
		return 1;
	}
	if (json) printJson({ preset, problems: about }, world);
	else {
		world.out(describePreset(preset, options.cwd));
		world.err(describeProblems(about, options.cwd));
	}
	return exitCode(about);
}

async function runLint({ options, json }: Call, paths: readonly string[], world: World): Promise<0 | 1> {
	const { presets, problems } = await lint({ ...options, paths });
	const errors = problems.filter((problem) => problem.severity === "error").length;
	const warnings = problems.length - errors;
	if (json) printJson({ presets: presets.length, errors, warnings, problems }, world);
	else {
		const sum = [count(presets.length, "preset"), count(errors, "error"), count(warnings, "warning")].join(", ");
		world.out(`${describeProblems(problems, options.cwd)}${sum}\n`);
	}
	return errors === 0 ? 0 : 1;
}

function concerns(problem: Problem, name: string, preset: Preset | undefined): boolean {
	if (problem.path === preset?.path) return true;
	return problem.preset !== undefined && nameKey(problem.preset) === nameKey(name);
}

function printJson(value: object, world: World): void {
	world.out(`${JSON.stringify(value, undefined, "\t")}\n`);
}

function exitCode(problems: readonly Problem[]): 0 | 1 {
	return problems.some((problem) => problem.severity === "error") ? 1 : 0;
}

function misuse(world: World, message: string): 2 {
	world.err(`pi-presets: ${message}\n${usage.split("\n", 1)[0]}; \`pi-presets --help\` says more.\n`);
	return 2;
}

async function isDirectory(path: string): Promise<boolean> {
	try {
		return (await stat(path)).isDirectory();
	} catch {
		return false;
	}
}
