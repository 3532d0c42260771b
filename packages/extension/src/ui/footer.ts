/** The footer: one item that counts the agents, and a notification when a detached run ends. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { footerText } from "@pi-subagents/commands/text";
import { type AgentRecord, type Store, systemClock } from "@pi-subagents/core";
import { bestEffort, Pacer } from "@pi-subagents/core/internal/base";
import { durationOf } from "@pi-subagents/core/outcome-text";
import { backgroundRecords, countsOf, type Journal } from "@pi-subagents/delivery";
import { endText, lookOf, sanitize } from "@pi-subagents/progress";
import type { Host } from "../host/host.ts";

const KEY = "subagents";

/** Short enough to feel immediate; without it, many short agents would cause hundreds of updates, and each an early one. */
const PAUSE_MS = 50;

/** Counts the active agents of all levels, and those that outlive the session. */
export function showCounts(pi: ExtensionAPI, deps: { store: Store; journal: Journal; host: Host }): void {
	const { store, journal, host } = deps;
	const active = new Map<string, AgentRecord>();
	const show = () => {
		const session = host.session();
		if (!session?.hasUI) return;
		const detached = countsOf(backgroundRecords(store, journal));
		const { columns } = process.stdout; // undefined where pi has no terminal, as in RPC mode
		session.ui.setStatus(KEY, footerText({ active: [...active.values()], detached, columns }));
	};
	const work = () => void bestEffort("counting agents", host.warn, show);
	const pacer = new Pacer({ clock: systemClock, pauseMs: PAUSE_MS, work });
	store.subscribe(({ event, record }) => {
		const { id, status, outcome, outlives } = record;
		const isAsking = event.type === "agent_asked";
		const isChanged = outcome ? active.delete(id) : active.get(id)?.status !== status || isAsking;
		if (!outcome && isChanged) active.set(id, record);
		const isCounted = outlives && (event.type === "agent_queued" || event.type === "agent_settled");
		if (isChanged || isCounted) pacer.ask();
	});
	const redraw = () => pacer.ask();
	process.stdout.on("resize", redraw);
	pi.on("session_tree", redraw);
	pi.on("session_shutdown", () => {
		process.stdout.off("resize", redraw);
		active.clear();
		pacer.close(); // whatever its agents do in their last moment
	});
}

/** Notifies the user that a detached run has ended. */
export function notifySettled(record: AgentRecord, host: Host): void {
	const { type, id, outcome, outlives, status } = record;
	const session = host.session();
	if (!outlives || !session?.hasUI || !outcome) return;
	const how = endText(outcome, { durationMs: durationOf(record) });
	const text = `${lookOf(status).icon} Detached agent ${sanitize(type)} (${id}): ${how}`;
	session.ui.notify(text, outcome.status === "completed" ? "info" : "warning");
}
