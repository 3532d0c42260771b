/**
 * Delivers the results of background runs to the session as messages: each run once, when the session can take it. The
 * outbox decides when and which together; this file feeds it, and performs what it says through the ports.
 */
import { type AgentRecord, type Clock, type Report, type RunIdentity, runIdOf, type Store } from "@pi-subagents/core";
import { bestEffort, defined } from "@pi-subagents/core/internal/base";
import type { RunJournal } from "../journal/journal.ts";
import { Outbox } from "../outbox/outbox-effects.ts";
import type { Launch, OutboxSettings, SendItem, SessionState } from "../outbox/types.ts";
import { NOTIFICATION, type Notification, runIdsIn } from "../session/notification.ts";
import type { Messenger, SessionStates } from "../session/ports.ts";
import { LINE_BYTES, notificationBytes, notificationFor } from "./notification-text.ts";
import type { RestoredDeliveries } from "./restored-deliveries.ts";

/** What the code around a session says about results. */
export interface ResultControls {
	/** A caller waits for the run and will read its result, so it is held briefly. Returns a function that ends this. */
	expect(runId: string): () => void;
	/** The result has been read: it is not delivered again. `callId`: by a tool call, whose own result holds it. */
	claim(record: AgentRecord, callId?: string): void;
	/** The result is not worth delivering, on whatever branch. */
	silence(record: AgentRecord): void;
	/** What is launched in there is delivered on its own: it has nothing to do with what the turn launched. */
	apart<Result>(launch: () => Result): Result;
	/** How many results wait until the session can take them. */
	ready(): number;
	/** Changes how results are joined and announced. */
	configure(settings: Partial<OutboxSettings>): void;
	/** Waits for all agents, but not beyond the deadline. Resolves with the messages to deliver, and the runs that are missing. */
	drain(deadline: number): Promise<Drained>;
	/** Something else needs the session: the drain ends with what there is. */
	stopDraining(): void;
}

export interface Notifier extends ResultControls {
	/** Takes in what an opened session remembers. Nothing is sent before `open`. */
	restore(restored: RestoredDeliveries): void;
	/** Everything that the session remembers has been taken in. */
	open(): void;
	turnStarted(): void;
	branchChanged(): void;
	/** Sends nothing any more: what settles now is delivered when the session is opened again. */
	close(): void;
}

/** What a drain has collected. */
export interface Drained {
	messages: Notification[];
	/** The ids of the runs that had not settled at the deadline. */
	missing: readonly string[];
}

export interface NotifierDeps {
	store: Store;
	journal: RunJournal;
	messenger: Messenger;
	states: SessionStates;
	warn: Report;
	/** Whether others are there that may claim any result. */
	mayBeClaimed: () => boolean;
	/** Called once for every background run whose end the session has just learned. */
	onSettled: (record: AgentRecord) => void;
	clock: Clock;
}

export function createNotifier(deps: NotifierDeps): Notifier {
	const { store, journal, messenger, states, warn, mayBeClaimed, onSettled, clock } = deps;
	/** Of runs that are not over, or not delivered. */
	const records = new Map<string, AgentRecord>();
	const launches = new Map<string, Launch>();
	/** How many wait for a run's result. */
	const waiters = new Map<string, number>();
	/** Undelivered runs that ended in an earlier process. */
	const restored = new Set<string>();
	/** Runs whose message has not arrived yet, and whether the session was busy since it was sent. */
	const sent = new Map<string, { wasBusy: boolean }>();
	/** Whether the files of a run hold its answer, where that is known. */
	const isFiled = new Map<string, boolean>();
	/** The tool calls that read a result. */
	const readers = new Map<string, string>();
	let turn = 0;
	let isApart = false;
	let draining: { messages: Notification[]; resolve: (drained: Drained) => void } | undefined;

	const outbox: Outbox = new Outbox(
		{
			close(id) {
				const record = records.get(id);
				if (record) journal.close(record, readers.get(id));
				forget(id);
			},
			send(items, startsTurn) {
				const message = messageFor(items);
				// A drain continues with a turn, which some results never start: those wait until the session is opened again.
				if (draining && items.every(({ id }) => startsNoTurn(records.get(id))))
					outbox.dispatch({ type: "unsent", ids: message.details.runIds });
				else if (draining) draining.messages.push(message);
				else void bestEffort("delivering a result to the session", warn, () => send(message, startsTurn));
			},
			drained: (missing) => endDrain(missing),
		},
		clock,
	);
	const endDrain = (missing: readonly string[]) => {
		const { messages = [], resolve } = draining ?? {};
		draining = undefined;
		for (const { details } of messages) delivered(details.runIds);
		resolve?.({ messages, missing });
	};
	const delivered = (ids: readonly string[]) => {
		outbox.dispatch({ type: "delivered", ids });
		for (const id of ids) forget(id);
	};
	const forget = (id: string) => {
		records.delete(id);
		isFiled.delete(id);
		restored.delete(id);
		sent.delete(id);
		readers.delete(id);
	};
	const send = (message: Notification, startsTurn: boolean) => {
		const ids = message.details.runIds;
		if (!messenger.canSend()) {
			// The session does something that it did not report, like pi's walk through its tree; it will not report the end
			// either. Or its disk is full: then it would lose the message.
			outbox.dispatch({ type: "unsent", ids });
			return;
		}
		try {
			for (const id of ids) sent.set(id, { wasBusy: false });
			if (messenger.send(message, { startsTurn })) delivered(ids);
		} catch (error) {
			takeBack(ids);
			throw error;
		}
	};
	const takeBack = (ids: readonly string[]) => {
		for (const id of ids) sent.delete(id);
		if (ids.length > 0) outbox.dispatch({ type: "unsent", ids });
	};
	/** A turn that was to begin with the message is over, and the message is not there. */
	const takeBackLost = (state: SessionState) => {
		if (state === "busy") for (const each of sent.values()) each.wasBusy = true;
		if (state === "idle") takeBack([...sent].filter(([, { wasBusy }]) => wasBusy).map(([id]) => id));
	};
	const messageFor = (items: readonly SendItem[]): Notification => {
		const notices = items.flatMap(({ id, form }) => {
			const record = records.get(id);
			return record ? [{ record, form, isUnfiled: isFiled.get(id) === false }] : [];
		});
		return { customType: NOTIFICATION, display: true, ...notificationFor(notices) };
	};
	const launchOf = (runId: string, record: AgentRecord): Launch => {
		const known = launches.get(runId);
		if (known) return known;
		const launchEntry = journal.entryOf(runId);
		return {
			id: runId,
			agentId: record.id,
			run: record.run,
			kind: record.outlives ? "background" : "agent",
			...(isApart || isUsers(record) ? {} : { group: `turn ${turn}` }),
			...defined({ launchEntry }),
		};
	};

	/** A run that was stopped and is continued before its end was delivered: whoever continues it knows of the stop. */
	const silenceStopped = (earlier: RunIdentity) => {
		const id = runIdOf(earlier);
		if (records.get(id)?.outcome?.status === "aborted") outbox.dispatch({ type: "claimed", id });
	};

	store.subscribe(({ event, record }) => {
		if (!record.isBackground || record.parentAgentId !== undefined) return;
		// The journal reports ends; and a result that is still to be sent is sent from the whole record.
		if (event.type === "agent_settled" || event.type === "result_archived") return;
		const runId = runIdOf({ agentId: record.id, run: record.run });
		const launch = launchOf(runId, record);
		launches.set(runId, launch);
		records.set(runId, record);
		if (event.type === "agent_queued") silenceStopped({ agentId: record.id, run: record.run - 1 });
		if (event.type === "agent_queued" || event.type === "moved_to_background")
			outbox.dispatch({ type: "launched", launch });
	});
	journal.onSettled(({ runId, record, isNew, isClosed, ...checked }) => {
		const launch = launchOf(runId, record);
		launches.delete(runId);
		if (isNew) onSettled(record);
		if (isClosed) return forget(runId);
		records.set(runId, record);
		if (checked.isFiled !== undefined) isFiled.set(runId, checked.isFiled);
		if (!isNew) return; // then it is one of the restored deliveries
		const { isFailure, isQuiet } = urgencyOf(record);
		const delivery = {
			...launch,
			bytes: notificationBytes(record),
			isFailure,
			isQuiet: isQuiet || restored.has(runId), // opening a session starts no turn
		};
		outbox.dispatch({ type: "settled", delivery, canBeClaimed: waiters.has(runId) || mayBeClaimed() });
	});
	messenger.onArrived((details) => delivered(runIdsIn(details)));
	outbox.dispatch({ type: "settings", change: { lineBytes: LINE_BYTES } });
	states.onState((state) => {
		takeBackLost(state);
		outbox.dispatch({ type: "session", state });
	});
	const branchChanged = () => outbox.dispatch({ type: "branch", holds: journal.branch() });

	return {
		restore({ ends, ...known }) {
			for (const [runId, end] of ends) {
				restored.add(runId);
				isFiled.set(runId, end.isFiled);
			}
			outbox.dispatch({ type: "restored", ...known });
		},
		open() {
			branchChanged();
			states.announce();
		},
		turnStarted: () => void turn++,
		branchChanged,
		close: () => outbox.close(),
		expect(runId) {
			waiters.set(runId, (waiters.get(runId) ?? 0) + 1);
			return () => {
				const left = (waiters.get(runId) ?? 1) - 1;
				if (left > 0) return void waiters.set(runId, left);
				waiters.delete(runId);
				outbox.dispatch({ type: "released", id: runId });
			};
		},
		claim({ id: agentId, run }, callId) {
			const id = runIdOf({ agentId, run });
			const entry = journal.entryOf(id);
			// A result read on another branch is not known on the one that launched the run.
			if (entry !== undefined && !journal.branch().includes(entry)) return;
			if (callId !== undefined && records.has(id)) readers.set(id, callId);
			outbox.dispatch({ type: "claimed", id });
		},
		silence: ({ id: agentId, run }) => outbox.dispatch({ type: "claimed", id: runIdOf({ agentId, run }) }),
		apart(launch) {
			isApart = true;
			try {
				return launch();
			} finally {
				isApart = false;
			}
		},
		ready: () => outbox.ready,
		configure: (change) => outbox.dispatch({ type: "settings", change }),
		drain: (deadline) =>
			new Promise((resolve) => {
				draining = { messages: [], resolve };
				outbox.dispatch({ type: "drain", deadline });
			}),
		stopDraining() {
			if (!draining) return;
			outbox.dispatch({ type: "drain", deadline: null });
			endDrain([]);
		},
	};
}

/**
 * An agent that the user started reports to the user, who decides what to do with the result. A user who
 * stopped an agent, or ended the session, knows that it ended.
 */
function urgencyOf(record: AgentRecord): { isFailure: boolean; isQuiet: boolean } {
	const { outcome } = record;
	const isExpected = outcome?.status === "aborted" && (outcome.by === "user" || outcome.by === "shutdown");
	return { isQuiet: isExpected || isUsers(record), isFailure: outcome?.status !== "completed" && !isExpected };
}

function isUsers({ launchedBy }: AgentRecord): boolean {
	return launchedBy === "user";
}

function startsNoTurn(record: AgentRecord | undefined): boolean {
	return record !== undefined && (record.outlives === true || isUsers(record));
}
