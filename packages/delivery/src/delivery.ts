/** Results that reach their session exactly once: puts journal, notifier and restore together over the session's ports. */

import { type AgentRecord, type Clock, type Manager, type Report, systemClock } from "@pi-subagents/core";
import { checkArguments } from "@pi-subagents/progress";
import { archiveLongResults } from "./journal/archive-long-results.ts";
import { createJournal, type Journal } from "./journal/journal.ts";
import { createNotifier, type ResultControls } from "./notify/notifier.ts";
import type { SessionState } from "./outbox/types.ts";
import { createRestorer } from "./restore/restore.ts";
import type { Messenger, Ownership, SessionLog, SessionStates } from "./session/ports.ts";
import { keepUnwritten } from "./session/unwritten-entries.ts";

/** What happens to the session. Its owner calls these. */
export interface SessionHooks {
	/** A session was opened. Resolves when everything that it remembers has been taken in: its first turn may begin. */
	sessionStarted(): Promise<void>;
	/** A turn begins. Agents launched in the same turn are delivered together. */
	turnStarted(): void;
	/** Another branch of the log is current. */
	branchChanged(): void;
	/** The session ends; runs that settle from now on are delivered when it is opened again. Resolves when the log is complete. */
	sessionEnded(): Promise<void>;
}

/** Delivers the results of a manager's background runs to one session. Made by `createDelivery`. */
export interface Delivery extends SessionHooks, ResultControls {
	/** What the session log says of runs. */
	readonly journal: Journal;
}

export interface DeliveryDeps {
	manager: Manager;
	log: SessionLog;
	messenger: Messenger;
	/** When the session can take messages. Default: whenever the messenger can send. */
	states?: SessionStates;
	/** Which process delivers, where several have the session open. Default: this one. */
	ownership?: Ownership;
	/** pi's own directory, where it is noted which process watches a detached run. Absent: no other process does. */
	agentDir?: string;
	/** The id of the open session. Detached runs name it as their owner. */
	sessionId?: () => string | undefined;
	/** Resolves when the files of runs hold what has happened so far. Without it, a long answer is looked for at once. */
	flushLogs?: () => Promise<void>;
	/** Whether another extension may claim any result. Default: no. */
	mayBeClaimed?: () => boolean;
	/** Called once for every background run whose end the session has just learned. */
	onSettled?: (record: AgentRecord) => void;
	/**
	 * Called with the ids of agents that an earlier process launched, before anything about them is delivered: when the session is
	 * opened, and when another process that had it open has ended. What is silenced here is not delivered.
	 */
	onRestored?: (agentIds: ReadonlySet<string>) => Promise<void>;
	/** Reports what could not be written or sent. */
	warn?: Report;
	clock?: Clock;
}

/**
 * Delivers the results of a manager's background runs to a session: each one once, also when the process is killed in
 * between. Launches and ends are entries of the session's log, results are messages that name their runs; a session
 * that is opened again delivers what its log does not hold yet.
 *
 * @example
 * ```ts
 * const delivery = createDelivery({ manager, log, messenger });
 * await delivery.sessionStarted(); // delivers what an earlier process left undelivered
 * manager.spawn(spec, { isBackground: true }); // its result arrives through `messenger.send`
 * ```
 */
export function createDelivery(deps: DeliveryDeps): Delivery {
	checkArguments({
		deps: [deps, "object"],
		"deps.manager": [deps?.manager, "object"],
		"deps.log": [deps?.log, "object"],
		"deps.messenger": [deps?.messenger, "object"],
	});
	const { manager, messenger, states = statesOf(messenger), ownership = ALWAYS_OURS } = deps;
	const { flushLogs = async () => undefined, warn = () => undefined, clock = systemClock } = deps;
	const { sessionId = () => undefined, mayBeClaimed = () => false, onSettled = () => undefined } = deps;
	const { onRestored = async () => undefined } = deps;
	const { store } = manager;
	const archive = archiveLongResults({ manager, flushLogs, warn });
	const log = keepUnwritten({ log: deps.log, sessionId, warn, clock });
	const journal = createJournal({ store, log, archive, isBusy: () => !messenger.canSend(), clock });
	const notifier = createNotifier({ store, journal, messenger, states, warn, mayBeClaimed, onSettled, clock });
	const restorer = createRestorer({
		manager,
		journal,
		notifier,
		messenger,
		ownership,
		sessionId,
		onRestored,
		agentDir: deps.agentDir,
		warn,
		clock,
	});
	const { turnStarted, branchChanged, expect, claim, silence, apart, ready, configure, drain, stopDraining } = notifier;
	return {
		journal,
		sessionStarted: restorer.open,
		turnStarted,
		branchChanged,
		async sessionEnded() {
			notifier.close();
			await journal.end(); // before another process may own the session and read the log
			restorer.close();
		},
		expect,
		claim,
		silence,
		apart,
		ready,
		configure,
		drain,
		stopDraining,
	};
}

/** A session that only the messenger knows. */
function statesOf(messenger: Messenger): SessionStates {
	const listeners: ((state: SessionState) => void)[] = [];
	return {
		onState: (listener) => void listeners.push(listener),
		announce() {
			for (const listener of listeners) listener(messenger.canSend() ? "idle" : "busy");
		},
	};
}

const ALWAYS_OURS: Ownership = { take: async () => true, release: () => undefined };
