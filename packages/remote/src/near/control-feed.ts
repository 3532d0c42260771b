/**
 * Sends what is written to a run's `control.jsonl` to its machine, in order, beginning where the machine says that its
 * copy ends. However often a machine says that, and whether it answers or not, one message is on its way at a time.
 */
import type { Clock, Report } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import { BytesFollower } from "@pi-subagents/core/internal/files";
import { RUN_FILES } from "@pi-subagents/runs";
import { Disconnected, type Link } from "../link/link.ts";

export interface ControlFeedOptions {
	dir: string;
	/** The run's name on the other machine. */
	key: string;
	link: Pick<Link, "control">;
	clock: Clock;
	report: Report;
}

export class ControlFeed {
	readonly #options: ControlFeedOptions;
	#tail: BytesFollower | undefined;
	/** Where to begin next. */
	#from = 0;
	/** What is on its way is waited for. */
	#isWaiting = false;
	#isClosed = false;

	constructor(options: ControlFeedOptions) {
		this.#options = options;
	}

	/** All that is written later follows. */
	sendFrom(size: number): void {
		this.#from = size;
		if (this.#isWaiting) return;
		this.#isWaiting = true;
		this.#tail?.close();
		const rested = this.#tail?.rested ?? Promise.resolve();
		void rested.then(() => {
			this.#isWaiting = false;
			if (!this.#isClosed) this.#tail = this.#begin(this.#from);
		});
	}

	close(): void {
		this.#isClosed = true;
		this.#tail?.close();
	}

	#begin(from: number): BytesFollower {
		const { dir, key, link, clock, report } = this.#options;
		/** The beginning of a line whose end was not read yet: a part of a character cannot be sent as text. */
		let begun = Buffer.alloc(0);
		return new BytesFollower({
			dir,
			clock,
			report: () => undefined, // the next connection sends it
			from: new Map([[RUN_FILES.control, from]]),
			onBytes: async (_name, at, bytes) => {
				const all = Buffer.concat([begun, bytes]);
				const end = all.lastIndexOf("\n") + 1;
				try {
					const lines = { type: "lines", at: at - begun.length, text: all.toString("utf8", 0, end) } as const;
					if (end > 0) await link.control(key, lines);
					begun = all.subarray(end);
				} catch (error) {
					if (!(error instanceof Disconnected)) report(`A message to an agent could not be sent: ${messageOf(error)}`);
					throw error;
				}
			},
		});
	}
}
