/** The footer: counts of active and background agents, and a notification when a background run ends. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { AgentRecord, Store } from "@pi-subagents/core";
import { durationOf } from "@pi-subagents/core/report";
import { backgroundRecords, countsOf, type Journal } from "@pi-subagents/delivery";
import { outcomeText, sanitize } from "@pi-subagents/progress";
import type { Host } from "../host/host.ts";
import { debounce } from "./debounce.ts";

const BACKGROUND_KEY = "pi-subagents";
const ACTIVE_KEY = "subagents";

export function showBackgroundCount(pi: ExtensionAPI, deps: { store: Store; journal: Journal; host: Host }): void {
	const { store, journal, host } = deps;
	const show = () => {
		const session = host.session();
		if (!session?.hasUI) return;
		const { running, total } = countsOf(backgroundRecords(store, journal));
		session.ui.setStatus(BACKGROUND_KEY, total > 0 ? `bg: ${running} running / ${total} total` : undefined);
	};
	const showSoon = debounce("counting background agents", host.tell, show);
	store.subscribe(({ event, record }) => {
		if (record.outlives && (event.type === "agent_queued" || event.type === "agent_settled")) showSoon();
	});
	pi.on("session_tree", showSoon);
	pi.on("session_shutdown", showSoon.cancel);
}

/** Notifies the user that a detached run has ended. */
export function notifySettled(record: AgentRecord, host: Host): void {
	const { type, id, outcome, outlives } = record;
	const session = host.session();
	if (!outlives || !session?.hasUI || !outcome) return;
	const how = outcomeText(outcome, { durationMs: durationOf(record) });
	const text = `Background agent ${sanitize(type)} (${id}): ${how}`;
	session.ui.notify(text, outcome.status === "completed" ? "info" : "warning");
}

/** Counts the active agents of all levels. */
export function showActiveCount(store: Store, host: Host): () => void {
	const active = new Map<string, boolean>();
	const show = debounce("counting agents", host.tell, () => {
		const queued = [...active.values()].filter((isQueued) => isQueued).length;
		const running = active.size - queued;
		const parts = [...(running > 0 ? [`${running} running`] : []), ...(queued > 0 ? [`${queued} queued`] : [])];
		host.session()?.ui.setStatus(ACTIVE_KEY, parts.length > 0 ? `agents: ${parts.join(", ")}` : undefined);
	});
	const unsubscribe = store.subscribe(({ record: { id, status, outcome } }) => {
		const isKnown = active.get(id) === (status === "queued");
		if (outcome ? !active.delete(id) : isKnown) return;
		if (!outcome) active.set(id, status === "queued");
		show();
	});
	return () => {
		unsubscribe();
		show.cancel();
	};
}
