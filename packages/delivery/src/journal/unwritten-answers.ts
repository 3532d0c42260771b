/**
 * Runs that have answered, and whose answer is still on its way to the disk. The session must not learn of their end
 * before it can find the whole answer: in the run's file, or else in its own entry.
 */
import type { AgentRecord, Clock, Outcome } from "@pi-subagents/core";
import type { ResultArchive } from "./archive-long-results.ts";
import { fitsEntry } from "./entry-content.ts";

/** How long to wait for a slow disk before the session's entry holds the answer instead. */
const DISK_MS = 2_000;

interface Wait {
	end(isFiled: boolean): void;
	/** An entry of the session can hold the answer if there is no time left. */
	fitsEntry: boolean;
	over: Promise<void>;
}

export class UnwrittenAnswers {
	readonly #archive: ResultArchive;
	readonly #clock: Clock;
	readonly #waits = new Map<string, Wait>();
	#isEnding = false;

	constructor(archive: ResultArchive, clock: Clock) {
		this.#archive = archive;
		this.#clock = clock;
	}

	/** Whether its end has to wait for the disk. A short answer, or a run without one, fits an entry as it is. */
	mustWait({ artifacts }: AgentRecord, outcome: Outcome): boolean {
		if (artifacts === undefined || outcome.status !== "completed" || !this.#archive.isLong(outcome)) return false;
		return !this.#isEnding || !fitsEntry(outcome);
	}

	/** Calls `then` once, with whether the run's files hold the answer. */
	wait(runId: string, record: AgentRecord, outcome: Outcome, then: (isFiled: boolean) => void): void {
		const { promise: over, resolve } = Promise.withResolvers<void>();
		const cancel = this.#clock.after(DISK_MS, () => wait.end(false));
		const wait: Wait = {
			fitsEntry: fitsEntry(outcome),
			over,
			end: (isFiled) => {
				if (!this.#waits.delete(runId)) return;
				cancel();
				then(isFiled);
				resolve();
			},
		};
		this.#waits.set(runId, wait);
		void this.#archive.isFiled(record, outcome).then(wait.end);
	}

	/**
	 * The session ends. What fits an entry is written there at once. For the rest it waits for the disk: without an entry
	 * the next process reads the run's files, which is better than an entry that cuts the answer off.
	 */
	async end(): Promise<void> {
		this.#isEnding = true;
		const waits = [...this.#waits.values()];
		for (const wait of waits) if (wait.fitsEntry) wait.end(false);
		await Promise.all(waits.map(({ over }) => over));
	}
}
