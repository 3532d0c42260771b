/** `/workflow`: run saved workflows, and see, pause, resume and change those of this session. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { AgentRecord, Manager } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import { addedText, parseRequest, workflowJob } from "@pi-subagents/launch";
import { endText, lookOf } from "@pi-subagents/progress";
import type { Block, Cell, Row } from "@pi-subagents/widget/dialogs";
import type { CallState, WorkflowState } from "@pi-subagents/workflow";
import type { Workflows } from "@pi-subagents/workflow/session";
import type { CommandCode, PiSchedules } from "../host.ts";
import { complete } from "../subagent/completions.ts";
import type { Subcommand } from "../subcommand.ts";
import { firstWord, statusCell, toneOf } from "../text/agent-text.ts";
import { show } from "../text/note.ts";

interface WorkflowCommandDeps {
	manager: Manager;
	schedules: PiSchedules;
	workflows: Workflows<ExtensionContext>;
}

export function workflowCommand(pi: ExtensionAPI, deps: WorkflowCommandDeps): CommandCode {
	const subcommands: Subcommand[] = [
		listCommand(deps),
		runCommand(deps),
		showCommand(deps),
		...controlCommands(deps),
		decideCommand(deps, "retry", "run a call again: at once, or with the next resume"),
		decideCommand(deps, "skip", "give a call null instead of an answer"),
	];
	return {
		getArgumentCompletions: (typed) => complete(subcommands, typed),
		async handler(args, ctx) {
			const [name, rest] = firstWord(args);
			const subcommand = subcommands.find((each) => each.name === (name.toLowerCase() || "list"));
			try {
				if (subcommand) show(pi, ctx, await subcommand.run(rest, ctx));
				else show(pi, ctx, [{ text: `Unknown command "/workflow ${name}".`, tone: "bad" }, help(subcommands)], "error");
			} catch (error) {
				show(pi, ctx, [{ text: messageOf(error), tone: "bad" }], "error");
			}
		},
	};
}

function listCommand({ workflows }: WorkflowCommandDeps): Subcommand {
	return {
		name: "list",
		args: "",
		about: "the saved workflows, and those of this session",
		async run(_rest, ctx) {
			const { workflows: saved, problems } = await workflows.saved(ctx);
			const records = workflows.list();
			const rows = saved.map(
				({ name, description, from }): Row => ({
					lead: [
						{ text: name, tone: "accent" },
						{ text: from, tone: "muted" },
					],
					body: [{ text: description }],
				}),
			);
			return [
				{
					text: saved.length > 0 ? "Saved workflows" : "No workflow is saved: put *.js files into .pi/workflows/.",
					tone: "strong",
				},
				...(rows.length > 0 ? [{ rows }] : []),
				...problems.map((text): Block => ({ text, tone: "warn" })),
				...(records.length > 0
					? [
							{ text: "In this session", tone: "strong" as const },
							{ rows: records.map((record) => runRow(record, workflows)) },
						]
					: []),
			];
		},
	};
}

function runRow(record: AgentRecord, workflows: Workflows<ExtensionContext>): Row {
	const { id, description, outcome } = record;
	return {
		lead: [{ text: id }, { text: description, tone: "accent" }, stateCell(record, workflows)],
		body: [
			{ text: progressLine(record, workflows) },
			...(outcome && !isPaused(record) ? [{ text: endText(outcome), tone: "muted" as const }] : []),
		],
	};
}

/** The word for its status; `paused` where a resume continues it. */
function stateCell(record: AgentRecord, workflows: Workflows<ExtensionContext>): Cell {
	const isHeld = !record.outcome && workflows.state(record)?.isPaused === true; // it runs, so its state is known
	return isHeld || isPaused(record) ? { text: "paused", tone: "warn" } : statusCell(record.status);
}

/** It ended with its session, and can be resumed. */
function isPaused({ outcome }: AgentRecord): boolean {
	return outcome?.status === "aborted" && (outcome.by === "shutdown" || outcome.by === "lost");
}

/** One whose journal cannot be read must not hide the others. */
function progressLine(record: AgentRecord, workflows: Workflows<ExtensionContext>): string {
	try {
		return progressText(workflows.state(record));
	} catch (error) {
		return messageOf(error);
	}
}

function progressText(state: WorkflowState | undefined): string {
	if (!state) return "its journal is gone";
	const agents = [...state.calls.values()].filter(({ kind }) => kind === "agent");
	const done = agents.filter(({ answer }) => answer).length;
	return `${done}/${agents.length} agents have answered${state.isPaused ? ", no more are launched" : ""}`;
}

function runCommand({ workflows, schedules }: WorkflowCommandDeps): Subcommand {
	return {
		name: "run",
		args: "<name or file> [args] [--schedule <time>]",
		about: "start a workflow in the background; args are JSON, or a text; --schedule runs it at that time instead",
		async run(rest, ctx) {
			const [asked = "", time] = rest.split(/(?:^|\s)--schedule(?:\s+|=)/, 2);
			const [what, args] = firstWord(asked);
			const call = {
				...(what.endsWith(".js") ? { path: what } : { name: what }),
				...(args === "" ? {} : { args }),
			};
			if (time !== undefined) {
				const added = await schedules.add(parseRequest(unquoted(time)), workflowJob(call), ctx);
				return [{ text: await addedText(added) }];
			}
			const options = { isBackground: true, launchedBy: "user" as const };
			const record = await workflows.start(call, ctx, options);
			return [
				{ text: `Started ${record.description} as ${record.id}.`, tone: "strong" },
				{ text: `The result will appear here. /workflow show ${record.id} shows its agents.`, tone: "muted" },
			];
		},
	};
}

/** People quote what has spaces in it. */
function unquoted(text: string): string {
	return /^(["'])(.*)\1$/s.exec(text.trim())?.[2] ?? text;
}

const MAX_CALLS = 60;

function showCommand({ workflows }: WorkflowCommandDeps): Subcommand {
	return {
		name: "show",
		args: "[id]",
		about: "its phases, agents and what it logged",
		completions: () => idCompletions(workflows),
		run(rest) {
			const record = workflows.find(rest);
			const state = workflows.state(record);
			if (!state) return [{ text: `The journal of workflow ${record.id} is gone.`, tone: "bad" }];
			const calls = [...state.calls.values()].slice(-MAX_CALLS);
			const groups = Map.groupBy(calls, ({ phase = "" }) => phase);
			return [
				{ text: `${record.description} ${record.id}: ${stateCell(record, workflows).text}`, tone: "strong" },
				{ text: progressText(state) },
				...[...groups].flatMap(([phase, each]): Block[] => [
					...(phase === "" ? [] : [{ text: phase, tone: "accent" as const }]),
					{ rows: each.map(callRow), isClipped: true },
				]),
				...state.logs.slice(-10).map((text): Block => ({ text, tone: "muted" })),
				...(state.diverged
					? [
							{
								text: `The script has changed: it calls "${state.diverged.called}" instead of "${state.diverged.recorded}".`,
								tone: "warn" as const,
							},
						]
					: []),
			];
		},
	};
}

function callRow({ label, agentId = "", answer }: CallState): Row {
	const status = !answer ? "queued" : answer.ok ? "completed" : answer.status === "failed" ? "failed" : "aborted";
	return {
		lead: [
			{ text: lookOf(status).icon, tone: toneOf(status) },
			{ text: agentId, tone: "muted" },
		],
		body: [{ text: label }, ...(answer && !answer.ok ? [{ text: answer.error, tone: "muted" as const }] : [])],
	};
}

function controlCommands({ workflows, manager }: WorkflowCommandDeps): Subcommand[] {
	const completions = () => idCompletions(workflows);
	return [
		{
			name: "pause",
			args: "[id]",
			about: "launch no more agents; those that run continue",
			completions,
			run(rest) {
				const record = workflows.find(rest);
				workflows.pause(record);
				return [{ text: `Workflow ${record.id} launches no more agents. /workflow resume ${record.id} continues it.` }];
			},
		},
		{
			name: "resume",
			args: "[id] [file]",
			about: "continue one that is paused, was stopped or failed; with a file: with that script instead",
			completions,
			async run(rest, ctx) {
				const [id, file] = firstWord(rest);
				const live = workflows.list().find((record) => !record.outcome && (id === "" || record.id === id));
				if (live && workflows.state(live)?.isPaused) {
					workflows.continue(live);
					return [{ text: `Workflow ${live.id} continues.` }];
				}
				const call = file === "" ? {} : { path: file };
				const options = { isBackground: true, launchedBy: "user" as const };
				const record = await workflows.resume(id === "" ? undefined : id, call, ctx, options);
				return [{ text: `Workflow ${record.id} (${record.description}) continues. The result will appear here.` }];
			},
		},
		{
			name: "stop",
			args: "[id]",
			about: "stop it and its agents; resume continues it",
			completions,
			run(rest) {
				const record = workflows.find(rest);
				if (record.outcome) return [{ text: `Workflow ${record.id} had already ended.` }];
				manager.abort(record.id, { by: "user" });
				return [{ text: `Workflow ${record.id} is stopped. /workflow resume ${record.id} continues it.` }];
			},
		},
	];
}

function decideCommand({ workflows }: WorkflowCommandDeps, what: "retry" | "skip", about: string): Subcommand {
	return {
		name: what,
		args: "<id> [agent or label]",
		about,
		completions: () => idCompletions(workflows),
		run(rest) {
			const [id, which] = firstWord(rest);
			const record = workflows.find(id);
			const { label } = workflows.decide(record, what, which === "" ? undefined : which);
			const later = record.outcome ? ` /workflow resume ${record.id} continues it.` : "";
			return [{ text: `${what === "skip" ? "Skipped" : "Runs again"}: ${label}.${later}` }];
		},
	};
}

function idCompletions(workflows: Workflows<ExtensionContext>) {
	return workflows.list().map(({ id, description, status }) => ({
		value: id,
		label: id,
		description: `${lookOf(status).word}: ${description}`,
	}));
}

function help(subcommands: readonly Subcommand[]): Block {
	return {
		rows: subcommands.map(({ name, args, about }) => ({
			lead: [{ text: `/workflow ${name} ${args}`.trimEnd(), tone: "accent" as const }],
			body: [{ text: about }],
		})),
	};
}
