/** `/subagent`: dispatches to the subcommands and shows the help. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { nearest, systemClock } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import type { Block, Cell } from "@pi-subagents/widget/dialogs";
import { doctorCommand } from "../doctor/doctor.ts";
import type { CommandCode } from "../host.ts";
import type { CommandDeps, Subcommand } from "../subcommand.ts";
import { currentAgents, firstWord } from "../text/agent-text.ts";
import { show } from "../text/note.ts";
import { agentsCommand } from "./agents.ts";
import { complete } from "./completions.ts";
import { dashboardCommand } from "./dashboard.ts";
import { explainCommand } from "./explain.ts";
import { jobsCommand } from "./jobs.ts";
import { listCommand, statusBlocks } from "./list.ts";
import { replyCommand } from "./reply.ts";
import { reportCommand, traceCommand } from "./report.ts";
import { startCommand, stopCommand } from "./start-stop.ts";
import { viewCommand } from "./view.ts";

export function subagentCommand(pi: ExtensionAPI, deps: CommandDeps): CommandCode {
	const subcommands: Subcommand[] = [
		startCommand(deps),
		listCommand(deps),
		viewCommand(deps),
		stopCommand(deps),
		replyCommand(deps),
		agentsCommand(deps),
		explainCommand(deps),
		jobsCommand(deps),
		reportCommand(deps),
		traceCommand(deps),
		dashboardCommand(pi, deps),
		doctorCommand(deps),
		helpCommand(() => subcommands),
	];
	const status = () =>
		statusBlocks(currentAgents(deps.manager), deps.launcher.latest().maxConcurrent, systemClock.now());
	return {
		getArgumentCompletions: (typed) => complete(subcommands, typed),
		async handler(args, ctx) {
			const [name, rest] = firstWord(args);
			const subcommand = subcommands.find((each) => each.name === name.toLowerCase());
			try {
				if (subcommand) show(pi, ctx, await subcommand.run(rest, ctx));
				else if (name === "") show(pi, ctx, status());
				else show(pi, ctx, [notUnderstood(name, subcommands), ...helpBlocks(subcommands)], "error");
			} catch (error) {
				show(pi, ctx, [{ text: messageOf(error), tone: "bad" }], "error");
			}
		},
	};
}

/** A getter, because the list includes the help command itself. */
function helpCommand(all: () => readonly Subcommand[]): Subcommand {
	return { name: "help", args: "", about: "show this", run: () => helpBlocks(all()) };
}

function helpBlocks(subcommands: readonly Subcommand[]): Block[] {
	const rows = subcommands.map(({ name, args, about }) => ({
		lead: [{ text: `/subagent ${name} ${args}`.trimEnd(), tone: "accent" as const }],
		body: [{ text: about }],
	}));
	return [{ rows }];
}

function notUnderstood(name: string, subcommands: readonly Subcommand[]): Cell {
	const meant = nearest(
		name,
		subcommands.map((each) => each.name),
	);
	const hint = meant === undefined ? "" : ` Did you mean "/subagent ${meant}"?`;
	return { text: `Unknown command "/subagent ${name}".${hint}`, tone: "bad" };
}
