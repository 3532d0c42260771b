/** Aborts agents past their deadline; the clock stops while they wait. One timer per agent with time limits. */
import type { Clock } from "../base/clock.ts";
import { nextDeadline } from "../model/deadlines.ts";
import type { Stop } from "../model/runner.ts";
import type { Store } from "../model/store.ts";
import type { LiveAgent, LiveAgents } from "./live-agents.ts";

export interface WatchdogOptions {
	clock: Clock;
	store: Store;
	liveAgents: LiveAgents;
	/** Whether its runner enforces the time limits. */
	keepsOwnTime: (live: LiveAgent) => boolean;
	/** A deadline has passed. */
	onLate: (id: string, stop: Stop) => void;
}

export class Watchdog {
	readonly #options: WatchdogOptions;

	constructor(options: WatchdogOptions) {
		this.#options = options;
	}

	/** Stops the agent's clocks until the returned function is called. */
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

	/** Resets the timer of the agent's next deadline after something that moved it. */
	watch(live: LiveAgent): void {
		const { clock, store, liveAgents, keepsOwnTime, onLate } = this.#options;
		live.cancelDeadline?.();
		const record = store.record(live.id);
		if (!record || !liveAgents.has(live) || keepsOwnTime(live)) return;
		const deadline = nextDeadline(record, live.limits, live);
		if (!deadline) return;
		const at = Math.max(deadline.at, live.sparedUntil);
		live.cancelDeadline = clock.after(Math.max(0, at - clock.now()), () => {
			// Events only postpone deadlines, so most timers find that theirs has moved and wait again.
			const due = nextDeadline(store.record(live.id) ?? record, live.limits, live);
			if (due && due.at <= clock.now()) onLate(live.id, due.stop);
			else this.watch(live);
		});
	}
}
