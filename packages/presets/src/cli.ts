/** The commands of `pi-presets`, with everything from outside as an argument. Text is made in `cli-text.ts`. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createCatalogue, type DiscoverOptions } from "./catalogue.ts";
import { describePreset, describeProblems, listPresets } from "./cli-text.ts";
import { lint } from "./lint.ts";
import { findPreset } from "./merge.ts";
import type { Preset, Presets, Problem } from "./preset.ts";
import { agentsDirs, allSources, builtins, subagentsDirs } from "./sources.ts";
import { didYouMean } from "./suggest.ts";
import { quote } from "./text.ts";

/** The world around a command. */
export interface World {
	readonly cwd: string;
	readonly home: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Width of the terminal, if there is one. */
	readonly columns?: number | undefined;
	out(text: string): void;
	err(text: string): void;
}

interface Call {
	readonly options: DiscoverOptions;
	readonly words: readonly string[];
	readonly json: boolean;
}

const usage = `Usage: pi-presets <command> [options]

Commands
  list              all presets, one line each
  show <name>       one preset: every value, where it comes from, and the prompt
  lint [paths...]   everything that is wrong or odd; all presets when no path is given

Options
  --json            print JSON
  --all             also import agents of Claude Code and OpenCode
  --cwd <dir>       the project; default: the current directory
  --agent-dir <dir> pi's directory; default: $PI_CODING_AGENT_DIR or ~/.pi/agent
  --help            print this

Exit code: 0 fine, 1 errors were found, 2 wrong usage.
`;

/** Runs one command and gives its exit code. */
export async function runCli(args: readonly string[], world: World): Promise<0 | 1 | 2> {
	const call = readCall(args, world);
	if (typeof call === "string") {
		world.err(`pi-presets: ${call}\n\n${usage}`);
		return 2;
	}
	const [command, ...words] = call.words;
	switch (command) {
		case "help":
			world.out(usage);
			return 0;
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

function readCall(args: readonly string[], { cwd, home, env }: World): Call | string {
	try {
		const { values, positionals } = parseArgs({
			args: [...args],
			allowPositionals: true,
			options: {
				json: { type: "boolean", default: false },
				all: { type: "boolean", default: false },
				help: { type: "boolean", short: "h", default: false },
				cwd: { type: "string", default: cwd },
				"agent-dir": { type: "string", default: env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent") },
			},
		});
		const agentDir = values["agent-dir"].replace(/^~(?=$|[\\/])/, home);
		const sources = values.all ? allSources({ home }) : [...builtins(), ...agentsDirs(), ...subagentsDirs()];
		const options = { cwd: resolve(cwd, values.cwd), agentDir: resolve(cwd, agentDir), sources };
		return { options, words: values.help ? ["help"] : positionals, json: values.json };
	} catch (error) {
		return error instanceof Error ? error.message : "the options cannot be read";
	}
}

async function runList({ options, json }: Call, world: World): Promise<0 | 1> {
	const found = await createCatalogue(options).read();
	if (json) printJson(found, world);
	else {
		world.out(listPresets(found.presets, world.columns));
		world.err(describeProblems(found.problems, options.cwd));
	}
	return exitCode(found.problems);
}

async function runShow({ options, json }: Call, name: string, world: World): Promise<0 | 1> {
	const { presets, problems } = await createCatalogue(options).read();
	const preset = findPreset(presets, name);
	const about = problems.filter((problem) => concerns(problem, name, preset));
	if (preset === undefined) {
		const names = presets.map((each) => each.name);
		const hint = didYouMean(name, names) || `: there are ${names.join(", ") || "none"}`;
		if (json) printJson({ problems: about }, world);
		world.err(`pi-presets: there is no preset ${quote(name)}${hint}\n${describeProblems(about, options.cwd)}`);
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
	else
		world.out(
			`${describeProblems(problems, options.cwd)}${presets.length} presets, ${errors} errors, ${warnings} warnings\n`,
		);
	return errors === 0 ? 0 : 1;
}

function concerns(problem: Problem, name: string, preset: Preset | undefined): boolean {
	return problem.path === preset?.path || problem.preset?.toLowerCase() === name.toLowerCase();
}

function printJson(value: Partial<Presets> | object, world: World): void {
	world.out(`${JSON.stringify(value, undefined, "\t")}\n`);
}

function exitCode(problems: readonly Problem[]): 0 | 1 {
	return problems.some((problem) => problem.severity === "error") ? 1 : 0;
}

function misuse(world: World, message: string): 2 {
	world.err(`pi-presets: ${message}\n\n${usage}`);
	return 2;
}
