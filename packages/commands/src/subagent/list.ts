/** `/subagent list`: the agents of this session, active ones first; `all` adds other sessions of the project. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord, systemClock } from "@pi-subagents/core";
import { quoted } from "@pi-subagents/core/internal/base";
import { type EarlierSession, earlierSessions } from "@pi-subagents/delivery";
import { formatCost, formatCount, formatDuration, tallyText } from "@pi-subagents/progress";
import { listRuns, type RunOverview, runTextOf } from "@pi-subagents/runs";
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

export function listCommand({ manager, launcher, host }: CommandDeps): Subcommand {
	return {
		name: "list",
		args: "[all]",
		about: "the agents of this session, running ones first; all: also those of other sessions of this project",
		async run(rest, ctx) {
			const own = currentAgents(manager);
			const word = rest.trim().toLowerCase();
			if (word !== "" && word !== "all")
				throw new AgentError(
					"bad_request",
					`Unknown argument ${quoted(rest)}: use /subagent list or /subagent list all.`,
				);
			const now = systemClock.now();
			const others = word === "all" ? otherBlocks(await otherSessions(own, ctx, { launcher, host }, now)) : [];
			return [...listBlocks(own, now), ...others];
		},
	};
}

/** `/subagent` alone: a summary, the agents, and a pointer to the help. */
export function statusBlocks(agents: readonly AgentRecord[], maxConcurrent: number, now: number): Block[] {
	const active = agents.filter(isActive);
	const text =
		active.length === 0
			? "No agent is active."
			: `${formatCount(active.length, "agent")} active: ${tallyText(active)}. At most ${maxConcurrent} run at once.`;
	return [{ text, tone: "strong" }, ...listBlocks(agents, now), { text: MORE, tone: "muted" }];
}

const MORE = "/subagent help shows all commands, /subagent list all also the agents of other sessions.";

/** A session of this project other than the open one, and the agents that it launched. */
export interface OtherSession {
	/** Unknown where the agents were launched without one. */
	id: string | undefined;
	startedAt: number;
	rows: readonly Row[];
}

/** What pi's session files remember, and the runs of the project that none of them knows: pi does not keep every session. */
async function otherSessions(
	own: readonly AgentRecord[],
	ctx: ExtensionContext,
	{ launcher, host }: Pick<CommandDeps, "launcher" | "host">,
	now: number,
): Promise<OtherSession[]> {
	const { cwd, sessionManager } = ctx;
	const { agentDir } = host;
	const [sessionDir, current] = [sessionManager.getSessionDir(), sessionManager.getSessionFile()];
	const remembered = await earlierSessions({ sessionDir, current, cwd, agentDir });
	const dir = await launcher.placeFor("runs", ctx);
	const { runs } = await listRuns(dir === undefined ? [] : [dir], { now, agentDir });
	const known = new Set([...own, ...remembered.flatMap(({ agents }) => agents)].map(({ id }) => id));
	const open = sessionManager.getSessionId();
	const kept = runs.filter(({ agentId, sessionId }) => !known.has(agentId) && sessionId !== open);
	const sessions = [...remembered.map(rememberedSession), ...keptSessions(kept, now)];
	return sessions.toSorted((one, other) => other.startedAt - one.startedAt);
}

export function otherBlocks(sessions: readonly OtherSession[]): Block[] {
	if (sessions.length === 0) return [{ text: "Other sessions of this project launched no agents.", tone: "muted" }];
	let left = MAX_ROWS;
	const shown = sessions.flatMap(({ id, startedAt, rows: all }): Block[] => {
		const rows = all.slice(0, left);
		left -= rows.length;
		if (rows.length === 0) return [];
		const time = new Date(startedAt).toISOString().slice(0, 16).replace("T", " ");
		const name = id === undefined ? "Without a session," : `Session ${id.slice(0, SESSION_ID_CHARACTERS)} of`;
		return [
			{ text: `${name} ${time} UTC`, tone: "strong" },
			{ rows, isClipped: true },
		];
	});
	const beyond = sessions.reduce((sum, { rows }) => sum + rows.length, 0) - (MAX_ROWS - left);
	return [
		{ text: "Other sessions of this project:", tone: "muted" },
		...shown,
		...(beyond > 0 ? [{ text: `and ${formatCount(beyond, "older one")}`, tone: "muted" as const }] : []),
		{ text: "/resume opens a session, and its agents with it; /agents › Everywhere has all runs.", tone: "muted" },
	];
}

/** Enough for `pi --session`. */
const SESSION_ID_CHARACTERS = 13;

export function rememberedSession({ id, startedAt, agents }: EarlierSession): OtherSession {
	return { id, startedAt: Date.parse(startedAt) || 0, rows: agents.toReversed().map(earlierRow) };
}

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

/** By session; runs come with the most urgent ones first. */
export function keptSessions(runs: readonly RunOverview[], now: number): OtherSession[] {
	return [...Map.groupBy(runs, ({ sessionId }) => sessionId)].map(([id, group]) => ({
		id,
		startedAt: Math.min(...group.map(({ createdAt }) => createdAt)),
		rows: group.map((run) => runRow(run, now)),
	}));
}

function runRow(run: RunOverview, at: number): Row {
	const { status, preset, about, now, age } = runTextOf(run, at);
	return {
		lead: [
			{ text: run.agentId },
			{ text: preset, tone: "accent" },
			{ text: status, tone: run.state.group === "done" ? "muted" : "accent" },
			{ text: age, tone: "muted" },
		],
		body: [{ text: about }, { text: now, tone: "muted" }],
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
		{ text: `${formatCount(agents.length, "agent")}: ${tallyText(agents)}${inAll}`, tone: "strong" },
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
