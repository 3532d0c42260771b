/**
 * Tells the session of its agents' results: as messages of ours, each run once, when the session can hear it. When and
 * what together is the outbox's decision; here is where the news comes from and how it is said to pi.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import {
	type AgentRecord,
	bestEffort,
	type Clock,
	type Launch,
	type OutboxSettings,
	runIdOf,
	type SendItem,
	type Store,
	systemClock,
} from "@pi-subagents/core";
import type { Host } from "../host.ts";
import type { Journal, Remembered } from "../journal/journal.ts";
import { NOTIFICATION, runsIn } from "../journal/session-entry.ts";
import { LINE_BYTES, type NotificationDetails, notificationBytes, notificationFor } from "./notification.ts";
import { Outbox } from "./outbox.ts";
import type { SessionStates } from "./session-state.ts";

export interface Delivery {
	/** A session is being opened, and this is what it remembers. Nothing is told before `open`. */
	restore(remembered: Remembered): void;
	/** Everything that the session remembers has been taken in. */
	open(): void;
	/** Somebody waits for the run and will read its result: it is held a little. Returns the way to give that up. */
	expect(runId: string): () => void;
	/** The result has been read: it is not told again. */
	claim(record: AgentRecord): void;
	/** The result is not worth telling, whoever might read it where. */
	silence(record: AgentRecord): void;
	/** What is launched in there is told by itself: it has nothing to do with what the turn launched. */
	apart<Result>(launch: () => Result): Result;
	configure(settings: Partial<OutboxSettings>): void;
	/** Waits for all agents, but not beyond the deadline. Resolves with what is to be told, and who is missing. */
	drain(deadline: number): Promise<Drained>;
	/** Something else needs the session: it goes on with what there is. */
	stopDraining(): void;
}

interface Drained {
	messages: Message[];
	missing: readonly string[];
}

interface Message {
	customType: string;
	display: true;
	content: string;
	details: NotificationDetails;
}

export interface DeliveryDeps {
	store: Store;
	journal: Journal;
	host: Host;
	states: SessionStates;
	/** Whether other extensions are there that may claim any result. */
	mayBeClaimed?: () => boolean;
	/** Hears of every run that settles while the session is open, once. */
	onSettled?: (record: AgentRecord) => void;
	clock?: Clock;
}

export function createDelivery(
	pi: ExtensionAPI,
	{ store, journal, host, states, mayBeClaimed, onSettled, clock = systemClock }: DeliveryDeps,
): Delivery {
	/** Of runs that go on or are still to be told. */
	const records = new Map<string, AgentRecord>();
	const launches = new Map<string, Launch>();
	const expected = new Map<string, number>();
	let turn = 0;
	let isApart = false;
	let draining: { messages: Message[]; over: (drained: Drained) => void } | undefined;

	const outbox: Outbox = new Outbox(
		{
			store: ({ id }) =>
				withRecord(id, (record) => {
					journal.settled(record);
					onSettled?.(record);
				}),
			close(id) {
				withRecord(id, (record) => journal.closed(record));
				records.delete(id);
			},
			send(items, startsTurn) {
				const message = messageFor(items, records);
				// A drain goes on with a turn, which what outlives the session never starts: that waits until it is opened again.
				if (draining && items.every(({ id }) => records.get(id)?.outlives))
					outbox.tell({ type: "unsent", ids: message.details.runIds });
				else if (draining) draining.messages.push(message);
				else void bestEffort("telling the session of a result", host.tell, () => say(message, startsTurn));
			},
			drained: (missing) => endDrain(missing),
		},
		clock,
	);
	const endDrain = (missing: readonly string[]) => {
		const { messages = [], over } = draining ?? {};
		draining = undefined;
		for (const { details } of messages) delivered(details.runIds);
		over?.({ messages, missing });
	};
	const delivered = (ids: readonly string[]) => {
		outbox.tell({ type: "delivered", ids });
		for (const id of ids) records.delete(id);
	};
	const withRecord = (runId: string, use: (record: AgentRecord) => void) => {
		const record = records.get(runId);
		if (record) use(record);
	};
	const say = (message: Message, startsTurn: boolean) => {
		const ids = message.details.runIds;
		if (!host.session()?.isIdle()) {
			// pi does something that it did not tell of, such as a walk through its tree; nor will it tell of the end.
			outbox.tell({ type: "unsent", ids });
			return;
		}
		try {
			pi.sendMessage(message, startsTurn ? { triggerTurn: true, deliverAs: "followUp" } : { triggerTurn: false });
			if (!startsTurn) delivered(ids); // an idle pi has it in its file by now
		} catch (error) {
			outbox.tell({ type: "unsent", ids });
			throw error;
		}
	};

	store.subscribe((event, record) => {
		if (!record.isBackground || record.parentAgentId !== undefined) return;
		if (event.type === "agent_filed") return; // what is still to be told is told from the whole record
		const runId = runIdOf({ agentId: record.id, run: record.run });
		const launch = launches.get(runId) ?? launchOf(record, journal, isApart ? undefined : `turn ${turn}`);
		launches.set(runId, launch);
		records.set(runId, record);
		if (event.type === "agent_queued" || event.type === "agent_left") outbox.tell({ type: "launched", launch });
		if (event.type !== "agent_settled") return;
		const delivery = { ...launch, bytes: notificationBytes(record), ...urgencyOf(record) };
		outbox.tell({ type: "settled", delivery, canBeClaimed: expected.has(runId) || (mayBeClaimed?.() ?? false) });
		launches.delete(runId);
	});
	pi.on("turn_start", () => {
		turn++;
	});
	pi.on("message_end", ({ message }) => {
		if (message.role === "custom" && message.customType === NOTIFICATION) delivered(runsIn(message.details));
	});
	outbox.tell({ type: "settings", change: { lineBytes: LINE_BYTES } });
	const lookAround = () => outbox.tell({ type: "branch", holds: journal.branch() });
	pi.on("session_tree", lookAround);
	pi.on("session_shutdown", () => outbox.close()); // what ends now is told when the session is opened again
	states.onState((state) => outbox.tell({ type: "session", state }));

	return {
		restore: (remembered) => outbox.tell({ type: "restored", ...deliveriesIn(remembered) }),
		open() {
			lookAround();
			states.say();
		},
		expect(runId) {
			expected.set(runId, (expected.get(runId) ?? 0) + 1);
			return () => {
				const left = (expected.get(runId) ?? 1) - 1;
				if (left > 0) return void expected.set(runId, left);
				expected.delete(runId);
				outbox.tell({ type: "released", id: runId });
			};
		},
		claim({ id: agentId, run }) {
			const id = runIdOf({ agentId, run });
			const entry = journal.entryOf(id);
			// What is read on another branch is not known on the one that launched it.
			if (entry === undefined || journal.branch().includes(entry)) outbox.tell({ type: "claimed", id });
		},
		silence: ({ id: agentId, run }) => outbox.tell({ type: "claimed", id: runIdOf({ agentId, run }) }),
		apart(launch) {
			isApart = true;
			try {
				return launch();
			} finally {
				isApart = false;
			}
		},
		configure: (change) => outbox.tell({ type: "settings", change }),
		drain: (deadline) =>
			new Promise((over) => {
				draining = { messages: [], over };
				outbox.tell({ type: "drain", deadline });
			}),
		stopDraining() {
			if (!draining) return;
			outbox.tell({ type: "drain", deadline: null });
			endDrain([]);
		},
	};
}

function messageFor(items: readonly SendItem[], records: ReadonlyMap<string, AgentRecord>): Message {
	const notices = items.flatMap(({ id, form }) => {
		const record = records.get(id);
		return record ? [{ record, form }] : [];
	});
	return { customType: NOTIFICATION, display: true, ...notificationFor(notices) };
}

function launchOf({ id: agentId, run, outlives }: AgentRecord, journal: Journal, group: string | undefined): Launch {
	const id = runIdOf({ agentId, run });
	const launchEntry = journal.entryOf(id);
	return {
		id,
		agentId,
		run,
		kind: outlives ? "background" : "agent",
		...(group === undefined ? {} : { group }),
		...(launchEntry === undefined ? {} : { launchEntry }),
	};
}

/** Who ended an agent knows that it ended; what ended with the session was no surprise either. */
function urgencyOf({ outcome }: AgentRecord): { isFailure: boolean; isQuiet: boolean } {
	const isQuiet = outcome?.status === "aborted" && (outcome.by === "user" || outcome.by === "shutdown");
	return { isQuiet, isFailure: outcome?.status !== "completed" && !isQuiet };
}

/** A rough size is enough: what was not told before the session ended is rarely much. */
const REMEMBERED_BYTES = 1_000;

function deliveriesIn(remembered: Remembered) {
	const toTell = [...remembered].filter(([, { launch, isTold }]) => launch.isBackground && !isTold);
	const launches = toTell.map(([id, { launch, outlives, entryId, settled }]) => ({
		id,
		agentId: launch.agentId,
		run: launch.run,
		kind: outlives ? ("background" as const) : ("agent" as const),
		launchEntry: entryId,
		settled,
	}));
	return {
		held: [...remembered].filter(([, { isTold }]) => isTold).map(([id]) => id),
		running: launches.filter(({ settled }) => !settled).map(({ settled: _, ...launch }) => launch),
		stored: launches
			.filter(({ settled }) => settled)
			.map(({ settled, ...launch }) => ({
				...launch,
				bytes: REMEMBERED_BYTES,
				isFailure: settled?.status === "failed",
			})),
	};
}
