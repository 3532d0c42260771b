/** Ends who takes too long, and spares who rightly waits. One timer for each agent with limits on its time. */
import type { Clock } from "./clock.ts";
import { nextDeadline } from "./deadlines.ts";
import type { LiveAgent, LiveAgents } from "./live.ts";
import type { Stop } from "./runner.ts";
import type { Store } from "./store.ts";

export interface WatchdogOptions {
	clock: Clock;
	store: Store;
	lives: LiveAgents;
	/** Whether the limits on this one's time are kept elsewhere. */
	isKept: (live: LiveAgent) => boolean;
	/** A deadline has passed. */
	onLate: (id: string, stop: Stop) => void;
}

export class Watchdog {
	readonly #options: WatchdogOptions;

	constructor(options: WatchdogOptions) {
		this.#options = options;
	}

	/** The agent rightly waits for something; no limit on its time counts until the returned function is called. */
	hold(live: LiveAgent): () => void {
		live.holds++;
		this.watch(live);
		let isOver = false;
		return () => {
			if (isOver) return;
			isOver = true;
			live.holds--;
			live.restedAt = this.#options.clock.now();
			this.watch(live);
		};
	}

	/** Sets the timer of the agent's next deadline anew, after something that moved it. */
	watch(live: LiveAgent): void {
		const { clock, store, lives, isKept, onLate } = this.#options;
		live.cancelDeadline?.();
		const record = store.record(live.id);
		if (!record || !lives.has(live) || isKept(live)) return;
		const deadline = nextDeadline(record, live.limits, live);
		if (!deadline) return;
		const at = Math.max(deadline.at, live.sparedUntil);
		live.cancelDeadline = clock.after(Math.max(0, at - clock.now()), () => {
			// Events only move deadlines away, so most timers find that theirs has moved, and go on.
			const due = nextDeadline(store.record(live.id) ?? record, live.limits, live);
			if (due && due.at <= clock.now()) onLate(live.id, due.stop);
			else this.watch(live);
		});
	}
}
