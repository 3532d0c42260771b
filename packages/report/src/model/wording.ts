/** The words of a report about calls: with their arguments, or without. And which calls wait for agents. Pure. */

import { beginningOf, describe, sanitize } from "@pi-subagents/progress";
import type { EventLine } from "@pi-subagents/runs";

const MAX_TASK = 200;

type Call = EventLine & { type: "tool_call" };

/** As the progress line says it: "Reading a.ts". A launch names the agent and its task. */
export function describeCall(line: Call): string {
	const { preset, subagent_type = preset, task, description = task } = line.args;
	const isLaunch = typeof subagent_type === "string" && typeof description === "string";
	if (isLaunch) return `Launching ${sanitize(subagent_type)}: ${sanitize(beginningOf(description, MAX_TASK))}`;
	return describe(undefined, line).line ?? sanitize(line.tool);
}

/**
 * The same without arguments: a command may hold a password, and a pattern or an address what someone looks for. The
 * program and the file are named, without the rest of the command and the path. What our own tools are given is what
 * agents and users wrote, which a report shows anyway.
 */
export function labelOf(line: Call): string {
	const { tool, args } = line;
	if (OWN_TOOLS.has(tool)) return describeCall(line);
	const path = args.path ?? args.file_path;
	const verb = FILE_VERBS[tool];
	if (verb) return typeof path === "string" ? `${verb} ${baseName(path)}` : `${verb} a file`;
	if (SHELLS.has(tool))
		return typeof args.command === "string" ? `Running ${programOf(args.command)}` : "Running a command";
	if (tool === "grep") return "Searching code";
	return tool === "find" ? "Scanning for files" : `Running ${sanitize(beginningOf(tool, MAX_NAME))}`;
}

const OWN_TOOLS: ReadonlySet<string> = new Set([
	"Agent",
	"subagent",
	"background_agent",
	"background_agent_status",
	"start_subagent",
	"steer_subagent",
	"stop_subagent",
	"reply_subagent",
	"get_subagent_result",
	"ask_main_session",
	"workflow",
]);
const FILE_VERBS: Readonly<Record<string, string>> = {
	read: "Reading",
	edit: "Editing",
	write: "Writing",
	ls: "Listing",
};
const SHELLS: ReadonlySet<string> = new Set(["bash", "powershell"]);
const MAX_NAME = 80;

function baseName(path: string): string {
	const name =
		path
			.replace(/[\\/]+$/, "")
			.split(/[\\/]/)
			.at(-1) ?? "";
	return sanitize(beginningOf(name, MAX_NAME)) || "a directory";
}

/** Words before the program that say nothing: variables, `cd somewhere &&`, and programs that start another. */
const BEFORE =
	/^\s*(?:cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|"']+)\s*(?:&&|;)|[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|[^\s"']*)(?=\s)|(?:sudo|env|time|nohup|command|exec)(?=\s+[^-\s]))\s*/;
/** Looks like the name of a program, and is too short for a key. */
const PROGRAM = /^[A-Za-z][\w.+-]{0,19}$/;

function programOf(command: string): string {
	let rest = command.slice(0, MAX_TASK * 10);
	for (let before = BEFORE.exec(rest); before && before[0] !== ""; before = BEFORE.exec(rest))
		rest = rest.slice(before[0].length);
	const program = /^\s*([^\s;&|()<>"'`$]+)/.exec(rest)?.[1]?.split(/[\\/]/).at(-1) ?? "";
	return PROGRAM.test(program) ? program : "a command";
}

/** Files of older versions do not say which call launched an agent; then the tool's name does. */
export function waitsForAgents({ callId, tool, args }: Call, waited: ReadonlySet<string>): boolean {
	if (callId !== undefined && waited.has(callId)) return true;
	if (tool === "subagent") return true;
	if (tool === "Agent") return args.run_in_background === false;
	return tool === "get_subagent_result" && args.wait === true;
}
