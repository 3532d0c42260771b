/** The contract of a `/subagent` subcommand: help text, argument completion and execution. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Manager } from "@pi-subagents/core";
import type { Block } from "@pi-subagents/widget/dialogs";
import type { CommandHost, PiLauncher, PiSchedules } from "./host.ts";

export interface CommandDeps {
	host: CommandHost;
	launcher: PiLauncher;
	manager: Manager;
	schedules: PiSchedules;
	/** Resolves when the files of runs hold what has happened so far. Absent where none are kept. */
	flushLogs?: () => Promise<void>;
}

export interface Subcommand {
	name: string;
	/** Usage of the arguments, for the help. */
	args: string;
	about: string;
	completions?: () => Completion[];
	/** `rest` is everything after the name. Throws errors with messages for the user. */
	run(rest: string, ctx: ExtensionContext): Promise<Block[]> | Block[];
}

/** One suggestion while typing. */
export interface Completion {
	value: string;
	/** Also matches this text. */
	alias?: string | undefined;
	label: string;
	description: string;
}
