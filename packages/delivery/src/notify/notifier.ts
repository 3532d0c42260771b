/**
 * Delivers the results of background runs to the session as messages: each run once, when the session can take it. The
 * outbox decides when and which together; this file feeds it, and performs what it says through the ports.
 */
import { type AgentRecord, type Clock, type Report, runIdOf, type Store } from "@pi-subagents/core";
import { bestEffort, defined } from "@pi-subagents/core/internal/base";
import type { RunJournal } from "../journal/journal.ts";
import { Outbox } from "../outbox/outbox-effects.ts";
import type { Delivery, Launch, OutboxSettings, SendItem } from "../outbox/types.ts";
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

interface UndeliveredRun {
	record: AgentRecord;
	/** Whether the files of the run hold its answer, where that is known. */
	isFiled?: boolean;
}

export function createNotifier(deps: NotifierDeps): Notifier {
	const { store, journal, messenger, states, warn, mayBeClaimed, onSettled, clock } = deps;
	/** What messages are made of: runs that are not over, or not delivered. */
	const runs = new Map<string, UndeliveredRun>();
	let turn = 0;
	let isApart = false;
	let draining: { messages: Notification[]; resolve: (drained: Drained) => void } | undefined;

	const outbox: Outbox = new Outbox(
		{
			close(id, callId) {
				const run = runs.get(id);
				if (run) journal.close(run.record, callId);
				runs.delete(id);
			},
			send(items, startsTurn) {
				const message = messageFor(items);
				if (draining) draining.messages.push(message);
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
		for (const id of ids) runs.delete(id);
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
			if (messenger.send(message, { startsTurn })) delivered(ids);
		} catch (error) {
			outbox.dispatch({ type: "unsent", ids });
			throw error;
		}
	};
	const messageFor = (items: readonly SendItem[]): Notification => {
		const notices = items.flatMap(({ id, form }) => {
			const run = runs.get(id);
			return run ? [{ record: run.record, form, isUnfiled: run.isFiled === false }] : [];
		});
		return { customType: NOTIFICATION, display: true, ...notificationFor(notices) };
	};
	const launchOf = (runId: string, record: AgentRecord): Launch => {
		const isForUser = record.launchedBy === "user";
		return {
			id: runId,
			agentId: record.id,
			run: record.run,
			kind: record.outlives ? "background" : "agent",
			...(isApart || isForUser ? {} : { group: `turn ${turn}` }),
			...defined({ launchEntry: journal.entryOf(runId) }),
			...(isForUser ? { isForUser } : {}),
		};
	};

	store.subscribe(({ event, record }) => {
		if (!record.isBackground || record.parentAgentId !== undefined) return;
		if (event.type !== "agent_queued" && event.type !== "moved_to_background") return; // the journal reports ends
		const runId = runIdOf({ agentId: record.id, run: record.run });
		// An earlier listener may have ended a run that was just queued, so its end can come first.
		if (!runs.has(runId)) runs.set(runId, { record });
		outbox.dispatch({ type: "launched", launch: launchOf(runId, record) });
	});
	journal.onSettled(({ runId, record, isNew, isClosed, isFiled }) => {
		if (isNew) onSettled(record);
		if (isClosed) return void runs.delete(runId);
		runs.set(runId, { record, ...defined({ isFiled }) });
		if (!isNew) return; // then it is one of the restored deliveries
		const delivery = { ...launchOf(runId, record), bytes: notificationBytes(record), ...urgencyOf(record) };
		outbox.dispatch({ type: "settled", delivery, canBeClaimed: mayBeClaimed() });
	});
	messenger.onArrived((details) => delivered(runIdsIn(details)));
	outbox.dispatch({ type: "settings", change: { lineBytes: LINE_BYTES } });
	states.onState((state) => outbox.dispatch({ type: "session", state }));
	const branchChanged = () => outbox.dispatch({ type: "branch", holds: journal.branch() });

	return {
		restore: (restored) => outbox.dispatch({ type: "restored", ...restored }),
		open() {
			branchChanged();
			states.announce();
		},
		turnStarted: () => void turn++,
		branchChanged,
		close: () => outbox.close(),
		expect(runId) {
			outbox.dispatch({ type: "expected", id: runId });
			return () => outbox.dispatch({ type: "released", id: runId });
		},
		claim({ id: agentId, run }, callId) {
			const id = runIdOf({ agentId, run });
			const entry = journal.entryOf(id);
			// A result read on another branch is not known on the one that launched the run.
			if (entry !== undefined && !journal.branch().includes(entry)) return;
			outbox.dispatch({ type: "claimed", id, ...defined({ callId }) });
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

/** A user who stopped an agent, or ended the session, knows that it ended. */
function urgencyOf({ outcome }: AgentRecord): Pick<Delivery, "isFailure" | "isQuiet" | "isStopped"> {
	const isStopped = outcome?.status === "aborted";
	const isExpected = isStopped && (outcome.by === "user" || outcome.by === "shutdown");
	return { isFailure: outcome?.status !== "completed" && !isExpected, isQuiet: isExpected, isStopped };
}
