/**
 * What the user must not miss, as one line above the editor with a key that acts on it: results that an interrupt holds
 * back, and agents that ended with the last pi. What quitting stops is said on the shell, once pi's screen is gone.
 */
import { existsSync, writeSync } from "node:fs";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type KeyId, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { AgentRecord, Manager, Report } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import type { Delivery, SessionStates } from "@pi-subagents/delivery";
import { formatCount, sanitize } from "@pi-subagents/progress";

interface OfferDeps {
	manager: Pick<Manager, "store">;
	host: { session(): ExtensionContext | undefined; warn: Report };
	states: Pick<SessionStates, "onState"> & { isInterrupted(): boolean; endInterruption(): void };
	delivery: Pick<Delivery, "ready"> & { journal: Pick<Delivery["journal"], "lastStopAt"> };
	launcher: { settings(ctx: ExtensionContext): Promise<{ resultsKey: string }> };
	/** Gives each agent another run that continues its task. */
	resume: (agents: readonly AgentRecord[], ctx: ExtensionContext) => Promise<void>;
}

const WIDGET = "subagents:offer";
const MAX_NAMED = 5;

export function showOffers(pi: ExtensionAPI, { manager, host, states, delivery, launcher, resume }: OfferDeps): void {
	const { store } = manager;
	let stopped: readonly AgentRecord[] = [];
	let key = ""; // of the user's settings; empty if there is none
	let shown: string | undefined;
	const show = () => {
		const session = host.session();
		if (session?.mode !== "tui") return;
		const held = states.isInterrupted() ? delivery.ready() : 0;
		const text = held > 0 ? heldText(held, key) : stopped.length > 0 ? stoppedText(stopped, key) : undefined;
		if (text === shown) return;
		shown = text;
		session.ui.setWidget(
			WIDGET,
			text === undefined
				? undefined
				: (_tui, theme) => ({
						render: (width) => wrapTextWithAnsi(text, width).map((line) => theme.fg("warning", line)),
						invalidate: () => undefined,
					}),
			{ placement: "aboveEditor" },
		);
	};
	const act = (ctx: ExtensionContext) =>
		void bestEffort("acting on an offer", host.warn, async () => {
			if (states.isInterrupted() && delivery.ready() > 0) return states.endInterruption();
			const agents = stopped;
			stopped = [];
			show();
			if (agents.length > 0) await resume(agents, ctx);
		});
	states.onState(() => setImmediate(show)); // after the outbox has received it
	store.subscribe(({ event }) => {
		if (event.type === "agent_settled") setImmediate(show);
	});
	pi.on("session_start", async (_event, ctx) => {
		if (ctx.mode !== "tui") return;
		shown = undefined;
		key = (await launcher.settings(ctx)).resultsKey;
		if (key !== "")
			pi.registerShortcut(key as KeyId, { description: "Take results now, or resume agents", handler: act });
		const since = lastUserAt(ctx);
		const isPast = (delivery.journal.lastStopAt() ?? -1) >= since; // making all past records takes long
		stopped = interruptedIn(isPast ? store.snapshot().records : store.currentRecords(), since);
		show();
	});
	pi.on("agent_start", () => {
		stopped = []; // the user went on without them
		show();
	});
	pi.on("session_shutdown", ({ reason }, { mode, sessionManager }) => {
		const ending = store.currentRecords().filter(({ outcome, outlives }) => !outcome && !outlives);
		const file = sessionManager.getSessionFile();
		if (reason === "quit" && mode === "tui" && ending.length > 0)
			process.once("exit", () => writeSync(2, `${quitText(ending, file !== undefined && existsSync(file))}\n`));
	});
}

/** Top-level agents that ended with their pi after the user had last said something, in that pi. */
export function interruptedIn(records: readonly AgentRecord[], lastUserAt: number): AgentRecord[] {
	return records.filter(
		({ outcome, completedAt = 0, ...agent }) =>
			outcome?.status === "aborted" && outcome.by === "shutdown" && isOffered(agent) && completedAt >= lastUserAt,
	);
}

/** An agent that launched others launches them again if it needs them. A workflow is paused, and /workflow resumes it. */
function isOffered({ parentAgentId, runner }: Pick<AgentRecord, "parentAgentId" | "runner">): boolean {
	return parentAgentId === undefined && runner !== "workflow";
}

function lastUserAt({ sessionManager }: ExtensionContext): number {
	const said = sessionManager
		.getBranch()
		.findLast((entry) => entry.type === "message" && entry.message.role === "user");
	return said ? Date.parse(said.timestamp) || 0 : 0;
}

export function heldText(count: number, key: string): string {
	const they = count === 1 ? "it arrives" : "they arrive";
	return `${formatCount(count, "result")} ready – ${they} with your next message${hint(key, "now")}`;
}

export function stoppedText(agents: readonly AgentRecord[], key: string): string {
	const were = agents.length === 1 ? "was" : "were";
	const how = agents.some(({ outcome }) => outcome?.status === "aborted" && outcome.reason === "reload")
		? "interrupted by reload"
		: "stopped when pi quit";
	return `${formatCount(agents.length, "agent")} ${were} ${how}: ${namesOf(agents)}${hint(key, "resume")}`;
}

function hint(key: string, does: string): string {
	return key === "" ? "" : ` (${key}: ${does})`;
}

/** pi keeps no session in which its model has said nothing yet. */
export function quitText(agents: readonly AgentRecord[], isKept: boolean): string {
	const offered = isKept ? agents.filter(isOffered) : [];
	const all = agents.length === 1 ? "it" : "them";
	const them = offered.length === agents.length ? all : `${offered.length} of them: ${namesOf(offered)}`;
	const next = offered.length > 0 ? ` pi --continue offers to resume ${them}.` : "";
	return `pi-subagents: quitting stopped ${formatCount(agents.length, "agent")}: ${namesOf(agents)}.${next}`;
}

function namesOf(agents: readonly AgentRecord[]): string {
	const shown = agents.slice(0, MAX_NAMED).map(({ type, id, name }) => `${sanitize(type)} ${sanitize(name ?? id)}`);
	const more = agents.length - shown.length;
	return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
