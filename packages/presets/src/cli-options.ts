/** Reads the command line of `pi-presets`. Complaints are our own: those of `parseArgs` vary with the version of Node. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { DiscoverOptions } from "./catalogue.ts";
import { agentsDirs, allSources, builtins, subagentsDirs } from "./sources.ts";
import { didYouMean } from "./suggest.ts";
import { quote } from "./text.ts";

/** What the words on the command line mean. */
export interface Call {
	readonly options: DiscoverOptions;
	/** The command and its arguments. */
	readonly words: readonly string[];
	readonly json: boolean;
}

/** Where relative paths and defaults come from. */
export interface Surroundings {
	readonly cwd: string;
	readonly home: string;
	readonly env: Readonly<Record<string, string | undefined>>;
}

export const usage = `Usage: pi-presets <command> [options]

Commands
  list              all presets, one line each
  show <name>       one preset: every value, where it comes from, and the prompt
  lint [paths...]   everything that is wrong or odd; all presets when no path is given

Options
  --json            print JSON
  --all             also import agents of Claude Code and OpenCode
  --cwd <dir>       the project; default: the current directory
  --agent-dir <dir> pi's directory; default: $PI_CODING_AGENT_DIR or ~/.pi/agent
  --version         print the version
  --help            print this

This command reads files only. What pi adds is not known to it: settings such as \`builtins\` and \`agentOverrides\`,
and presets that installed packages ship.

Exit code: 0 fine, 1 errors were found, 2 wrong usage.
`;

const known = {
	json: { type: "boolean" },
	all: { type: "boolean" },
	help: { type: "boolean", short: "h" },
	version: { type: "boolean" },
	cwd: { type: "string" },
	"agent-dir": { type: "string" },
} as const;

/** The call, or what is wrong with it. */
export function readCall(args: readonly string[], { cwd, home, env }: Surroundings): Call | string {
	const words: string[] = [];
	const given = new Map<string, string>();
	const { tokens } = parseArgs({
		args: [...args],
		allowPositionals: true,
		options: known,
		strict: false,
		tokens: true,
	});
	for (const token of tokens) {
		if (token.kind === "positional") words.push(token.value);
		if (token.kind !== "option") continue;
		const { name, rawName, value, inlineValue } = token;
		const type = Object.entries(known).find(([key]) => key === name)?.[1].type;
		const names = Object.keys(known).map((key) => `--${key}`);
		if (type === undefined) return `unknown option ${quote(rawName)}${didYouMean(rawName, names)}`;
		if (type === "boolean" && value !== undefined) return `"${rawName}" takes no value`;
		// What looks like an option was meant as one: `--cwd --json` lacks the directory.
		const isMissing = value === undefined || value === "" || (!inlineValue && value.startsWith("-"));
		if (type === "string" && isMissing) return `"${rawName}" needs a directory`;
		given.set(name, value ?? "");
	}
	const agentDir = given.get("agent-dir") ?? (env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent"));
	const sources = given.has("all") ? allSources({ home }) : [...builtins(), ...agentsDirs(), ...subagentsDirs()];
	const options = {
		cwd: resolve(cwd, given.get("cwd") ?? ""),
		agentDir: resolve(cwd, agentDir.replace(/^~(?=$|[\\/])/, home)),
		sources,
	};
	const instead = given.has("help") ? ["help"] : given.has("version") ? ["version"] : words;
	return { options, words: instead, json: given.has("json") };
}
