/** The time of a world of programs: it passes when the program says so, and everything that it sets off is done before it goes on. */
import type { Clock } from "@pi-subagents/core";

interface Timer {
	at: number;
	seq: number;
	work: () => void;
}

/** A clock for one process: what it has set goes with it. */
export interface ProcessClock extends Required<Pick<Clock, "now" | "steady" | "after" | "hold">> {
	/** The process is gone: nothing that it had set happens. */
	stop(): void;
	/** Timers that are set, and wishes to keep the process alive. */
	left(): { timers: number; holds: number };
}

export class WorldTime {
	#now = Date.UTC(2027, 0, 1);
	#seq = 0;
	readonly #timers = new Set<Timer>();

	get now(): number {
		return this.#now;
	}

	/** How many timers are set, of whatever process. */
	get waiting(): number {
		return this.#timers.size;
	}

	clock(): ProcessClock {
		const own = new Set<Timer>();
		let holds = 0;
		let isStopped = false;
		return {
			now: () => this.#now,
			steady: () => this.#now,
			after: (ms, work) => {
				if (isStopped) return () => undefined;
				const timer: Timer = {
					at: this.#now + Math.max(0, ms),
					seq: ++this.#seq,
					work: () => {
						own.delete(timer);
						work();
					},
				};
				own.add(timer);
				this.#timers.add(timer);
				return () => {
					own.delete(timer);
					this.#timers.delete(timer);
				};
			},
			hold() {
				holds++;
				let isOver = false;
				return () => {
					if (!isOver) holds--;
					isOver = true;
				};
			},
			stop: () => {
				isStopped = true;
				for (const timer of own) this.#timers.delete(timer);
				own.clear();
			},
			left: () => ({ timers: own.size, holds }),
		};
	}

	/** Lets time pass: every timer at its own time, and all that follows from it before the next. */
	async pass(ms: number): Promise<void> {
		const until = this.#now + ms;
		await calm();
		for (let next = this.#next(until); next; next = this.#next(until)) {
			this.#timers.delete(next);
			this.#now = Math.max(this.#now, next.at);
			next.work();
			await calm();
		}
		this.#now = until;
	}

	#next(until: number): Timer | undefined {
		let first: Timer | undefined;
		for (const timer of this.#timers) {
			if (timer.at > until || (first && (first.at < timer.at || (first.at === timer.at && first.seq < timer.seq))))
				continue;
			first = timer;
		}
		return first;
	}
}

/** Everything that can happen without time has happened. */
export async function calm(): Promise<void> {
	for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve));
}
