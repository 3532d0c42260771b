/** As much of pi as journal, delivery and RPC speak to: a session file as a tree of entries, its messages, and the bus. */
import { createEventBus, type ExtensionAPI, type ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, Manager, type RunSpec } from "@pi-subagents/core";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import { tellBus } from "../src/bus/bus.ts";
import { createDelivery } from "../src/delivery/delivery.ts";
import { followSession } from "../src/delivery/session-state.ts";
import type { Host } from "../src/host.ts";
import { createJournal } from "../src/journal/journal.ts";
import type { LaunchParams } from "../src/launch.ts";
import { restoreOnStart } from "../src/restore.ts";
import { answerOthers, noticeCallers } from "../src/rpc/server.ts";

interface Entry {
	id: string;
	parentId: string | null;
	type: string;
	customType: string;
	data?: unknown;
	content?: string;
	details?: unknown;
}

/** What is on disk: it outlives the process that wrote it. */
export interface SessionFile {
	entries: Entry[];
	leaf: string | null;
}

export const newFile = (): SessionFile => ({ entries: [], leaf: null });

export const spec: RunSpec = {
	type: "scout",
	description: "look around",
	task: "Look around.",
	cwd: "/project",
	runner: "session",
	model: "fake/one",
	tools: [],
	limits: {},
	origins: {},
	warnings: [],
};

/** A pi process that has the session open. */
export async function open(
	file: SessionFile,
	{ firstId = 1, isLate = false }: { firstId?: number; isLate?: boolean } = {},
) {
	const handlers = new Map<string, ((event: never, ctx: never) => unknown)[]>();
	const sent: { content: string; startsTurn: boolean }[] = [];
	const settled: AgentRecord[] = [];
	let isIdle = true;
	let turning = new AbortController();
	const append = (entry: Omit<Entry, "id" | "parentId">) => {
		const id = `e${file.entries.length + 1}`;
		file.entries.push({ ...entry, id, parentId: file.leaf });
		file.leaf = id;
	};
	const emit = async (type: string, event: object = {}) => {
		for (const handler of handlers.get(type) ?? []) await handler({ type, ...event } as never, session as never);
	};
	const session = {
		hasUI: false,
		mode: "tui",
		isIdle: () => isIdle,
		get signal() {
			return isIdle ? undefined : turning.signal;
		},
		hasPendingMessages: () => false,
		sessionManager: {
			getEntries: () => file.entries,
			getLeafId: () => file.leaf,
			getSessionId: () => "s1",
			getBranch: () => branchOf(file),
		},
	} as unknown as ExtensionContext;
	const events = createEventBus();
	const pi = {
		events,
		on: (type: string, handler: (event: never, ctx: never) => unknown) => {
			handlers.set(type, [...(handlers.get(type) ?? []), handler]);
		},
		appendEntry: (customType: string, data: unknown) => append({ type: "custom", customType, data }),
		sendMessage(message: { customType: string; content: string; details: unknown }, options: { triggerTurn: boolean }) {
			sent.push({ content: message.content, startsTurn: options.triggerTurn });
			append({ type: "custom_message", ...message });
			if (options.triggerTurn) void emit("message_end", { message: { role: "custom", ...message } });
		},
	} as unknown as ExtensionAPI;
	const told: string[] = [];
	let isOpen = !isLate;
	const host = {
		session: () => (isOpen ? session : undefined),
		tell: (text: string) => told.push(text),
	} as unknown as Host;

	const clock = handClock();
	const runner = fakeRunner();
	let ids = firstId;
	const manager = new Manager({ runners: { session: runner, process: runner }, clock, newId: () => `a${ids++}` });
	const { store } = manager;
	const journal = createJournal(pi, host, store);
	const states = followSession(pi, host, clock);
	const bus = tellBus(pi, { manager, host, clock });
	const delivery = createDelivery(pi, {
		store,
		journal,
		host,
		states,
		clock,
		mayBeClaimed: noticeCallers(pi),
		onSettled: (record) => settled.push(record),
	});
	const ownership = { take: async () => true, release: () => undefined };
	restoreOnStart(pi, { manager, journal, delivery, host, ownership, clock });
	const asked: LaunchParams[] = [];
	const resolve = async (params: LaunchParams) => {
		asked.push(params);
		if (params.preset === "nobody") throw new Error('There is no preset "nobody".');
		return { preset: {} as never, spec: { ...spec, type: params.preset, task: params.task } };
	};
	answerOthers(pi, { manager, launcher: { resolve }, host, delivery, bus });
	if (!isLate) await emit("session_start", { reason: "startup" });
	return {
		events,
		bus,
		/** What launches for other extensions were resolved from. */
		asked,
		manager,
		journal,
		delivery,
		states,
		clock,
		runner,
		sent,
		settled,
		told,
		emit,
		append,
		launch: (task = "Look around.") => manager.spawn({ ...spec, task }, { isBackground: true }),
		run: (id: string) => runner.runs.findLast((run) => run.spec.agentId === id),
		/** The agent's child says this and ends; the manager knows when this resolves. */
		async answer(id: string, text: string) {
			runner.runs.findLast((run) => run.spec.agentId === id)?.answer(text);
			await manager.wait(id);
		},
		async turn(work: () => void | Promise<void> = () => undefined) {
			isIdle = false;
			turning = new AbortController();
			await emit("agent_start");
			await emit("turn_start");
			await work();
			await emit("agent_end", { messages: [] });
			isIdle = true;
			await emit("agent_settled");
			await new Promise((resolve) => setImmediate(resolve));
		},
		/** The user breaks off the turn. */
		escape: () => turning.abort(),
		/** The user walks to another entry of the tree. */
		async walkTo(entry: string | null) {
			file.leaf = entry;
			await emit("session_tree");
		},
		/** Opens the session that was left closed. */
		start: async () => {
			isOpen = true;
			await emit("session_start", { reason: "startup" });
		},
		shutdown: async () => {
			await emit("session_shutdown");
			await manager.shutdown();
		},
	};
}

function branchOf({ entries, leaf }: SessionFile): Entry[] {
	const entry = entries.find(({ id }) => id === leaf);
	return entry ? [...branchOf({ entries, leaf: entry.parentId }), entry] : [];
}
