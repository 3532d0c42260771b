/** Waits inside a tool call for the agents it has launched: one, or several at once. Aborting the call stops them. */
import { type AgentRecord, type Agents, type Store, systemClock } from "@pi-subagents/core";
import { Pacer } from "@pi-subagents/core/internal/base";
import { type AgentDetails, detailsOf, leftForModel, type SettledRun } from "@pi-subagents/core/outcome-text";
import { sanitize } from "@pi-subagents/progress";
import { beginCall } from "./batch-row-updates.ts";
import { RunFailure } from "./bounded.ts";
import { followProgress } from "./progress-feed.ts";

/** Waits for agents inside a tool call, and decides their fate when the call is given up. */
export type AgentWaiter = Pick<Agents, "wait" | "abort" | "elapsedMs" | "activityOf" | "moveToBackground">;

/** What happens to the agents when the call that waits for them is given up: who stops them, or that they continue. */
export type OnGivenUp = () => "user" | "parent" | "leave";

export interface Launched {
	record: AgentRecord;
	/** How the request was understood, where that is not obvious. */
	warnings: readonly string[];
}

export type Finished = Launched & SettledRun;

/** Hears what the agents do: their last lines, and how far they are. */
type OnProgress = (lines: readonly string[], agents: AgentDetails[]) => void;

export interface ForegroundOptions {
	agents: AgentWaiter;
	store: Store;
	signal: AbortSignal | undefined;
	onGivenUp: OnGivenUp;
	onProgress: OnProgress;
	/** The details of a call that is given up while its agents go on. Absent: the agents alone. */
	detailsFor?: (agents: AgentDetails[]) => object;
	/** A screen shows a row for the call. */
	hasRow: boolean;
}

/** What a tool reports while it waits: which agent it is about, and which call waits. */
export function progressUpdate(parentToolCallId: string, lines: readonly string[], agents: AgentDetails[]) {
	const [first] = agents;
	return {
		content: [{ type: "text" as const, text: lines.join("\n") }],
		details: { agents, parentToolCallId, ...(first ? { agentId: first.agentId } : {}) },
	};
}

export async function finish(launched: readonly Launched[], options: ForegroundOptions): Promise<Finished[]> {
	const { agents, store, signal, onGivenUp, hasRow } = options;
	const feed = followAll(launched, options);
	const mayEnd = hasRow ? beginCall(store) : undefined;
	const { promise: left, reject: leave } = Promise.withResolvers<never>();
	const giveUp = () => {
		const fate = onGivenUp();
		const active = launched.map(({ record }) => store.record(record.id) ?? record).filter(({ outcome }) => !outcome);
		if (fate !== "leave" || !agents.moveToBackground) {
			for (const { id } of active) agents.abort(id, { by: fate === "parent" ? "parent" : "user" });
			return;
		}
		for (const { id } of active) agents.moveToBackground(id);
		leave(leftFailure(launched, options));
	};
	if (signal?.aborted) giveUp();
	signal?.addEventListener("abort", giveUp, { once: true });
	try {
		const all = Promise.all(launched.map(({ record }) => agents.wait(record.id)));
		const outcomes = await Promise.race([all, left]);
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

/** For the model: which agents go on, and what the others said. */
function leftFailure(launched: readonly Launched[], { store, detailsFor }: ForegroundOptions): RunFailure {
	const current = launched.map(({ record, warnings }) => ({ record: store.record(record.id) ?? record, warnings }));
	const settled = current.flatMap(({ record, warnings }) =>
		record.outcome ? [{ record, warnings, outcome: record.outcome }] : [],
	);
	const goOn = current.filter(({ record }) => !record.outcome).map(({ record }) => record.id);
	const { text, said } = leftForModel(goOn, settled, { of: launched.length });
	const agents = current.map(({ record }) =>
		detailsOf(record, { said: said[settled.findIndex((each) => each.record.id === record.id)] }),
	);
	return new RunFailure(text, detailsFor?.(agents) ?? { agents });
}

/** One row shows the last lines of one agent, or the last line of each of several. */
function followAll(launched: readonly Launched[], options: ForegroundOptions): { close(): void } {
	const { agents, store, onProgress } = options;
	const lines = launched.map((): readonly string[] => []);
	const isAlone = launched.length === 1;
	const report = () => {
		const shown = isAlone ? lines.flat() : launched.map(({ record }, index) => labelled(index, record, lines[index]));
		onProgress(
			shown,
			launched.map(({ record: { id }, record }) =>
				detailsOf(store.record(id) ?? record, { elapsedMs: agents.elapsedMs(id), activity: agents.activityOf(id) }),
			),
		);
	};
	const shared = new Pacer({ clock: systemClock, pauseMs: isAlone ? 0 : SHORTEST_PAUSE_MS, work: report });
	const feeds = launched.map(({ record }, index) =>
		followProgress(
			store,
			record.id,
			(latest) => {
				lines[index] = latest;
				shared.ask();
			},
			{ hasRow: isAlone && options.hasRow, activityOf: (id) => agents.activityOf(id) },
		),
	);
	return {
		close() {
			shared.close();
			for (const feed of feeds) feed.close();
		},
	};
}

function labelled(index: number, { type }: AgentRecord, lines: readonly string[] = []): string {
	return `${index + 1}. ${sanitize(type)}: ${lines.at(-1) ?? ""}`;
}

/** Several agents share the redraws of one row. */
const SHORTEST_PAUSE_MS = 100;
