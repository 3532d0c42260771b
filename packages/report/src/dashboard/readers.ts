/**
 * The readers of a dashboard. The source is read only while there are any, with pauses in between, and a slow reader
 * gets fewer updates, never a longer queue.
 */
import type { ServerResponse } from "node:http";
import { sanitizeBlock } from "@pi-subagents/progress";
import type { Report } from "../model/types.ts";
import { Changes, type Update } from "./changes.ts";

/** Where the report comes from: the runs of a session, a directory, anything. */
export interface ReportSource {
	/** The report as it is now. */
	read(): Promise<Report>;
	/** Calls back when `read` may give something else from now on. Returns a function that ends it. */
	watch(onChange: () => void): () => void;
}

/** Timers; core's `systemClock` is one. */
export interface DashboardClock {
	now: () => number;
	/** Returns a function that cancels it. */
	after: (ms: number, work: () => void) => () => void;
}

/** Changes that follow each other closely are sent together. */
const PAUSE_MS = 250;
/** The pause is this many times as long as reading took, so that a large session still has time for its agents. */
const PAUSE_FACTOR = 4;
const LONGEST_PAUSE_MS = 2_000;
/** A reader that takes nothing for so long has gone. */
const STALLED_MS = 30_000;

interface Reader {
	/** Up to where it knows the report. */
	revision: number;
	/** Cancels the wait for a reader that does not take what it was sent. */
	stalled?: (() => void) | undefined;
}

export class Readers {
	readonly #source: ReportSource;
	readonly #clock: DashboardClock;
	readonly #readers = new Map<ServerResponse, Reader>();
	readonly #changes = new Changes();
	#unwatch: (() => void) | undefined;
	#cancelPause: (() => void) | undefined;
	#isReading = false;
	/** Something may have changed since the last look. */
	#isStale = true;

	constructor(source: ReportSource, clock: DashboardClock) {
		this.#source = source;
		this.#clock = clock;
	}

	get size(): number {
		return this.#readers.size;
	}

	add(response: ServerResponse): void {
		this.#readers.set(response, { revision: 0 });
		response.once("close", () => this.#remove(response));
		this.#unwatch ??= this.#source.watch(() => {
			this.#isStale = true;
			this.#look();
		});
		this.#bring(response);
		this.#look();
	}

	/** Sends the final state to the readers, if any. */
	async lastLook(): Promise<void> {
		if (this.#readers.size > 0) await this.#read();
	}

	/** Says goodbye to all; resolves when they are gone. */
	async end(): Promise<void> {
		const gone = [...this.#readers.keys()].map(async (response) => {
			const closed = new Promise((resolve) => response.once("close", resolve));
			response.end(lineOf({ type: "end" }));
			await closed;
		});
		await Promise.all(gone);
	}

	#remove(response: ServerResponse): void {
		this.#readers.get(response)?.stalled?.();
		this.#readers.delete(response);
		if (this.#readers.size > 0) return;
		this.#unwatch?.();
		this.#unwatch = undefined;
		this.#isStale = true; // no changes are received now
	}

	#look(): void {
		if (!this.#isStale || this.#isReading || this.#cancelPause || this.#readers.size === 0) return;
		void this.#read();
	}

	async #read(): Promise<void> {
		this.#isReading = true;
		this.#isStale = false;
		const start = this.#clock.now();
		let pause = LONGEST_PAUSE_MS;
		try {
			this.#changes.take(await this.#source.read());
			for (const response of this.#readers.keys()) this.#bring(response);
			pause = Math.max(PAUSE_MS, Math.min((this.#clock.now() - start) * PAUSE_FACTOR, LONGEST_PAUSE_MS));
		} catch (error) {
			this.#isStale = true; // read again after the pause, even if nothing else changes
			this.#changes.sendAgain();
			const text = sanitizeBlock(error instanceof Error ? error.message : String(error));
			for (const response of this.#readers.keys()) this.#send(response, { type: "problem", text });
		}
		this.#isReading = false;
		this.#cancelPause = this.#clock.after(pause, () => {
			this.#cancelPause = undefined;
			this.#look();
		});
	}

	/** Sends what a reader does not know yet, unless it has not taken the last yet. */
	#bring(response: ServerResponse): void {
		const reader = this.#readers.get(response);
		if (!reader || reader.stalled) return;
		const update = this.#changes.since(reader.revision);
		if (!update) return;
		reader.revision = this.#changes.revision;
		this.#send(response, update);
	}

	#send(response: ServerResponse, update: Update): void {
		const reader = this.#readers.get(response);
		if (!reader || reader.stalled || response.write(lineOf(update))) return;
		reader.stalled = this.#clock.after(STALLED_MS, () => response.destroy());
		response.once("drain", () => {
			reader.stalled?.();
			reader.stalled = undefined;
			this.#bring(response);
		});
	}
}

function lineOf(update: Update): string {
	return `${JSON.stringify(update)}\n`;
}
