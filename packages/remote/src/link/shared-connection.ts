/**
 * When a link connects and when it rests. All runs of a process on one machine share a connection: it is made when it
 * is needed, tried again as long as runs are followed, and closed when it is no longer needed.
 */
import type { Clock, Report } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";

/** Between two attempts to connect: the first at once, then later and later. */
export const RETRY_MS: readonly number[] = [250, 1_000, 2_000, 5_000, 10_000];

/** A connection that ends before is none that helps. */
const SHORT_MS = 10_000;

export interface SharedConnectionOptions<Connection> {
	clock: Clock;
	report: Report;
	/** Without work, the connection is closed after this time. */
	idleMs: number;
	/** The connection that is there now. */
	current: () => Connection | undefined;
	connect: () => Promise<Connection>;
	close: () => void;
	/** Whether runs are followed. */
	isFollowed: () => boolean;
}

export class SharedConnection<Connection> {
	readonly #options: SharedConnectionOptions<Connection>;
	#connecting: Promise<Connection> | undefined;
	/** Work that needs the connection besides the runs that are followed. */
	#busy = 0;
	#cancelTimer = (): void => undefined;
	/** When the last connection was made, and how many in a row ended soon. */
	#madeAt: number | undefined;
	#short = 0;

	constructor(options: SharedConnectionOptions<Connection>) {
		this.#options = options;
	}

	/** One attempt at a time. */
	connected(): Promise<Connection> {
		const { current, connect } = this.#options;
		const connection = current();
		if (connection) return Promise.resolve(connection);
		this.#connecting ??= connect()
			.then((made) => {
				this.#madeAt = this.#options.clock.now();
				return made;
			})
			.finally(() => {
				this.#connecting = undefined;
			});
		return this.#connecting;
	}

	async whileNeeded<T>(work: () => Promise<T>): Promise<T> {
		this.#busy++;
		try {
			return await work();
		} finally {
			this.#busy--;
			this.restWhenIdle();
		}
	}

	/**
	 * For the runs that are followed, until it succeeds or none is left. A machine that ends every connection soon is not
	 * connected to without a pause.
	 */
	connectLater(): void {
		if (this.#madeAt !== undefined) {
			const isShort = this.#options.clock.now() - this.#madeAt < SHORT_MS;
			this.#short = isShort ? this.#short + 1 : 0;
			this.#madeAt = undefined;
		}
		this.#tryLater(Math.max(0, this.#short - 1), 0);
	}

	#tryLater(step: number, failures: number): void {
		const { clock, report, isFollowed } = this.#options;
		const delay = step === 0 ? 0 : (RETRY_MS[Math.min(step, RETRY_MS.length) - 1] ?? 0);
		this.cancel();
		this.#cancelTimer = clock.after(delay, () => {
			if (!isFollowed()) return;
			this.connected().catch((error) => {
				if (failures === 1) report(`${messageOf(error)} Trying again until it can.`);
				this.#tryLater(step + 1, failures + 1);
			});
		});
	}

	restWhenIdle(): void {
		const { clock, idleMs, close, isFollowed } = this.#options;
		if (isFollowed() || this.#busy > 0) return;
		this.cancel();
		this.#cancelTimer = clock.after(idleMs, () => {
			if (!isFollowed() && this.#busy === 0) close();
		});
	}

	/** Neither connects nor rests later. */
	cancel(): void {
		this.#cancelTimer();
	}
}
