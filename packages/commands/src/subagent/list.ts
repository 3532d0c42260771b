/** `/subagent list`: the agents of this session, active ones first; `all` adds earlier sessions. */
import { AgentError, type AgentRecord, quoted, systemClock } from "@pi-subagents/core";
import { type EarlierSession, earlierSessions } from "@pi-subagents/delivery";
import { formatCost, formatCount, formatDuration, tallyText } from "@pi-subagents/progress";
import type { Block, Cell, Row } from "@pi-subagents/widget/dialogs";
import type { CommandDeps, Subcommand } from "../subcommand.ts";
import {
	activityText,
	costText,
	currentAgents,
	durationOf,
	isActive,
	sortByActivity,
	statusCell,
} from "../text/agent-text.ts";

/** More rows would push the important ones off the screen. */
const MAX_ROWS = 40;

export function listCommand({ manager }: CommandDeps): Subcommand {
	return {
		name: "list",
		args: "[all]",
		about: "the agents of this session, running ones first; all: also those of earlier sessions in this directory",
		async run(rest, { cwd, sessionManager }) {
			const own = listBlocks(currentAgents(manager), systemClock.now());
			const word = rest.trim().toLowerCase();
			if (word === "") return own;
			if (word !== "all")
				throw new AgentError(
					"bad_request",
					`Unknown argument ${quoted(rest)}: use /subagent list or /subagent list all.`,
				);
			const [sessionDir, current] = [sessionManager.getSessionDir(), sessionManager.getSessionFile()];
			return [...own, ...earlierBlocks(await earlierSessions({ sessionDir, current, cwd }))];
		},
	};
}

/** `/subagent` alone: a summary, the agents, and a pointer to the help. */
export function statusBlocks(agents: readonly AgentRecord[], maxConcurrent: number, now: number): Block[] {
	const active = agents.filter(isActive);
	const text =
		active.length === 0
			? "No agent is active."
			: `${formatCount(active.length, "agent")} active: ${tally(active)}. At most ${maxConcurrent} run at once.`;
	return [{ text, tone: "strong" }, ...listBlocks(agents, now), { text: MORE, tone: "muted" }];
}

const MORE = "/subagent help shows all commands, /subagent list all also the agents of earlier sessions.";

export function earlierBlocks(sessions: readonly EarlierSession[]): Block[] {
	if (sessions.length === 0) return [{ text: "Earlier sessions in this directory launched no agents.", tone: "muted" }];
	let left = MAX_ROWS;
	const shown = sessions.flatMap(({ id, startedAt, agents }): Block[] => {
		const rows = agents.toReversed().slice(0, left).map(earlierRow);
		left -= rows.length;
		if (rows.length === 0) return [];
		const head = `Session ${id.slice(0, SESSION_ID_CHARACTERS)} of ${startedAt.slice(0, 16).replace("T", " ")} UTC`;
		return [
			{ text: head, tone: "strong" },
			{ rows, isClipped: true },
		];
	});
	const beyond = sessions.reduce((sum, { agents }) => sum + agents.length, 0) - (MAX_ROWS - left);
	return [
		{ text: "Earlier sessions in this directory:", tone: "muted" },
		...shown,
		...(beyond > 0 ? [{ text: `and ${formatCount(beyond, "older one")}`, tone: "muted" as const }] : []),
		{ text: "/resume opens a session, and its agents with it.", tone: "muted" },
	];
}

/** Enough for `pi --session`. */
const SESSION_ID_CHARACTERS = 13;

function earlierRow(agent: AgentRecord): Row {
	const { id, type, description, outcome } = agent;
	const ended: Cell[] = [statusCell(agent), { text: formatDuration(durationOf(agent)), tone: "muted" }];
	const open: Cell[] = [{ text: "no end", tone: "muted" }, { text: "" }];
	const note = outcome ? activityText(agent) : "no end recorded: it is running in another pi, or ended with it";
	return {
		lead: [{ text: id }, { text: type, tone: "accent" }, ...(outcome ? ended : open)],
		body: [{ text: description }, { text: note, tone: "muted" }],
	};
}

export function listBlocks(agents: readonly AgentRecord[], now: number): Block[] {
	if (agents.length === 0) return [{ text: "No agent has been launched. /subagent start <task> launches one." }];
	const hasNames = agents.some(({ name }) => name !== undefined);
	const shown = sortByActivity(agents).slice(0, MAX_ROWS);
	const more = agents.length - shown.length;
	const cost = agents.reduce((sum, { usage }) => sum + usage.cost, 0);
	const inAll = cost > 0 ? ` · ${formatCost(cost)} in all` : "";
	return [
		{ text: `${formatCount(agents.length, "agent")}: ${tally(agents)}${inAll}`, tone: "strong" },
		{ rows: shown.map((agent) => row(agent, costText(agents, agent.id), hasNames, now)), isClipped: true },
		...(more > 0 ? [{ text: `and ${formatCount(more, "older one")}`, tone: "muted" as const }] : []),
		...(agents.some(({ status }) => status === "waiting")
			? [{ text: "Answer with /subagent reply <id> <text>.", tone: "muted" as const }]
			: []),
	];
}

function row(agent: AgentRecord, cost: string, hasNames: boolean, now: number): Row {
	const { id, name, type, description } = agent;
	const nameCell: Cell[] = hasNames ? [{ text: name ?? "" }] : [];
	return {
		lead: [
			{ text: id },
			...nameCell,
			{ text: type, tone: "accent" },
			statusCell(agent),
			{ text: formatDuration(durationOf(agent, now)), tone: "muted" },
		],
		body: [{ text: description }, { text: [activityText(agent), cost].filter(Boolean).join(" · "), tone: "muted" }],
	};
}

function tally(agents: readonly AgentRecord[]): string {
	return tallyText(agents);
}
