/** What `/subagent` can do. Pure. */
import { nearest } from "@pi-subagents/core";
import type { Block, Cell } from "./layout.ts";
import type { Subcommand } from "./subcommand.ts";

/** The command asks for all of them, itself included, when it is run. */
export function helpCommand(all: () => readonly Subcommand[]): Subcommand {
	return { name: "help", args: "", about: "show this", run: () => helpBlocks(all()) };
}

export function helpBlocks(subcommands: readonly Subcommand[]): Block[] {
	const rows = subcommands.map(({ name, args, about }) => ({
		lead: [{ text: `/subagent ${name} ${args}`.trimEnd(), tone: "accent" as const }],
		body: [{ text: about }],
	}));
	return [{ rows }];
}

export function notUnderstood(name: string, subcommands: readonly Subcommand[]): Cell {
	const meant = nearest(
		name,
		subcommands.map((each) => each.name),
	);
	const hint = meant === undefined ? "" : ` Did you mean "/subagent ${meant}"?`;
	return { text: `"/subagent ${name}" is not understood.${hint}`, tone: "bad" };
}
