/** What a person sees of runs that outlive the session without asking: a count in the footer, and a word when one ends. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, isSettled, runIdOf, type Store } from "@pi-subagents/core";
import { outcomeText, sanitize } from "@pi-subagents/progress";
import type { Host } from "./host.ts";
import type { Journal } from "./journal/journal.ts";
import { soon } from "./soon.ts";
import { durationOf } from "./tools/details.ts";

/** Who waits, in the queue or for an answer, counts as running. */
export interface Counts {
	running: number;
	completed: number;
	failed: number;
	aborted: number;
	total: number;
}

const STATUS_KEY = "pi-subagents";

export function showBackground(pi: ExtensionAPI, deps: { store: Store; journal: Journal; host: Host }): void {
	const { store, journal, host } = deps;
	const show = () => {
		const session = host.session();
		if (!session?.hasUI) return;
		const { running, total } = countsOf(backgroundRecords(store, journal));
		session.ui.setStatus(STATUS_KEY, total > 0 ? `bg: ${running} running / ${total} total` : undefined);
	};
	const showSoon = soon("counting background agents", host.tell, show);
	store.subscribe((event, record) => {
		if (record.outlives && (event.type === "agent_queued" || event.type === "agent_settled")) showSoon();
	});
	pi.on("session_tree", showSoon);
	pi.on("session_shutdown", showSoon.cancel);
}

/** Says that a run has ended, to whoever sits before the screen. */
export function announce(record: AgentRecord, host: Host): void {
	const { type, id, outcome, outlives } = record;
	const session = host.session();
	if (!outlives || !session?.hasUI || !outcome) return;
	const how = outcomeText(outcome, { durationMs: durationOf(record) });
	const text = `Background agent ${sanitize(type)} (${id}): ${how}`;
	session.ui.notify(text, outcome.status === "completed" ? "info" : "warning");
}

/** The runs that outlive the session, as far as its current branch knows of them. */
export function backgroundRecords(store: Store, journal: Journal): AgentRecord[] {
	const branch = new Set(journal.branch());
	return store.atHand().filter(({ id: agentId, run, outlives }) => {
		const entry = outlives ? journal.entryOf(runIdOf({ agentId, run })) : undefined;
		return entry !== undefined && branch.has(entry);
	});
}

export function countsOf(records: readonly AgentRecord[]): Counts {
	const counts: Counts = { running: 0, completed: 0, failed: 0, aborted: 0, total: records.length };
	for (const { status } of records) counts[isSettled(status) ? status : "running"]++;
	return counts;
}
