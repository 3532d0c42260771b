/** `/subagent`: what a person can do with agents without the model. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { messageOf } from "@pi-subagents/core";
import { agentsCommand } from "./agents.ts";
import { complete } from "./complete.ts";
import { doctorCommand } from "./doctor.ts";
import { explainCommand } from "./explain.ts";
import { helpBlocks, helpCommand, notUnderstood } from "./help.ts";
import { jobsCommand } from "./jobs.ts";
import type { Command } from "./lazy.ts";
import { listCommand } from "./list.ts";
import { show } from "./note.ts";
import { replyCommand } from "./reply.ts";
import { startCommand } from "./start.ts";
import { stopCommand } from "./stop.ts";
import type { CommandDeps, Subcommand } from "./subcommand.ts";
import { viewCommand } from "./view.ts";
import { firstWord } from "./words.ts";

export function subagentCommand(pi: ExtensionAPI, deps: CommandDeps): Omit<Command, "description"> {
	const subcommands: Subcommand[] = [
		startCommand(deps),
		listCommand(deps),
		viewCommand(deps),
		stopCommand(deps),
		replyCommand(deps),
		agentsCommand(deps),
		explainCommand(deps),
		jobsCommand(deps),
		doctorCommand(deps),
		helpCommand(() => subcommands),
	];
	return {
		getArgumentCompletions: (typed) => complete(subcommands, typed),
		async handler(args, ctx) {
			const [name, rest] = firstWord(args);
			const subcommand = subcommands.find((each) => each.name === name.toLowerCase());
			try {
				if (subcommand) show(pi, ctx, await subcommand.run(rest, ctx));
				else if (name === "") show(pi, ctx, helpBlocks(subcommands));
				else show(pi, ctx, [notUnderstood(name, subcommands), ...helpBlocks(subcommands)], "error");
			} catch (error) {
				show(pi, ctx, [{ text: messageOf(error), tone: "bad" }], "error");
			}
		},
	};
}
