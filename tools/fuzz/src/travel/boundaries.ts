/** Every boundary that a run crosses, by its real writer and its real reader. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentEvent, type AgentRecord, type Manager, type Outcome, type RunSpec, Store } from "@pi-subagents/core";
import { buildReport, readRunDirs } from "@pi-subagents/report";
import {
	entryTypeFor,
	type JournalEntry,
	knownRun,
	launchedRun,
	parseAnyEntry,
	readRun,
	recordOfRun,
	recordRuns,
	settledEnd,
} from "@pi-subagents/runs";
import { playbackOf } from "../../../../packages/cli/src/replay/playback.ts";
import { agentIdentity, type LaunchInfo } from "../../../../packages/core/src/model/schema/launch.ts";
import { launchEntry, settledEntry } from "../../../../packages/delivery/src/journal/entry-content.ts";
import { agentInfoOf, settledAgentOf } from "../../../../packages/extension/src/bus/payloads.ts";
import { provideRegistry } from "../../../../packages/extension/src/rpc/registry.ts";
import { buildOrder, parseOrder } from "../../../../packages/remote/src/link/order.ts";
import { remember } from "../../../../packages/workflow/src/session/earlier.ts";

/** A run as its definition describes it. */
export interface DefinedRun {
	spec: RunSpec;
	launch: LaunchInfo;
	/** What happens between its start and its end, without envelopes. */
	events: readonly { type: string }[];
	outcome: Outcome;
}

/** What a run looks like on the other side of each boundary, as JSON. */
export type Crossed = Record<Boundary, unknown>;
export const BOUNDARIES = [
	"meta.json",
	"events.jsonl",
	"result.json",
	"session entries",
	"orders",
	"RPC",
	"registry",
	"workflow recovery",
	"replay",
	"report",
] as const;
export type Boundary = (typeof BOUNDARIES)[number];

const ID = "a1";
const QUEUED_AT = 1_700_000_000_000;

export async function cross(run: DefinedRun): Promise<Crossed> {
	const place = await mkdtemp(join(tmpdir(), "travel-"));
	try {
		const artifacts = join(place, "runs", ID);
		const agentDir = join(place, "agent");
		await Promise.all([join(place, "runs"), agentDir].map((dir) => mkdir(dir)));
		const spec = { ...run.spec, runsDir: run.spec.runsDir && join(place, "runs") } as RunSpec;
		const record = await recorded({ ...run, spec }, { artifacts, agentDir });
		const read = await readRun(artifacts, { agentDir });
		if (typeof read === "string") throw new Error(read);
		const { meta, lines, result } = read;
		const found = await readRunDirs(artifacts, { agentDir });
		const [known] = found.runs;
		if (!known) throw new Error(found.problems.join("\n"));
		const crossed: Crossed = {
			"meta.json": [meta.spec, knownRun(meta, []).agent],
			"events.jsonl": lines,
			"result.json": result,
			"session entries": entriesOf(record),
			orders: orderOf(run.spec),
			RPC: [agentInfoOf(record), settledAgentOf(record, run.outcome)],
			registry: registered(record),
			"workflow recovery": recovered(meta, artifacts),
			replay: [playbackOf([known]), replayed(playbackOf([known]))],
			report: buildReport([known], { now: QUEUED_AT + 1_000, isFull: true }),
		};
		return JSON.parse(JSON.stringify(crossed).replaceAll(JSON.stringify(place).slice(1, -1), "/place")) as Crossed;
	} finally {
		await rm(place, { recursive: true, force: true });
	}
}

/** The run in a store, written by the recorder. */
async function recorded(
	{ spec, launch, events, outcome }: DefinedRun,
	{ artifacts, agentDir }: { artifacts: string; agentDir: string },
): Promise<AgentRecord> {
	const store = new Store();
	const launched = { ...spec, agentId: ID, run: 1, artifacts, launchInfo: { ...launch, queuedAt: QUEUED_AT } };
	const recorder = recordRuns({ store, specOf: () => launched, agentDir });
	const agent = agentIdentity({ ...spec, artifacts }, launch);
	const told = [
		{ type: "agent_queued", agent },
		{ type: "agent_started" },
		...events,
		{ type: "agent_settled", outcome, durationMs: 7 },
	];
	for (const [index, event] of told.entries())
		store.dispatch({ agentId: ID, run: 1, seq: index + 1, at: QUEUED_AT + index, ...event } as AgentEvent);
	await recorder.close();
	const record = store.record(ID);
	if (!record?.outcome) throw new Error("The run did not settle.");
	return record;
}

function entriesOf(record: AgentRecord): unknown {
	if (!record.outcome) throw new Error("The run did not settle.");
	const place = { outlives: record.outlives ?? false, isNested: record.parentAgentId !== undefined };
	const passed = (entry: JournalEntry) =>
		parseAnyEntry(entryTypeFor(entry, place), JSON.parse(JSON.stringify(entry)) as unknown);
	const launch = passed(launchEntry(record));
	const settled = passed(settledEntry(record, record.outcome, { carriesAnswer: true }));
	if (launch?.type !== "launched" || settled?.type !== "settled") throw new Error("An entry cannot be read.");
	const end = settledEnd(settled, launch);
	return recordOfRun({ ...launchedRun(launch, launch), end });
}

function orderOf({ memory: _stays, ...spec }: RunSpec): unknown {
	const order = buildOrder({ ...spec, agentId: ID, run: 1 }, { key: ID, isTrusted: false, aliases: [] });
	const { spec: arrived } = parseOrder(JSON.parse(JSON.stringify(order)) as unknown) ?? {};
	if (!arrived) throw new Error("The order cannot be read.");
	return arrived;
}

function registered(record: AgentRecord): unknown {
	const store = { record: () => ({ ...record, parentAgentId: undefined, depth: record.depth }) };
	const deps = { manager: { store, sessionOf: () => undefined }, callerData: { invocations: new Map() }, bus: {} };
	const { registry } = provideRegistry({ on: () => undefined } as never, deps as never);
	const key = Symbol.for("pi-subagents:manager");
	Reflect.deleteProperty(globalThis, key);
	return registry.getRecord(record.id);
}

function recovered(meta: Parameters<typeof remember>[1]["meta"], artifacts: string): unknown {
	const store = new Store();
	const restore = (events: AgentEvent[]) => {
		for (const event of events) store.dispatch(event);
	};
	const manager = { store, restore };
	remember(manager as unknown as Manager, { meta, artifacts }, { parentAgentId: "w1", depth: 2, isBackground: false });
	return store.record(ID);
}

function replayed(events: readonly AgentEvent[]): unknown {
	const store = new Store();
	for (const event of events) store.dispatch(event);
	return store.record(ID);
}
