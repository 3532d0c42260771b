/**
 * Runs that have answered, and whose answer is still on its way to the disk. The session must not learn of their end
 * before it can find the whole answer: in the run's file, or else in its own entry.
 */
import type { AgentRecord, Clock, Outcome } from "@pi-subagents/core";
import type { ResultArchive } from "./archive-long-results.ts";
import { fitsEntry, isModest } from "./entry-content.ts";

/** How long to wait for a slow disk: then the session's entry holds the answer, or its end has none. */
const DISK_MS = 2_000;

interface Wait {
	end(isFiled: boolean): void;
	/** The session has ended: nothing more can be written to its log. */
	giveUp(): void;
	/** An entry of the session can hold the answer if there is no time left. */
	fitsEntry: boolean;
	over: Promise<void>;
	/** Over, or too slow to be waited for. */
	overOrLate: Promise<void>;
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

	/**
	 * Whether its end has to wait for the disk. A short answer, or a run without one, fits an entry as it is. If a call
	 * waits for the run, the model should not wait for a disk. So the entry comes at once and holds the answer, unless
	 * that is really long; the result of the call does not do instead, since pi may write it much later.
	 */
	mustWait({ artifacts, isBackground }: AgentRecord, outcome: Outcome): boolean {
		if (artifacts === undefined || outcome.status !== "completed") return false;
		const isTooLong = isBackground ? this.#archive.isLong(outcome) : !isModest(outcome);
		return isTooLong && (!this.#isEnding || !fitsEntry(outcome));
	}

	/**
	 * Calls `then` once, with whether the run's files hold the answer. An answer that no entry can hold waits for as long
	 * as the disk has not said that: an entry that cuts it off would make it look as if that were all.
	 */
	wait(runId: string, record: AgentRecord, outcome: Outcome, then: (isFiled: boolean) => void): void {
		const { promise: over, resolve } = Promise.withResolvers<void>();
		const { promise: overOrLate, resolve: hurry } = Promise.withResolvers<void>();
		const fits = fitsEntry(outcome);
		const cancel = this.#clock.after(DISK_MS, () => (fits ? wait.end(false) : hurry()));
		const leave = (): boolean => {
			cancel();
			hurry();
			resolve();
			return this.#waits.delete(runId);
		};
		const wait: Wait = {
			fitsEntry: fits,
			over,
			overOrLate,
			end(isFiled) {
				if (leave()) then(isFiled);
			},
			giveUp: () => void leave(),
		};
		this.#waits.set(runId, wait);
		void this.#archive.isFiled(record, outcome).then(wait.end);
	}

	/** Resolves when the end of the run no longer waits for the disk, or has waited for too long. */
	async until(runId: string): Promise<void> {
		await this.#waits.get(runId)?.overOrLate;
	}

	/**
	 * The session ends. What fits an entry is written there at once. For the rest it waits for the disk, as long as it may:
	 * without an entry the next process reads the run's files, which is better than an entry that cuts the answer off.
	 */
	async end(): Promise<void> {
		this.#isEnding = true;
		for (const wait of this.#waits.values()) if (wait.fitsEntry) wait.end(false);
		const left = [...this.#waits.values()];
		if (left.length === 0) return;
		const { promise: isLate, resolve: hurry } = Promise.withResolvers<void>();
		const cancel = this.#clock.after(DISK_MS, hurry);
		await Promise.race([Promise.all(left.map(({ over }) => over)), isLate]);
		cancel();
		for (const wait of left) wait.giveUp();
	}
}
