/** Waits inside a tool call for agents that it has launched: one, or several at once. Giving up the call stops them. */
import { type AgentRecord, type Outcome, type Store, systemClock } from "@pi-subagents/core";
import { sanitize } from "@pi-subagents/progress";
import type { Agents } from "../agents.ts";
import { beginCall } from "../crowd.ts";
import { followProgress } from "../progress-feed.ts";
import { type AgentDetails, detailsOf } from "./details.ts";
import { reportFor } from "./report.ts";

export interface Launched {
	record: AgentRecord;
	/** How the request was understood, where that is not obvious. */
	warnings: readonly string[];
}

export interface Finished extends Launched {
	outcome: Outcome;
}

/** Hears what the agents do: their last lines, and how far they are. */
type OnProgress = (lines: readonly string[], agents: AgentDetails[]) => void;

export interface ForegroundOptions {
	agents: Agents;
	store: Store;
	signal: AbortSignal | undefined;
	/** What becomes of them when the call is given up: who stops them then, or that they go on in the background. */
	onGivenUp: () => "user" | "parent" | "leave";
	onProgress: OnProgress;
	/** A screen shows a row for the call. */
	hasRow: boolean;
}

export async function finish(launched: readonly Launched[], options: ForegroundOptions): Promise<Finished[]> {
	const { agents, store, signal, onGivenUp, hasRow } = options;
	const feed = followAll(launched, options);
	const mayEnd = hasRow ? beginCall(store) : undefined;
	const left = new AbortController();
	const giveUp = () => {
		const fate = onGivenUp();
		const active = launched.map(({ record }) => store.record(record.id) ?? record).filter(({ outcome }) => !outcome);
		if (fate !== "leave" || !agents.leave) {
			for (const { id } of active) agents.abort(id, { by: fate === "parent" ? "parent" : "user" });
			return;
		}
		for (const { id } of active) agents.leave(id);
		const settled = launched.flatMap(({ record, warnings }) => {
			const { outcome } = store.record(record.id) ?? record;
			return outcome ? [reportFor(outcome, store.record(record.id) ?? record, warnings)] : [];
		});
		const goesOn = `Not waited for any more: ${active.map(({ id }) => id).join(", ")}. A message will bring the result.`;
		left.abort(new Error([goesOn, ...settled].join("\n\n")));
	};
	if (signal?.aborted) giveUp();
	signal?.addEventListener("abort", giveUp, { once: true });
	try {
		const outcomes = await Promise.all(launched.map(({ record }) => agents.wait(record.id, { signal: left.signal })));
		return launched.map(({ record, warnings }, index) => ({
			record: store.record(record.id) ?? record,
			outcome: outcomes[index] ?? { status: "aborted", by: "lost" },
			warnings,
		}));
	} finally {
		signal?.removeEventListener("abort", giveUp);
		const ends = mayEnd?.(signal);
		feed.close();
		await ends;
	}
}

/** One row shows the last lines of one agent, or the last line of each of several. */
function followAll(launched: readonly Launched[], options: ForegroundOptions): { close(): void } {
	const { store, onProgress } = options;
	const lines = launched.map((): readonly string[] => []);
	const isAlone = launched.length === 1;
	const tell = () => {
		const now = systemClock.now();
		const shown = isAlone ? lines.flat() : launched.map(({ record }, index) => labelled(index, record, lines[index]));
		onProgress(
			shown,
			launched.map(({ record }) => detailsOf(store.record(record.id) ?? record, now)),
		);
	};
	const shared = pulse(isAlone ? 0 : SHORTEST_PAUSE_MS, tell);
	const feeds = launched.map(({ record }, index) =>
		followProgress(
			store,
			record.id,
			(latest) => {
				lines[index] = latest;
				shared.beat();
			},
			{ hasRow: isAlone && options.hasRow },
		),
	);
	return {
		close() {
			shared.stop();
			for (const feed of feeds) feed.close();
		},
	};
}

function labelled(index: number, { type }: AgentRecord, lines: readonly string[] = []): string {
	return `${index + 1}. ${sanitize(type)}: ${lines.at(-1) ?? ""}`;
}

/** Several agents share the redraws of one row. */
const SHORTEST_PAUSE_MS = 100;

function pulse(pauseMs: number, work: () => void) {
	let cancel: (() => void) | undefined;
	return {
		beat() {
			if (pauseMs === 0) return work();
			cancel ??= systemClock.after(pauseMs, () => {
				cancel = undefined;
				work();
			});
		},
		stop: () => cancel?.(),
	};
}
