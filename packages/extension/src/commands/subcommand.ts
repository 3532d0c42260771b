/** What `/subagent` is made of: each subcommand says what it is for, completes its arguments and answers. */
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { Manager } from "@pi-subagents/core";
import type { Host } from "../host.ts";
import type { Launcher } from "../launch.ts";
import type { Schedules } from "../schedule/schedules.ts";
import type { Block } from "./layout.ts";

export interface CommandDeps {
	host: Host;
	launcher: Launcher;
	manager: Manager;
	schedules: Schedules;
}

export interface Subcommand {
	name: string;
	/** What follows the name. */
	args: string;
	about: string;
	/** What may follow the name; undefined where nothing is known. */
	offers?: () => Offer[];
	/** `rest` is everything after the name. Throws for what cannot be done, in words for the person. */
	run(rest: string, ctx: ExtensionCommandContext): Promise<Block[]> | Block[];
}

/** Something to choose while typing. */
export interface Offer {
	value: string;
	/** Other words that find it. */
	alias?: string | undefined;
	label: string;
	description: string;
}
