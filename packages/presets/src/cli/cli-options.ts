/** Parses the command line of `pi-presets`. It has its own messages, because those of `parseArgs` vary with the Node version. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { DiscoverOptions } from "../catalogue/catalogue.ts";
import { agentsDirs, allSources, builtins, subagentsDirs } from "../catalogue/sources.ts";
import type { Flavour } from "../model/preset.ts";
import { didYouMean } from "../model/suggest.ts";
import { quote } from "../model/text.ts";

/** A parsed command line. */
export interface Call {
	readonly options: DiscoverOptions;
	/** The command and its arguments. */
	readonly words: readonly string[];
	readonly json: boolean;
	/** The kind of files in the paths. */
	readonly flavour?: Flavour;
}

/** Where relative paths and defaults come from. */
export interface CliEnvironment {
	readonly cwd: string;
	readonly home: string;
	readonly env: Readonly<Record<string, string | undefined>>;
}

export const usage = `Usage: pi-presets <command> [options]

Commands
  list              all presets, one line each
  show <name>       one preset: every value, where it comes from, and the prompt
  lint [paths...]   check presets, all of them when no path is given

Options
  --json            print JSON
  --as <kind>       kind of files to lint: subagents, agents, claude or opencode; default: by directory name
  --all             also import agents of Claude Code and OpenCode
  --cwd <dir>       the project; default: the current directory
  --agent-dir <dir> pi's directory; default: $PI_CODING_AGENT_DIR or ~/.pi/agent
  --version         print the version
  --help            print this

This command only reads preset files. It does not know pi's settings, such as \`builtins\` and \`agentOverrides\`,
or the presets of installed packages.

Exit code: 0 no errors, 1 errors found, 2 wrong usage.
`;

const optionTypes = {
	json: { type: "boolean" },
	all: { type: "boolean" },
	help: { type: "boolean", short: "h" },
	version: { type: "boolean" },
	cwd: { type: "string" },
	"agent-dir": { type: "string" },
	as: { type: "string" },
} as const;

const flavours: readonly Flavour[] = ["subagents", "agents", "claude", "opencode"];

/** The parsed call, or an error message. */
export function parseCall(args: readonly string[], { cwd, home, env }: CliEnvironment): Call | string {
	const words: string[] = [];
	const given = new Map<string, string>();
	const { tokens } = parseArgs({
		args: [...args],
		allowPositionals: true,
		options: optionTypes,
		strict: false,
		tokens: true,
	});
	for (const token of tokens) {
		if (token.kind === "positional") words.push(token.value);
		if (token.kind !== "option") continue;
		const { name, rawName, value, inlineValue } = token;
		const type = Object.entries(optionTypes).find(([key]) => key === name)?.[1].type;
		const names = Object.keys(optionTypes).map((key) => `--${key}`);
		if (type === undefined) return `unknown option ${quote(rawName)}${didYouMean(rawName, names)}`;
		if (type === "boolean" && value !== undefined) return `"${rawName}" takes no value`;
		// `--cwd --json` lacks the directory: a value that looks like an option is one.
		const isMissing = value === undefined || value === "" || (!inlineValue && value.startsWith("-"));
		if (type === "string" && isMissing) return `"${rawName}" needs a ${name === "as" ? "kind" : "directory"}`;
		given.set(name, value ?? "");
	}
	const flavour = flavours.find((each) => each === given.get("as"));
	if (given.has("as") && flavour === undefined)
		return `"--as" must be one of ${flavours.join(", ")}${didYouMean(given.get("as") ?? "", flavours)}`;
	const agentDir = given.get("agent-dir") ?? (env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent"));
	const sources = given.has("all") ? allSources({ home }) : [...builtins(), ...agentsDirs(), ...subagentsDirs()];
	const options = {
		cwd: resolve(cwd, given.get("cwd") ?? ""),
		agentDir: resolve(cwd, agentDir.replace(/^~(?=$|[\\/])/, home)),
		sources,
	};
	const command = given.has("help") ? ["help"] : given.has("version") ? ["version"] : words;
	const call = { options, words: command, json: given.has("json") };
	return flavour === undefined ? call : { ...call, flavour };
}
