/** `/subagent list`: the agents of this session, those at work first. */
import { type AgentRecord, type Status, systemClock } from "@pi-subagents/core";
import { formatCount, formatDuration } from "@pi-subagents/progress";
import type { Block, Cell, Row } from "./layout.ts";
import type { CommandDeps, Subcommand } from "./subcommand.ts";
import { doing, durationOf, inOrder, STATUS_TONES } from "./words.ts";

/** More would scroll away what matters. */
const MOST_ROWS = 40;

export function listCommand({ manager }: CommandDeps): Subcommand {
	return {
		name: "list",
		args: "",
		about: "the agents of this session, those at work first",
		run: () => listBlocks(manager.store.snapshot().records, systemClock.now()),
	};
}

export function listBlocks(agents: readonly AgentRecord[], now: number): Block[] {
	if (agents.length === 0) return [{ text: "No agent has been launched. /subagent start <task> launches one." }];
	const hasNames = agents.some(({ name }) => name !== undefined);
	const shown = inOrder(agents).slice(0, MOST_ROWS);
	const more = agents.length - shown.length;
	return [
		{ text: `${formatCount(agents.length, "agent")}: ${tally(agents)}`, tone: "strong" },
		{ rows: shown.map((agent) => row(agent, hasNames, now)), isClipped: true },
		...(more > 0 ? [{ text: `and ${formatCount(more, "older one")}`, tone: "muted" as const }] : []),
		...(agents.some(({ status }) => status === "waiting")
			? [{ text: "Answer with /subagent reply <id> <text>.", tone: "muted" as const }]
			: []),
	];
}

function row(agent: AgentRecord, hasNames: boolean, now: number): Row {
	const { id, name, type, status, description } = agent;
	const nameCell: Cell[] = hasNames ? [{ text: name ?? "" }] : [];
	return {
		lead: [
			{ text: id },
			...nameCell,
			{ text: type, tone: "accent" },
			{ text: status, tone: STATUS_TONES[status] },
			{ text: formatDuration(durationOf(agent, now)), tone: "muted" },
		],
		body: [{ text: description }, { text: doing(agent), tone: "muted" }],
	};
}

const STATUSES: readonly Status[] = ["running", "waiting", "queued", "completed", "failed", "aborted"];

function tally(agents: readonly AgentRecord[]): string {
	const counts = STATUSES.map((status) => ({ status, count: agents.filter((each) => each.status === status).length }));
	return counts
		.filter(({ count }) => count > 0)
		.map(({ status, count }) => `${count} ${status}`)
		.join(", ");
}
