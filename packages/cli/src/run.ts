/** `run`: from arguments to an exit code. 0: done; 1: it could not be done; 2: the command line is wrong. */
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sanitizeBlock } from "@pi-subagents/progress";
import { attach } from "./commands/attach.ts";
import { type Command, type Context, Failure } from "./commands/context.ts";
import { list, watch } from "./commands/list.ts";
import { logs } from "./commands/logs.ts";
import { reply, stop } from "./commands/orders.ts";
import type { Output } from "./commands/output.ts";
import { loadReplay, loadReport } from "./commands/report.lazy.ts";
import { show } from "./commands/show.ts";
import { HELP } from "./help.ts";

export interface CliOptions {
	/** Without the program's name. */
	args: readonly string[];
	stdout: Output;
	stderr: Output;
	/** `PI_CODING_AGENT_DIR` is where pi's own files are; `TMUX` says whether this is a tmux window. */
	env: Readonly<Record<string, string | undefined>>;
	cwd: string;
	version?: string;
	/** Ends what follows or watches. */
	signal?: AbortSignal;
}

const COMMANDS: Record<string, Command> = {
	list: { words: [0, 0], call: list },
	show: { words: [1, 1], call: show },
	watch: { words: [0, 0], call: watch },
	logs: { words: [1, 1], call: logs },
	reply: { words: [2, Number.POSITIVE_INFINITY], call: reply },
	stop: { words: [1, 1], call: stop },
	attach: { words: [1, 1], call: attach },
	report: { words: [0, 1], call: async (...args) => (await loadReport()).report(...args) },
	trace: { words: [0, 1], call: async (...args) => (await loadReport()).trace(...args) },
	replay: { words: [0, 1], call: async (...args) => (await loadReplay()).replay(...args) },
};

/**
 * Runs one command and returns its exit code. Never throws for what a user typed or a file holds.
 *
 * @example
 * ```ts
 * const { stdout, stderr, env } = process;
 * process.exitCode = await run({ args: ["list", "--json"], stdout, stderr, env, cwd: process.cwd() });
 * ```
 */
export async function run(options: CliOptions): Promise<number> {
	const { args, stdout, stderr, version = "unknown" } = options;
	try {
		const { values, positionals } = parse(args);
		if (values.version) stdout.write(`${version}\n`);
		if (values.help || positionals[0] === "help") stdout.write(HELP);
		if (values.version || values.help || positionals[0] === "help") return 0;
		const [name = "list", ...words] = positionals;
		const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
		if (!command) throw new Failure(`Unknown command: ${name}. \`pi-subagents --help\` lists the commands.`, 2);
		const [least, most] = command.words;
		if (words.length < least || words.length > most)
			throw new Failure(`Wrong number of words after \`${name}\`. \`pi-subagents --help\` shows how to use it.`, 2);
		return await command.call(contextOf(options, values), words);
	} catch (error) {
		if (!(error instanceof Error)) throw error;
		stderr.write(`pi-subagents: ${sanitizeBlock(error.message)}\n`);
		return error instanceof Failure ? error.code : 1;
	}
}

const OPTIONS = {
	json: { type: "boolean" },
	all: { type: "boolean" },
	follow: { type: "boolean", short: "f" },
	full: { type: "boolean" },
	open: { type: "boolean" },
	otlp: { type: "boolean" },
	send: { type: "boolean" },
	content: { type: "boolean" },
	out: { type: "string" },
	speed: { type: "string" },
	help: { type: "boolean", short: "h" },
	version: { type: "boolean" },
} as const;

function parse(args: readonly string[]) {
	try {
		return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
	} catch (error) {
		if (error instanceof TypeError) throw new Failure(error.message, 2);
		throw error;
	}
}

function contextOf(
	{ stdout, env, cwd, signal = new AbortController().signal }: CliOptions,
	{ help: _help, version: _version, ...given }: ReturnType<typeof parse>["values"],
): Context {
	const none = { json: false, all: false, follow: false, full: false, open: false, otlp: false, send: false };
	const flags = { ...none, content: false, out: undefined, speed: undefined, ...given };
	return { stdout, env, cwd, signal, agentDir: agentDirOf(env), flags };
}

/** As pi finds it. */
function agentDirOf({ PI_CODING_AGENT_DIR: given, HOME }: CliOptions["env"]): string {
	const home = HOME ?? homedir();
	if (given === undefined || given === "") return join(home, ".pi", "agent");
	return given === "~" || given.startsWith("~/") ? join(home, given.slice(1)) : given;
}
