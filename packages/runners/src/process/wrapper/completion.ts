/**
 * Decides when a child is done: by what it says, not by when its process ends. A child that lingers after its answer
 * must not delay anyone, and one that pauses before a retry must not be cut off. Knows no process.
 */

import type { Clock } from "@pi-subagents/core";
import type { ChildEvent } from "@pi-subagents/progress";

/** Something may still follow what looks like the end. */
export const GRACE_MS = 250;

/** How long a pi that reports being idle may take to do so after its answer: extensions may still be working. */
export const IDLE_TIMEOUT_MS = 60_000;

export class Completion {
	readonly #clock: Pick<Clock, "after">;
	readonly #onDone: () => void;
	#state: "working" | "answered" | "idle" | "done" = "working";
	#isCompacting = false;
	#saysWhenIdle = false;
	#cancel = (): void => undefined;

	/** `onDone` is called once, unless the child then gets more to do. */
	constructor(clock: Pick<Clock, "after">, onDone: () => void) {
		this.#clock = clock;
		this.#onDone = onDone;
	}

	/** Whether there is an answer if the child ends now. */
	get hasAnswered(): boolean {
		return this.#state !== "working";
	}

	/** This pi reports being idle, so an answer alone is not the end. */
	expectIdle(): void {
		this.#saysWhenIdle = true;
	}

	hear(event: ChildEvent): void {
		switch (event.type) {
			case "usage":
			case "turn":
				break; // they follow every answer, even the last
			case "idle":
				this.#isCompacting = false;
				this.#enter("idle");
				break;
			case "assistant_text":
				this.#enter((event.stopReason ?? "toolUse") === "toolUse" ? "working" : "answered");
				break;
			case "compacting":
				this.#isCompacting = true;
				this.#cancel();
				break;
			case "compacted":
				this.#isCompacting = false;
				this.#enter(this.#state);
				break;
			case "retrying":
			case "falling_back":
			case "tool_call":
			case "tool_result":
				this.#enter("working");
		}
	}

	/** It continues, though no event says so yet. */
	goOn(): void {
		this.#enter("working");
	}

	/** It is idle and nothing is pending: no need to wait. */
	confirm(): void {
		if (this.#state === "idle") this.#finish();
	}

	/** Ignores everything from now on. */
	close(): void {
		this.#enter("done");
	}

	#enter(state: "working" | "answered" | "idle" | "done"): void {
		this.#cancel();
		this.#state = state;
		if (this.#isCompacting || state === "working" || state === "done") return;
		const ms = state === "answered" && this.#saysWhenIdle ? IDLE_TIMEOUT_MS : GRACE_MS;
		this.#cancel = this.#clock.after(ms, () => this.#finish());
	}

	#finish(): void {
		this.#enter("done");
		this.#onDone();
	}
}
